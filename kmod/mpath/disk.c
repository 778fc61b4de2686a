// SPDX-License-Identifier: GPL-2.0-only
/* The gendisk of a head: create, add unless it is a duplicate, resize, linger without a path, remove. */
#include <linux/blk-mq.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "compat/limits.h"
#include "compat/zones.h"
#include "core/numbers.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/events.h"
#include "mpath/failover_stats.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/path.h"
#include "mpath/requeue.h"
#include "mpath/reserve.h"
#include "mpath/zones.h"
#include "wire/identify.h"

/*
 * Namespaces of different subsystems may have the same identifiers: a copy of a volume that the target gave none of its
 * own, or one target with two NQNs. Links in /dev/disk, and a mount by UUID, can mean only one of them, so the first
 * one becomes a disk and the others are refused, unless the module parameter duplicate_ids is set. Two host identities
 * connected to one NQN get two disks, because a user asked for both.
 */
static bool duplicate_ids;
module_param(duplicate_ids, bool, 0644);
MODULE_PARM_DESC(duplicate_ids,
		 "allow disks that have the identifiers of a disk of another subsystem (default N: refuse)");

/* The disk of @s that has claimed one of the identifiers; caller holds s->lock */
static struct nof_head *find_claimed(struct nof_subsys *s, const struct nof_ns_ids *ids)
{
	struct nof_head *head;

	list_for_each_entry(head, &s->heads, entry)
		if (test_bit(NOF_HEAD_CLAIMED, &head->flags) && nof_ns_ids_clash(&head->format.ids, ids))
			return head;
	return NULL;
}

/*
 * Finds a disk of another subsystem that has claimed one of the identifiers, and copies its name. Caller holds
 * nof_subsystems_lock.
 */
static bool find_other(const struct nof_subsys *of, const struct nof_ns_ids *ids, char *name)
{
	struct nof_head *other = NULL;
	struct nof_subsys *s;

	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s == of || !strcmp(s->nqn, of->nqn))
			continue;
		mutex_lock(&s->lock);
		other = find_claimed(s, ids);
		if (other)
			strscpy(name, nof_head_name(other), DISK_NAME_LEN);
		mutex_unlock(&s->lock);
		if (other)
			break;
	}
	return other;
}

static void warn_refused(const struct nof_subsys *s, u32 nsid, const char *name)
{
	dev_warn_ratelimited(&s->dev,
			     "namespace %u refused: %s has the same identifiers; duplicate_ids=1 allows copies\n", nsid,
			     name);
}

bool nof_duplicate_refused(const struct nof_subsys *s, u32 nsid, const struct nof_ns_ids *ids)
{
	char name[DISK_NAME_LEN];
	bool refused;

	if (READ_ONCE(duplicate_ids))
		return false;
	mutex_lock(&nof_subsystems_lock);
	refused = find_other(s, ids, name);
	mutex_unlock(&nof_subsystems_lock);
	if (refused)
		warn_refused(s, nsid, name);
	return refused;
}

/* Claims the identifiers before the disk is added; -EEXIST if another disk has them. Context: process, sleeps. */
static int duplicate_claim(struct nof_head *head)
{
	char name[DISK_NAME_LEN];
	bool refused;

	/* only one of two concurrent disks can claim them */
	mutex_lock(&nof_subsystems_lock);
	refused = !READ_ONCE(duplicate_ids) && find_other(head->subsys, &head->format.ids, name);
	if (!refused)
		set_bit(NOF_HEAD_CLAIMED, &head->flags);
	mutex_unlock(&nof_subsystems_lock);
	if (refused)
		warn_refused(head->subsys, head->nsid, name);
	return refused ? -EEXIST : 0;
}

/* The disk was added: logs and sends an event if another disk has its identifiers. Context: process, sleeps. */
static void duplicate_report(struct nof_head *head)
{
	char name[DISK_NAME_LEN];
	bool found;

	if (!READ_ONCE(duplicate_ids))
		return;
	mutex_lock(&nof_subsystems_lock);
	found = find_other(head->subsys, &head->format.ids, name);
	mutex_unlock(&nof_subsystems_lock);
	if (!found)
		return;
	dev_warn_ratelimited(&head->subsys->dev,
			     "%s has the same identifiers as %s of another subsystem: /dev/disk links are ambiguous\n",
			     nof_head_name(head), name);
	nof_events->ns(head, NVMEOF_EVENT_SAME_IDS);
}

/* The disk was not added, or is gone. Any context. */
static void duplicate_release(struct nof_head *head)
{
	clear_bit(NOF_HEAD_CLAIMED, &head->flags);
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

static int disk_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd, unsigned long arg)
{
	return nof_control.head_ioctl(bdev, mode, cmd, arg);
}

NOF_DEFINE_REPORT_ZONES(head_report_zones, nof_zones_report)

static const struct block_device_operations head_ops = {
	.owner		= THIS_MODULE,
	.ioctl		= disk_ioctl,
	.compat_ioctl	= blkdev_compat_ptr_ioctl,
	.free_disk	= free_disk,
	.get_unique_id	= get_unique_id,
	.report_zones	= head_report_zones,
	.pr_ops		= &nof_reserve_ops,
};

/* Same format as the in-tree driver, so that links by wwid stay valid */
static void make_wwid(char wwid[NOF_WWID_SIZE], const struct nof_ns_ids *ids, const struct nof_ctrl *ctrl, u32 nsid)
{
	const struct nof_ctrl_id *id = &ctrl->ident;

	if (ids->have & NOF_ID_UUID)
		scnprintf(wwid, NOF_WWID_SIZE, "uuid.%pUb", &ids->uuid);
	else if (ids->have & NOF_ID_NGUID)
		scnprintf(wwid, NOF_WWID_SIZE, "eui.%16phN", ids->nguid);
	else if (ids->have & NOF_ID_EUI64)
		scnprintf(wwid, NOF_WWID_SIZE, "eui.%8phN", ids->eui64);
	else
		scnprintf(wwid, NOF_WWID_SIZE, "nvme.%04x-%*phN-%*phN-%08x", id->vid, (int)strlen(id->serial),
			  id->serial, (int)strlen(id->model), id->model, nsid);
}

bool nof_head_matches(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format)
{
	const struct nof_ns_ids *was = &head->format.ids, *is = &format->ids;
	char wwid[NOF_WWID_SIZE];

	if (head->lba_shift != format->lba_shift || head->format.zone_blocks != format->zone_blocks ||
	    !nof_ns_same_pi(&head->format, format))
		return false;
	if (nof_ns_ids_match(was, is))
		return true;
	if (!nof_ns_ids_equal(was, is))
		return false;
	/* without identifiers: same NSID, vendor, serial number and model */
	make_wwid(wwid, is, ctrl, head->nsid);
	return !strcmp(wwid, head->wwid);
}

/*
 * Separate from the scan, which deletion and other scans wait for: reading the partition table waits for a path for as
 * long as one may come back. Removal of the disk ends that wait, and then finds open_mutex free.
 */
static void part_work(struct work_struct *work)
{
	struct nof_head *head = container_of(work, struct nof_head, show.part_work);
	struct gendisk *disk = head->disk;
	bool usable;
	int ret;

	/* hundreds of disks that wait for a path must not delay reading the others */
	mutex_lock(&head->subsys->lock);
	usable = nof_head_nr_usable(head);
	if (!usable)
		set_bit(NOF_HEAD_PARTS_UNREAD, &head->flags);
	mutex_unlock(&head->subsys->lock);
	if (!usable)
		return;
	clear_bit(GD_SUPPRESS_PART_SCAN, &disk->state);
	mutex_lock(&disk->open_mutex);
	ret = bdev_disk_changed(disk, false);
	/* the disk may not be open, so that no last close drops the pages; another host may change a shared one */
	invalidate_bdev(disk->part0);
	mutex_unlock(&disk->open_mutex);
	/* the path was lost meanwhile, and the wait has expired */
	mutex_lock(&head->subsys->lock);
	if (ret && !nof_head_nr_usable(head))
		set_bit(NOF_HEAD_PARTS_UNREAD, &head->flags);
	mutex_unlock(&head->subsys->lock);
}

/* Starts the removal if no path has joined in time. False if one has joined, or the disk lingers anew since. */
static bool end_linger(struct nof_head *head)
{
	if (nof_head_state(head) != NOF_HEAD_LINGERING)
		return false;
	if (time_before(jiffies, head->removal.at)) {
		queue_delayed_work(nof_delete_wq, &head->removal.work, head->removal.at - jiffies);
		return false;
	}
	nof_head_set_state(head, NOF_HEAD_REMOVING);
	nof_head_publish(head);
	return true;
}

static void removal_work(struct work_struct *work)
{
	struct nof_head *head = container_of(to_delayed_work(work), struct nof_head, removal.work);
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
		/* namespaces that this head refused could become disks of their own now */
		nof_paths_rescan_all(s);
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
	nof_head_set_state(head, NOF_HEAD_LINGERING);
	pr_info("nvmeof: %s: last path removed, I/O waits up to %u s for another path\n", nof_head_name(head), secs);
	nof_head_linger_until(head, secs);
}

void nof_head_linger_until(struct nof_head *head, u32 secs)
{
	lockdep_assert_held(&head->subsys->lock);
	head->removal.at = jiffies + secs * HZ;
	/* not on a queue whose works wait for I/O: this ends their wait */
	mod_delayed_work(nof_delete_wq, &head->removal.work, secs * HZ);
}

static struct nof_head *find_lingering(void)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		list_for_each_entry(head, &s->heads, entry)
			if (!found && nof_head_state(head) == NOF_HEAD_LINGERING) {
				kref_get(&head->ref);
				found = head;
			}
	}
	return found;
}

void nof_heads_end_linger(void)
{
	struct nof_head *head;

	while ((head = find_lingering())) {
		mutex_lock(&head->subsys->lock);
		nof_head_linger_until(head, 0);
		mutex_unlock(&head->subsys->lock);
		flush_delayed_work(&head->removal.work);
		nof_head_put(head);
	}
	/* removals that had started by themselves, and partition reads that they ended */
	flush_workqueue(nof_delete_wq);
	flush_workqueue(nof_disk_wq);
}

/* If resources are short, the next scan of its controllers tries again, see attach_or_update() */
static void show_work(struct work_struct *work)
{
	struct nof_head *head = container_of(work, struct nof_head, show.work);

	if (nof_head_show(head))
		nof_paths_rescan(head);
}

static struct nof_head *head_alloc(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head = kzalloc(sizeof(*head), GFP_KERNEL);

	if (!head)
		return NULL;
	make_wwid(head->wwid, &format->ids, ctrl, nsid);
	head->number = nof_number_alloc(head->wwid, false);
	if (!head->number) {
		kfree(head);
		return NULL;
	}
	kref_init(&head->ref);
	INIT_LIST_HEAD(&head->paths);
	INIT_LIST_HEAD(&head->pending.entry);
	mutex_init(&head->show.lock);
	INIT_WORK(&head->show.work, show_work);
	INIT_WORK(&head->show.part_work, part_work);
	INIT_DELAYED_WORK(&head->removal.work, removal_work);
	INIT_DELAYED_WORK(&head->expiry_work, expiry_work);
	spin_lock_init(&head->kick.lock);
	INIT_DELAYED_WORK(&head->kick.work, nof_head_kick_work);
	mutex_init(&head->change.lock);
	mutex_init(&head->reserve.lock);
	head->change.next = jiffies;
	INIT_DELAYED_WORK(&head->change.widen_work, nof_head_widen_work);
	nof_failovers_init(head);
	nof_park_init(head);
	head->subsys = nof_subsys_get(s);
	head->nsid = nsid;
	head->format = *format;
	head->lba_shift = format->lba_shift;
	head->read_only = format->read_only;
	head->nuse.blocks = format->nuse;
	return head;
}

/* Creates a head that is not listed yet; nof_head_drop() undoes that. ERR_PTR on failure */
struct nof_head *nof_head_create(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	struct gendisk *disk;
	struct nof_head *head;

	head = head_alloc(ctrl, nsid, format);
	if (!head)
		return ERR_PTR(-ENOMEM);
	nof_head_fill_limits(ctrl, format, NULL, &head->limits);
	disk = nof_limits_alloc_disk(&s->tags, &head->limits, head);
	if (IS_ERR(disk)) {
		nof_head_put(head);
		return ERR_CAST(disk);
	}
	disk->fops = &head_ops;
	disk->private_data = head;
	head->disk = disk;
	/* the queue only serves commands of the generic node */
	if (nof_format_is_generic(format))
		disk->flags |= GENHD_FL_HIDDEN;
	set_capacity(disk, format->nlbas << (format->lba_shift - SECTOR_SHIFT));
	set_disk_ro(disk, format->read_only);
	return head;
}

/*
 * Lists the head, so that other controllers can join it; the disk is not visible yet. The name is assigned only here:
 * if two controllers find a namespace at the same time, the later one must not use up a number.
 */
int nof_head_enlist(struct nof_head *head)
{
	struct nof_subsys *s = head->subsys;
	int ret;

	lockdep_assert_held(&s->lock);
	if (s->nr_heads >= nof_head_max())
		return -ENOSPC;
	/* do not wait for memory under this lock, which recovery needs */
	ret = nof_number_take(s->number->inner, head->number, 1, GFP_NOWAIT | __GFP_NOWARN);
	if (ret)
		return -ENOMEM;
	head->id = head->number->nr;
	scnprintf(head->disk->disk_name, DISK_NAME_LEN, "nvmeof%un%u", s->id, head->id);
	head->nr = nof_topology_changed();
	list_add_tail(&head->entry, &s->heads);
	s->nr_heads++;
	return 0;
}

/* The partition table is read later: nothing here waits for a path. */
static int head_add(struct nof_head *head)
{
	int ret;

	ret = duplicate_claim(head);
	if (ret)
		return ret;
	ret = head->format.zone_blocks ? nof_zones_begin(head) : 0;
	if (ret)
		goto release;
	ret = nof_control.head_add(head);
	if (ret)
		goto release;
	nof_subsys_enter(head->subsys);
	set_bit(GD_SUPPRESS_PART_SCAN, &head->disk->state);
	ret = device_add_disk(&head->subsys->dev, head->disk, nof_control.head_groups);
	if (ret) {
		nof_subsys_leave(head->subsys);
		nof_control.head_del(head);
		goto release;
	}
	head->paths_dir = kobject_create_and_add("paths", &disk_to_dev(head->disk)->kobj);
	/* listings show the disk from here on */
	mutex_lock(&head->subsys->lock);
	set_bit(NOF_HEAD_ADDED, &head->flags);
	nof_head_set_state(head, NOF_HEAD_VISIBLE);
	nof_topology_changed();
	mutex_unlock(&head->subsys->lock);
	nof_events->ns(head, NVMEOF_EVENT_ADDED);
	duplicate_report(head);
	mutex_lock(&head->subsys->lock);
	nof_head_review_paths(head);
	mutex_unlock(&head->subsys->lock);
	if (!nof_format_is_generic(&head->format))
		queue_work(nof_disk_wq, &head->show.part_work);
	return 0;
release:
	duplicate_release(head);
	return ret;
}

/* A path that has joined and has no directory yet, with a reference */
static struct nof_path *take_unshown(struct nof_head *head)
{
	struct nof_path *path, *found = NULL;

	mutex_lock(&head->subsys->lock);
	if (head->paths_dir && !nof_head_removing(head))
		list_for_each_entry(path, &head->paths, entry)
			if (!found && !path->shown)
				found = path;
	if (found) {
		found->shown = true;
		kobject_get(&found->kobj);
	}
	mutex_unlock(&head->subsys->lock);
	return found;
}

/* Adds paths to sysfs that have joined since the disk became visible */
static void disk_show_paths(struct nof_head *head)
{
	struct nof_path *path;

	lockdep_assert_held(&head->show.lock);
	while ((path = take_unshown(head))) {
		if (kobject_add(&path->kobj, head->paths_dir, "%s", path->name))
			dev_warn(&path->ctrl->dev, "%s: cannot add path to sysfs\n", path->name);
		nof_events->path(path, NVMEOF_EVENT_ADDED);
		kobject_put(&path->kobj);
	}
}

int nof_head_show(struct nof_head *head)
{
	struct nof_subsys *s = head->subsys;
	bool wanted, now;
	int ret = 0;

	mutex_lock(&head->show.lock);
	mutex_lock(&s->lock);
	wanted = !nof_head_removing(head) && !test_bit(NOF_HEAD_ADDED, &head->flags);
	now = wanted && nof_head_nr_usable(head);
	if (wanted && !now)
		nof_head_set_state(head, NOF_HEAD_HIDDEN);
	mutex_unlock(&s->lock);
	if (now)
		ret = head_add(head);
	if (!ret && test_bit(NOF_HEAD_ADDED, &head->flags))
		disk_show_paths(head);
	mutex_unlock(&head->show.lock);
	return ret;
}

bool nof_head_resize(struct nof_head *head, const struct nof_ns_format *format)
{
	bool grown = head->format.nlbas != format->nlbas && !head->format.zone_blocks;
	bool changed = grown || head->read_only != format->read_only;

	lockdep_assert_held(&head->subsys->lock);
	if (!changed)
		return false;
	head->read_only = format->read_only;
	if (grown)
		head->format.nlbas = format->nlbas;
	set_bit(NOF_HEAD_RESIZED, &head->flags);
	return true;
}

static sector_t head_sectors(const struct nof_head *head)
{
	return head->format.nlbas << (head->lba_shift - SECTOR_SHIFT);
}

void nof_head_apply_size(struct nof_head *head)
{
	struct nof_subsys *s = head->subsys;
	bool read_only;
	sector_t size;

	if (!test_bit(NOF_HEAD_RESIZED, &head->flags))
		return;
	mutex_lock(&head->show.lock);
	/* the flag stays set until the disk is up to date, so that other callers wait for show.lock */
	while (test_bit(NOF_HEAD_RESIZED, &head->flags)) {
		mutex_lock(&s->lock);
		size = head_sectors(head);
		read_only = head->read_only;
		mutex_unlock(&s->lock);
		set_capacity_and_notify(head->disk, size);
		set_disk_ro(head->disk, read_only);
		mutex_lock(&s->lock);
		if (size == head_sectors(head) && read_only == head->read_only) {
			clear_bit(NOF_HEAD_RESIZED, &head->flags);
			if (test_bit(NOF_HEAD_ADDED, &head->flags))
				nof_head_event_later(head, NVMEOF_EVENT_CHANGED);
		}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&head->show.lock);
}

/*
 * In this order: kick.work queues requeue_work. blk-mq has no function for the latter: it cancels the work in
 * del_gendisk(), after which requests that waited for a path are still kicked.
 */
void nof_head_cancel_kicks(struct nof_head *head)
{
	cancel_delayed_work_sync(&head->kick.work);
	cancel_delayed_work_sync(&head->disk->queue->requeue_work);
}

/* Removes the disk. No path is left, or the last one still works so that the page cache can be written back. */
void nof_head_remove(struct nof_head *head)
{
	struct kobject *paths_dir;

	cancel_work_sync(&head->show.work);
	/* from here on the disk is not shown, as it is REMOVING, nor a path, as paths_dir is NULL */
	mutex_lock(&head->show.lock);
	mutex_lock(&head->subsys->lock);
	paths_dir = head->paths_dir;
	head->paths_dir = NULL;
	mutex_unlock(&head->subsys->lock);
	mutex_unlock(&head->show.lock);
	if (test_bit(NOF_HEAD_ADDED, &head->flags)) {
		kobject_put(paths_dir);
		nof_control.head_del(head);
		del_gendisk(head->disk);
	}
	/* nof_head_publish() runs under the lock: in GONE it does not kick; an earlier kick is cancelled below */
	mutex_lock(&head->subsys->lock);
	nof_head_set_state(head, NOF_HEAD_GONE);
	mutex_unlock(&head->subsys->lock);
	cancel_work_sync(&head->show.part_work);
	cancel_delayed_work_sync(&head->expiry_work);
	cancel_delayed_work_sync(&head->change.widen_work);
	nof_head_cancel_kicks(head);
	nof_park_exit(head);
	nof_failovers_exit(head);
}

/* A listing that starts after the event does not find the head, and no event follows REMOVED: see events_lock */
void nof_head_delist(struct nof_head *head)
{
	bool added = test_bit(NOF_HEAD_ADDED, &head->flags);
	struct nof_subsys *s = head->subsys;

	mutex_lock(&s->events_lock);
	mutex_lock(&s->lock);
	list_del_init(&head->entry);
	list_del_init(&head->pending.entry);
	s->nr_heads--;
	nof_topology_changed();
	mutex_unlock(&s->lock);
	if (added)
		nof_events->ns(head, NVMEOF_EVENT_REMOVED);
	mutex_unlock(&s->events_lock);
	duplicate_release(head);
	if (added)
		nof_subsys_leave(s);
}

/* Drops the driver's reference on the disk; openers may keep the disk, and with it the head, until free_disk() */
void nof_head_drop(struct nof_head *head)
{
	bool added = test_bit(NOF_HEAD_ADDED, &head->flags);

	put_disk(head->disk);
	/* free_disk() is called for added disks only */
	if (!added)
		nof_head_put(head);
}
