// SPDX-License-Identifier: GPL-2.0-only
/* Heads: the disk of a namespace, and the path set its requests choose from. */
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include "compat/limits.h"
#include "control/trace.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/ana.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "transport/transport.h"

/* How long a path waits for the disk to come to rest, so that its limits can be changed */
#define NARROW_TMO_MS	5000

static void release(struct kref *ref)
{
	struct nof_head *head = container_of(ref, struct nof_head, ref);
	struct nof_subsys *s = head->subsys;

	/* the last set is empty: no path refers to it, so no reader can be in it */
	kfree(rcu_access_pointer(head->set));
	ida_free(&s->head_ids, head->id);
	kfree(head);
	nof_subsys_put(s);
}

void nof_head_put(struct nof_head *head)
{
	kref_put(&head->ref, release);
}

u64 nof_head_size(const struct nof_head *head)
{
	return (u64)get_capacity(head->disk) << SECTOR_SHIFT;
}

u32 nof_head_nr_usable(struct nof_head *head)
{
	struct nof_path_set *set;
	int idx = srcu_read_lock(&head->subsys->srcu);
	u32 nr;

	set = srcu_dereference(head->set, &head->subsys->srcu);
	nr = set ? set->nr_usable : 0;
	srcu_read_unlock(&head->subsys->srcu, idx);
	return nr;
}

static void free_disk(struct gendisk *disk)
{
	nof_head_put(disk->private_data);
}

static int get_unique_id(struct gendisk *disk, u8 id[16], enum blk_unique_id type)
{
	const struct nof_ns_ids *ids = &((struct nof_head *)disk->private_data)->format.ids;

	if (type == BLK_UID_EUI64 && (ids->have & NOF_ID_NGUID)) {
		memcpy(id, ids->nguid, 16);
		return 16;
	}
	if (type == BLK_UID_EUI64 && (ids->have & NOF_ID_EUI64)) {
		memcpy(id, ids->eui64, 8);
		return 8;
	}
	return -EINVAL;
}

static const struct block_device_operations head_ops = {
	.owner		= THIS_MODULE,
	.ioctl		= nof_head_ioctl,
	.compat_ioctl	= blkdev_compat_ptr_ioctl,
	.free_disk	= free_disk,
	.get_unique_id	= get_unique_id,
};

/* The wire counts blocks in 16 bits, zero based */
static u32 max_bytes(const struct nof_ctrl *ctrl, const struct nof_transport_limits *tl, u8 lba_shift)
{
	u64 max = min_t(u64, ctrl->max_transfer, 65536ULL << lba_shift);

	if (tl->max_data)
		max = min_t(u64, max, tl->max_data);
	return min_t(u64, max, U32_MAX & ~((1U << lba_shift) - 1));
}

static void fill_limits(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, struct nof_limits *lim)
{
	struct nof_transport_limits tl = {};
	u32 lba = 1U << f->lba_shift;

	ctrl->transport->limits((struct nof_ctrl *)ctrl, &tl);
	memset(lim, 0, sizeof(*lim));
	lim->logical_block_size = lba;
	lim->physical_block_size = max(f->phys_blocks, 1U) * lba;
	lim->io_opt = f->opt_io_blocks * lba;
	lim->max_bytes = max_bytes(ctrl, &tl, f->lba_shift);
	lim->max_segments = min_t(u32, tl.max_segments ?: USHRT_MAX, USHRT_MAX);
	lim->virt_boundary = tl.virt_boundary;
	lim->dma_alignment = 3;
	if (ctrl->oncs & NVME_CTRL_ONCS_DSM) {
		/* a range counts blocks in 32 bits, a request bytes in 32 bits */
		lim->max_discard_bytes = U32_MAX & ~(lba - 1);
		lim->max_discard_segments = 1;
		lim->discard_granularity = f->discard_granularity * lba ?: lba;
		lim->discard_alignment = f->discard_alignment * lba;
	}
	/* a command without data: MDTS does not bound it, the block count does; targets are spared the longest */
	if (ctrl->oncs & NVME_CTRL_ONCS_WRITE_ZEROES)
		lim->max_write_zeroes_bytes = min_t(u64, 65536ULL << f->lba_shift, SZ_32M);
	lim->write_cache = ctrl->vwc & NVME_CTRL_VWC_PRESENT;
	lim->fua = lim->write_cache;
	lim->stable_writes = tl.stable_writes;
	lim->poll = ctrl->subsys->nr_poll;
}

/* What both can do */
static struct nof_limits common(const struct nof_limits *has, const struct nof_limits *other)
{
	struct nof_limits lim = *has;

	lim.max_bytes = min(has->max_bytes, other->max_bytes);
	lim.max_segments = min(has->max_segments, other->max_segments);
	lim.virt_boundary |= other->virt_boundary;
	lim.max_discard_bytes = min(has->max_discard_bytes, other->max_discard_bytes);
	lim.max_write_zeroes_bytes = min(has->max_write_zeroes_bytes, other->max_write_zeroes_bytes);
	lim.write_cache |= other->write_cache;
	lim.fua |= other->fua;
	lim.stable_writes |= other->stable_writes;
	return lim;
}

/* In what common() may change. By members: a structure's padding is whatever it is. */
static bool differ(const struct nof_limits *a, const struct nof_limits *b)
{
	return a->max_bytes != b->max_bytes || a->max_segments != b->max_segments ||
	       a->virt_boundary != b->virt_boundary || a->max_discard_bytes != b->max_discard_bytes ||
	       a->max_write_zeroes_bytes != b->max_write_zeroes_bytes || a->write_cache != b->write_cache ||
	       a->fua != b->fua || a->stable_writes != b->stable_writes;
}

bool nof_head_too_wide(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	struct nof_limits other, lim;

	fill_limits(ctrl, format, &other);
	lim = common(&head->limits, &other);
	return differ(&lim, &head->limits);
}

const char nof_head_busy[] = "the disk has to promise less, but requests under way do not end; tried again later";

/* Some requests end only with a path, which may be the one that asks */
static bool stuck(struct nof_head *head)
{
	return atomic_read(&head->waiting) || nof_fence_held(head);
}

/* Requests under way rely on the limits (TRAP 27) */
static bool freeze(struct nof_head *head, const struct nof_ctrl *ctrl)
{
	unsigned long end = jiffies + msecs_to_jiffies(NARROW_TMO_MS);
	struct request_queue *q = head->disk->queue;

	blk_freeze_queue_start(q);
	while (!blk_mq_freeze_queue_wait_timeout(q, msecs_to_jiffies(50))) {
		if (time_before(jiffies, end) && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && !stuck(head))
			continue;
		blk_mq_unfreeze_queue(q);
		return false;
	}
	return true;
}

const char *nof_head_narrow(struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	struct nof_subsys *s = head->subsys;
	const char *why = nof_head_busy;
	struct nof_limits lim;

	mutex_lock(&head->narrow_lock);
	if (!freeze(head, ctrl))
		goto unlock;
	fill_limits(ctrl, format, &lim);
	lim = common(&head->limits, &lim);
	why = nof_limits_update(head->disk, &lim) ? "the block layer refuses the limits that all paths can keep" : NULL;
	if (!why) {
		mutex_lock(&s->lock);
		head->limits = lim;
		mutex_unlock(&s->lock);
	}
	blk_mq_unfreeze_queue(head->disk->queue);
unlock:
	mutex_unlock(&head->narrow_lock);
	return why;
}

static void set_wwid(struct nof_head *head, const struct nof_ctrl *ctrl)
{
	const struct nof_ns_ids *ids = &head->format.ids;

	if (ids->have & NOF_ID_UUID)
		scnprintf(head->wwid, sizeof(head->wwid), "uuid.%pUb", &ids->uuid);
	else if (ids->have & NOF_ID_NGUID)
		scnprintf(head->wwid, sizeof(head->wwid), "eui.%16phN", ids->nguid);
	else if (ids->have & NOF_ID_EUI64)
		scnprintf(head->wwid, sizeof(head->wwid), "eui.%8phN", ids->eui64);
	else
		scnprintf(head->wwid, sizeof(head->wwid), "nvme.%s-%s-%08x", ctrl->serial, ctrl->model, head->nsid);
}

/*
 * TRAP 16: reading the partition table waits for a path, for as long as any may come back. A scan of namespaces, which
 * deletion and other scans wait for, does not. Removal ends that wait, and then finds the disk's open_mutex free.
 */
static void part_work(struct work_struct *work)
{
	struct gendisk *disk = container_of(work, struct nof_head, part_work)->disk;

	clear_bit(GD_SUPPRESS_PART_SCAN, &disk->state);
	mutex_lock(&disk->open_mutex);
	bdev_disk_changed(disk, false);
	mutex_unlock(&disk->open_mutex);
}

/* No path has come in time. False for one that came; when it has gone again, it begins anew. */
static bool end_linger(struct nof_head *head)
{
	if (!test_bit(NOF_HEAD_LINGERS, &head->flags))
		return false;
	if (time_before(jiffies, head->removal_at)) {
		queue_delayed_work(nof_disk_wq, &head->removal_work, head->removal_at - jiffies);
		return false;
	}
	clear_bit(NOF_HEAD_LINGERS, &head->flags);
	set_bit(NOF_HEAD_REMOVING, &head->flags);
	nof_head_publish(head);
	return true;
}

/* Controllers may have namespaces that the disk did not take in, and that could be disks of their own now */
static void scan_all(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	mutex_lock(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
			nof_scan_start(ctrl);
	mutex_unlock(&s->lock);
}

static void removal_work(struct work_struct *work)
{
	struct nof_head *head = container_of(to_delayed_work(work), struct nof_head, removal_work);
	struct nof_subsys *s = nof_subsys_get(head->subsys);
	bool ends;

	mutex_lock(&s->lock);
	ends = end_linger(head);
	mutex_unlock(&s->lock);
	if (ends) {
		nof_fence_drop(head);
		nof_head_remove(head);
		nof_head_delist(head);
		nof_head_drop(head);
		scan_all(s);
	}
	nof_subsys_put(s);
}

static void expiry_work(struct work_struct *work)
{
	struct nof_head *head = container_of(to_delayed_work(work), struct nof_head, expiry_work);

	mutex_lock(&head->subsys->lock);
	nof_head_publish(head);
	mutex_unlock(&head->subsys->lock);
}

void nof_head_linger(struct nof_head *head)
{
	u32 secs = READ_ONCE(head->subsys->policy.delayed_removal_secs);

	lockdep_assert_held(&head->subsys->lock);
	set_bit(NOF_HEAD_LINGERS, &head->flags);
	pr_info("nvmeof: %s: its last path is gone; I/O waits for another for %u s\n", nof_head_name(head), secs);
	nof_head_linger_until(head, secs);
}

void nof_head_linger_until(struct nof_head *head, u32 secs)
{
	lockdep_assert_held(&head->subsys->lock);
	head->removal_at = jiffies + secs * HZ;
	mod_delayed_work(nof_disk_wq, &head->removal_work, secs * HZ);
}

static struct nof_head *find_lingering(void)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(head, &s->heads, entry)
			if (!found && test_bit(NOF_HEAD_LINGERS, &head->flags)) {
				kref_get(&head->ref);
				found = head;
			}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	return found;
}

void nof_heads_end_linger(void)
{
	struct nof_head *head;

	while ((head = find_lingering())) {
		mutex_lock(&head->subsys->lock);
		nof_head_linger_until(head, 0);
		mutex_unlock(&head->subsys->lock);
		flush_delayed_work(&head->removal_work);
		nof_head_put(head);
	}
	/* one that had begun by itself */
	flush_workqueue(nof_disk_wq);
}

static struct nof_head *alloc(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head = kzalloc(sizeof(*head), GFP_KERNEL);
	int id;

	if (!head)
		return NULL;
	id = ida_alloc_min(&s->head_ids, 1, GFP_KERNEL);
	if (id < 0) {
		kfree(head);
		return NULL;
	}
	kref_init(&head->ref);
	INIT_LIST_HEAD(&head->paths);
	INIT_WORK(&head->part_work, part_work);
	INIT_DELAYED_WORK(&head->removal_work, removal_work);
	INIT_DELAYED_WORK(&head->expiry_work, expiry_work);
	mutex_init(&head->narrow_lock);
	nof_failovers_init(head);
	head->subsys = nof_subsys_get(s);
	head->id = id;
	head->nsid = nsid;
	head->format = *format;
	head->lba_shift = format->lba_shift;
	head->read_only = format->read_only;
	set_wwid(head, ctrl);
	return head;
}

/* Under subsys->lock: in the list, so that other controllers find it, but not yet visible. */
struct nof_head *nof_head_create(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head = alloc(ctrl, nsid, format);
	struct gendisk *disk;

	lockdep_assert_held(&s->lock);
	if (!head)
		return ERR_PTR(-ENOMEM);
	fill_limits(ctrl, format, &head->limits);
	disk = nof_limits_alloc_disk(&s->tags, &head->limits, head);
	if (IS_ERR(disk)) {
		nof_head_put(head);
		return ERR_CAST(disk);
	}
	disk->fops = &head_ops;
	disk->private_data = head;
	scnprintf(disk->disk_name, DISK_NAME_LEN, "nvmeof%un%u", s->id, head->id);
	head->disk = disk;
	set_capacity(disk, format->nlbas << (format->lba_shift - SECTOR_SHIFT));
	set_disk_ro(disk, format->read_only);
	list_add_tail(&head->entry, &s->heads);
	s->nr_heads++;
	atomic_inc(&nof_topology_seq);
	return head;
}

/*
 * Makes the disk visible. The partition table is read later: nothing here waits for I/O.
 */
int nof_head_add(struct nof_head *head)
{
	int ret;

	nof_subsys_enter(head->subsys);
	set_bit(GD_SUPPRESS_PART_SCAN, &head->disk->state);
	ret = device_add_disk(&head->subsys->dev, head->disk, nof_head_attr_groups);
	if (ret) {
		nof_subsys_leave(head->subsys);
		return ret;
	}
	set_bit(NOF_HEAD_ADDED, &head->flags);
	head->paths_dir = kobject_create_and_add("paths", &disk_to_dev(head->disk)->kobj);
	nof_events->ns(head, NVMEOF_EVENT_ADDED);
	queue_work(nof_disk_wq, &head->part_work);
	return 0;
}

void nof_head_resize(struct nof_head *head, const struct nof_ns_format *format)
{
	bool changed = head->format.nlbas != format->nlbas || head->read_only != format->read_only;

	lockdep_assert_held(&head->subsys->lock);
	if (!changed)
		return;
	head->format.nlbas = format->nlbas;
	head->read_only = format->read_only;
	set_capacity_and_notify(head->disk, format->nlbas << (format->lba_shift - SECTOR_SHIFT));
	set_disk_ro(head->disk, format->read_only);
	nof_events->ns(head, NVMEOF_EVENT_CHANGED);
}

/* Out of the list already; no path left, or its last one still works so that the page cache can be written back. */
void nof_head_remove(struct nof_head *head)
{
	if (test_bit(NOF_HEAD_ADDED, &head->flags)) {
		kobject_put(head->paths_dir);
		del_gendisk(head->disk);
		cancel_work_sync(&head->part_work);
		/* who publishes holds the lock: after it, no kick; before it, one that is undone here */
		mutex_lock(&head->subsys->lock);
		set_bit(NOF_HEAD_GONE, &head->flags);
		mutex_unlock(&head->subsys->lock);
		cancel_delayed_work_sync(&head->expiry_work);
		cancel_delayed_work_sync(&head->disk->queue->requeue_work);
		nof_failovers_exit(head);
		nof_events->ns(head, NVMEOF_EVENT_REMOVED);
		nof_subsys_leave(head->subsys);
	}
}

void nof_head_delist(struct nof_head *head)
{
	mutex_lock(&head->subsys->lock);
	list_del_init(&head->entry);
	head->subsys->nr_heads--;
	atomic_inc(&nof_topology_seq);
	mutex_unlock(&head->subsys->lock);
}

/* The last use of the disk by the driver; openers may keep it, and with it the head, through free_disk() */
void nof_head_drop(struct nof_head *head)
{
	bool added = test_bit(NOF_HEAD_ADDED, &head->flags);

	put_disk(head->disk);
	/* a disk that never was has no free_disk() */
	if (!added)
		nof_head_put(head);
}

struct nof_head *nof_head_find(const char *name)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(head, &s->heads, entry)
			if (!strcmp(nof_head_name(head), name)) {
				kref_get(&head->ref);
				found = head;
			}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	return found;
}

/* The controller can carry I/O: also while it is being left in good order */
static bool carries_io(const struct nof_ctrl *ctrl)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);

	if (state == NVMEOF_CTRL_DELETING)
		return ctrl->deleted_from == NVMEOF_CTRL_LIVE && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	return state == NVMEOF_CTRL_LIVE;
}

/*
 * fast_io_fail_tmo also bounds the wait for a controller that is there, but whose ANA state allows no I/O. What is left
 * of it, in jiffies; 0 when it has passed, MAX_SCHEDULE_TIMEOUT without a bound.
 */
static unsigned long wait_left(const struct nof_path *path)
{
	s32 tmo = READ_ONCE(path->ctrl->opts.fast_io_fail_tmo_ms);
	u64 waited = div_u64(ktime_get_boottime_ns() - path->ana_since, NSEC_PER_MSEC);

	if (tmo < 0 || nof_ctrl_state(path->ctrl) != NVMEOF_CTRL_LIVE)
		return MAX_SCHEDULE_TIMEOUT;
	return waited < tmo ? msecs_to_jiffies(tmo - waited) + 1 : 0;
}

/* Persistent loss is what a live controller says now; after a reconnect it may say something else */
static bool may_come_back(const struct nof_path *path)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(path->ctrl);

	if (state == NVMEOF_CTRL_LIVE && path->ana_state == NVMEOF_ANA_PERSISTENT_LOSS)
		return false;
	if (state == NVMEOF_CTRL_LIVE && (path->ana_expired || path->unfit))
		return false;
	/* on its way out: the disk stays, if it is the last one */
	if (state == NVMEOF_CTRL_DELETING && nof_path_leaves_disk(path))
		return true;
	return state < NVMEOF_CTRL_DELETING && !test_bit(NOF_CTRL_FAIL_FAST, &path->ctrl->flags) && wait_left(path);
}

/* The class a path is in now: the order of the set */
enum path_class { OPTIMIZED, NON_OPTIMIZED, DEGRADED, IDLE, GONE };

static enum path_class class_of(const struct nof_path *path)
{
	if (!carries_io(path->ctrl))
		return GONE;
	if (!nof_ana_usable(path->ana_state) || path->unfit)
		return IDLE;
	if (path->degraded)
		return DEGRADED;
	return path->ana_state == NVMEOF_ANA_NON_OPTIMIZED ? NON_OPTIMIZED : OPTIMIZED;
}

static u16 add_class(struct nof_head *head, struct nof_path_set *set, u16 n, enum path_class class)
{
	struct nof_path *path;

	list_for_each_entry(path, &head->paths, entry)
		if (class_of(path) == class)
			set->paths[n++] = path;
	return n;
}

static void fill_set(struct nof_head *head, struct nof_path_set *set)
{
	bool removing = test_bit(NOF_HEAD_REMOVING, &head->flags);
	struct nof_path *path;

	set->may_wait = test_bit(NOF_HEAD_LINGERS, &head->flags) && !removing;
	list_for_each_entry(path, &head->paths, entry) {
		path->usable = class_of(path) <= DEGRADED;
		set->may_wait |= may_come_back(path) && !removing;
	}
	set->nr_all = head->nr_paths;
	set->nr_optimized = add_class(head, set, 0, OPTIMIZED);
	set->nr = add_class(head, set, set->nr_optimized, NON_OPTIMIZED);
	set->nr_usable = add_class(head, set, set->nr, DEGRADED);
	set->nr_all = add_class(head, set, set->nr_usable, IDLE);
	set->nr_best = set->nr_optimized ?: set->nr ?: set->nr_usable;
}

/* When the last path is no longer waited for, that has to be said */
static void set_expiry(struct nof_head *head, const struct nof_path_set *set)
{
	unsigned long left = MAX_SCHEDULE_TIMEOUT;
	struct nof_path *path;

	if (set->nr_usable || !set->may_wait || !test_bit(NOF_HEAD_ADDED, &head->flags))
		return;
	list_for_each_entry(path, &head->paths, entry)
		if (may_come_back(path))
			left = min(left, wait_left(path));
	if (left < MAX_SCHEDULE_TIMEOUT)
		mod_delayed_work(nof_wq, &head->expiry_work, left);
}

void nof_head_publish(struct nof_head *head)
{
	struct nof_path_set *set, *old;

	lockdep_assert_held(&head->subsys->lock);
	/* A few dozen bytes. Recovery depends on it, so it may not fail, nor wait for I/O. */
	set = kzalloc(struct_size(set, paths, head->nr_paths), GFP_NOIO | __GFP_NOFAIL);
	set->srcu = &head->subsys->srcu;
	fill_set(head, set);
	old = rcu_replace_pointer(head->set, set, true);
	/*
	 * TRAP 18: who sees the new seq sees the new set; who sat down to wait with the old seq is kicked, by itself or
	 * by us
	 */
	smp_wmb();
	WRITE_ONCE(head->set_seq, head->set_seq + 1);
	trace_nof_path_set(head, set);
	if (old)
		nof_path_set_free(old);
	smp_mb();
	if (test_bit(NOF_HEAD_GONE, &head->flags))
		return;
	blk_mq_kick_requeue_list(head->disk->queue);
	set_expiry(head, set);
}
