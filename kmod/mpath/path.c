// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths: attaching the namespaces that a scan has found to heads, or refusing them; suspending I/O to a namespace that
 * may change; removal.
 */
#include <linux/delay.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/ana.h"
#include "mpath/events.h"
#include "mpath/failover_stats.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/path.h"
#include "mpath/path_stats.h"
#include "mpath/request.h"
#include "wire/identify.h"

static void path_release(struct kobject *kobj)
{
	struct nof_path *path = container_of(kobj, struct nof_path, kobj);

	/* a path that never joined has no head */
	if (path->head) {
		nof_failover_del(path);
		nof_head_put(path->head);
	} else {
		kfree(path->failover);
	}
	nof_path_stats_free(path);
	kfree(path->lat);
	nof_ctrl_put(path->ctrl);
	kfree(path);
}

static struct kobj_type path_ktype __ro_after_init = {
	.release	= path_release,
	.sysfs_ops	= &kobj_sysfs_ops,
};

/* Called before the first path is allocated */
void __init nof_path_ktype_init(void)
{
	path_ktype.default_groups = nof_control.path_groups;
}

static void remove_work(struct work_struct *work);

/*
 * Allocates a path with all memory that it needs, before any lock is taken. Returns it with a reference, not joined to
 * a head; NULL without memory.
 */
static struct nof_path *path_alloc(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_path *path = kzalloc(sizeof(*path), GFP_KERNEL);
	struct nof_subsys *s = ctrl->subsys;

	if (!path)
		return NULL;
	kobject_init(&path->kobj, &path_ktype);
	INIT_LIST_HEAD(&path->pending.entry);
	INIT_WORK(&path->remove_work, remove_work);
	path->ctrl = nof_ctrl_get(ctrl);
	path->nsid = nsid;
	/* kmalloc aligns sizes that are a power of two: the elements need cache line alignment */
	path->lat = kcalloc(roundup_pow_of_two(s->nr_default + s->nr_poll), sizeof(*path->lat), GFP_KERNEL);
	path->failover = kzalloc(sizeof(*path->failover), GFP_KERNEL);
	if (nof_path_stats_alloc(path) && path->lat && path->failover)
		return path;
	kobject_put(&path->kobj);
	return NULL;
}

static struct nof_path *path_of(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_head *head;
	struct nof_path *path;

	lockdep_assert_held(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl && path->nsid == nsid)
			return path;
	return NULL;
}

/*
 * Requests sent on this path hold no reference. They end at the latest when a timeout or the deletion takes the queues
 * down.
 */
static void path_drain(struct nof_path *path)
{
	synchronize_srcu(&path->ctrl->subsys->srcu);
	nof_queues_flush(path->ctrl);
	while (nof_path_inflight(path)) {
		usleep_range(900, 1100);
		nof_queues_flush(path->ctrl);
	}
	/* nof_request_timeout() may look at the path of a request that has just ended */
	synchronize_srcu(&path->ctrl->subsys->srcu);
	/* nof_cmd_complete() uses the path after it has counted the request as back */
	synchronize_rcu();
}

static void path_unlink(struct nof_path *path)
{
	list_del_init(&path->entry);
	list_del_init(&path->pending.entry);
	path->head->nr_paths--;
	path->ctrl->nr_paths--;
	path->usable = false;
	nof_topology_changed();
	nof_head_update_effects(path->head);
	nof_head_publish(path->head);
	nof_head_widen_later(path->head);
	nof_paths_rescan_refused(path->ctrl->subsys);
}

/*
 * The disk could not be added. A controller removes only its own paths: if another controller has joined a path
 * meanwhile, that controller's next scan, started here, removes it. The head goes with the last path.
 */
static void path_discard(struct nof_path *path)
{
	struct nof_head *head = path->head;
	bool last;

	mutex_lock(&head->subsys->lock);
	nof_head_set_state(head, NOF_HEAD_REMOVING);
	path_unlink(path);
	last = !head->nr_paths;
	nof_paths_rescan_locked(head);
	mutex_unlock(&head->subsys->lock);
	nof_events_flush(head->subsys);
	path_drain(path);
	kobject_put(&path->kobj);
	if (last) {
		nof_head_remove(head);
		nof_head_delist(head);
		nof_head_drop(head);
	}
}

/*
 * Requests held by a fence are still written, or fail with the path: see paths_drop_held(). The block layer does not
 * wait for a parked one, which has no request.
 */
static void wait_fence_released(struct nof_head *head)
{
	while (nof_fence_held(head))
		usleep_range(900, 1100);
	nof_park_flush(head);
}

/* Does not log a removal by request */
static void path_log_removal(const struct nof_path *path, bool last)
{
	const struct nof_ctrl *ctrl = path->ctrl;
	const char *why = NULL;

	if (path->removal == NOF_REMOVAL_REPLACED)
		why = "the target has another namespace in its place";
	else if (path->removal == NOF_REMOVAL_DEALLOCATED)
		why = "the target no longer has the namespace";
	else if (last && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST)
		why = "its last controller is lost";
	else if (last && !test_bit(NOF_CTRL_EXPLICIT_DELETE, &ctrl->flags))
		why = "its last controller was deleted, not by request";
	if (why)
		dev_warn_ratelimited(&ctrl->dev, "%s %s: %s\n", nof_head_name(path->head),
				     last ? "is removed" : "lost a path", why);
}

/*
 * @graceful: the path still carries I/O, so that a disk losing its last path can write its page cache back first.
 * Whether it is the last path is decided under the lock; no other path can join the head after that. Such a path stays
 * listed until the disk is gone: if the connection fails meanwhile, a new path set ends the wait of its requests. With
 * delayed_removal_secs, unless the removal was requested, the head stays without a path instead.
 * Context: under ctrl->scan.lock, or with the scan stopped, so that no other task removes paths of this controller.
 */
void nof_path_remove(struct nof_path *path, bool graceful)
{
	/* another thread may put the disk, but our last event needs its name */
	struct nof_head *head = nof_head_pin(path->head);
	struct nof_subsys *s = head->subsys;
	bool last, lingers, lost;

	mutex_lock(&s->lock);
	last = head->nr_paths == 1;
	lingers = last && nof_path_disk_lingers(path);
	if (lingers) {
		nof_head_linger(head);
		last = false;
	}
	if (last)
		nof_head_set_state(head, NOF_HEAD_REMOVING);
	if (!last || !graceful) {
		path_unlink(path);
	} else {
		nof_head_publish(head);	/* requests that wait for a path fail */
		nof_paths_rescan_refused(s);
	}
	/* under the lock: if the connection fails after this, paths_drop_held() finds the head */
	lost = !path->usable && nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_DELETING;
	if (test_bit(NOF_HEAD_ADDED, &head->flags))
		path_log_removal(path, last);
	mutex_unlock(&s->lock);
	mutex_lock(&head->show.lock);
	if (path->kobj.state_in_sysfs)
		kobject_del(&path->kobj);
	mutex_unlock(&head->show.lock);
	/* held requests can succeed only with a working path and an existing namespace */
	if (last && (!graceful || path->removal == NOF_REMOVAL_DEALLOCATED || lost))
		nof_fence_drop(head);
	else if (last)
		wait_fence_released(head);
	/* queued if the head lingered before this path joined */
	if (last)
		cancel_delayed_work_sync(&head->removal.work);
	if (last)
		nof_head_remove(head);
	mutex_lock(&s->lock);
	if (last && graceful)
		path_unlink(path);
	mutex_unlock(&s->lock);
	if (last)
		nof_head_delist(head);
	nof_events_flush(s);
	if (test_bit(NOF_HEAD_ADDED, &head->flags))
		nof_events->path(path, NVMEOF_EVENT_REMOVED);
	path_drain(path);
	/* a late completion may have queued these; if the head is not GONE yet, its removal cancels them */
	if (nof_head_state(head) == NOF_HEAD_GONE)
		nof_head_cancel_kicks(head);
	kobject_put(&path->kobj);
	if (last)
		nof_head_drop(head);
	nof_head_unpin(head);
}

static struct nof_head *paths_find_held(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head, *found = NULL;
	struct nof_path *path;

	mutex_lock(&s->lock);
	nof_for_each_path(s, head, path)
		if (!found && path->ctrl == ctrl && nof_head_removing(head) &&
		    !test_bit(NOF_HEAD_NO_HOLD, &head->flags)) {
			kref_get(&head->ref);
			found = head;
		}
	mutex_unlock(&s->lock);
	return found;
}

/*
 * The connection failed, so disks that are being removed cannot write back any more: fails the requests held for them.
 */
static void paths_drop_held(struct nof_ctrl *ctrl)
{
	struct nof_head *head;

	while ((head = paths_find_held(ctrl))) {
		nof_fence_drop(head);
		nof_head_put(head);
	}
}

/* Inserts @nsid into the ascending array, without the highest if it is full. The list of paths is not in this order. */
static u32 nsids_insert(struct nof_ns *ns, u32 nr, u32 max, u32 nsid)
{
	u32 at = min(nr, max - 1);

	if (nr == max && nsid > ns[at].nsid)
		return nr;
	for (; at && ns[at - 1].nsid > nsid; at--)
		ns[at].nsid = ns[at - 1].nsid;
	ns[at].nsid = nsid;
	return min(nr + 1, max);
}

/* The lowest @max NSIDs above @prev that have a path of @ctrl, in ascending order. Returns how many there are. */
static u32 paths_next_nsids(struct nof_ctrl *ctrl, u32 prev, struct nof_ns *ns, u32 max)
{
	struct nof_head *head;
	struct nof_path *path;
	u32 nr = 0;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl && path->nsid > prev)
			nr = nsids_insert(ns, nr, max, path->nsid);
	mutex_unlock(&ctrl->subsys->lock);
	return nr;
}

static void remove_work(struct work_struct *work)
{
	struct nof_path *path = container_of(work, struct nof_path, remove_work);

	nof_path_remove(path, path->graceful);
}

/*
 * Removes paths in parallel: each removal waits for grace periods and for the I/O of its disk, and a thousand of them
 * one after another would take a minute.
 */
static void remove_all(struct nof_ctrl *ctrl, bool unseen_only, bool graceful)
{
	struct nof_path *path, *next;
	struct nof_head *head;
	LIST_HEAD(leaving);

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path) {
		if (path->ctrl != ctrl || (unseen_only && path->seen))
			continue;
		if (unseen_only)
			path->removal = NOF_REMOVAL_DEALLOCATED;
		path->graceful = graceful;
		kobject_get(&path->kobj);
		list_add_tail(&path->leaving, &leaving);
	}
	mutex_unlock(&ctrl->subsys->lock);
	list_for_each_entry(path, &leaving, leaving)
		queue_work(nof_remove_wq, &path->remove_work);
	list_for_each_entry_safe(path, next, &leaving, leaving) {
		flush_work(&path->remove_work);
		kobject_put(&path->kobj);
	}
}

/* The controller is deleted by request: lingering disks that expect a path from it alone do not wait any longer */
static void paths_end_linger(struct nof_ctrl *ctrl)
{
	struct nof_head *head;

	mutex_lock(&ctrl->subsys->lock);
	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		if (nof_head_state(head) == NOF_HEAD_LINGERING && nof_head_waits_only_for(head, ctrl))
			nof_head_linger_until(head, 0);
	mutex_unlock(&ctrl->subsys->lock);
}

/* @graceful: the queues work, so that disks can write back */
static void paths_remove(struct nof_ctrl *ctrl, bool graceful)
{
	remove_all(ctrl, false, graceful);
	if (test_bit(NOF_CTRL_EXPLICIT_DELETE, &ctrl->flags))
		paths_end_linger(ctrl);
}

static void paths_remove_unseen(struct nof_ctrl *ctrl)
{
	remove_all(ctrl, true, true);
}

/*
 * The scan could not identify the namespace: keeps its path. False if there is no path, or its disk is being removed.
 */
static bool path_keep(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_path *path;
	bool kept;

	mutex_lock(&ctrl->subsys->lock);
	path = path_of(ctrl, nsid);
	kept = path && !nof_head_removing(path->head);
	if (kept)
		path->seen = true;
	mutex_unlock(&ctrl->subsys->lock);
	return kept;
}

/*
 * Raises the association number, which invalidates what a running scan has read. Verified paths to other namespaces
 * follow.
 */
static void paths_invalidate(struct nof_subsys *s, u32 nsid)
{
	struct nof_head *head;
	struct nof_path *path;
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		WRITE_ONCE(ctrl->association, ctrl->association + 1);
	nof_for_each_path(s, head, path)
		if (nsid && nsid != path->nsid && path->association == path->ctrl->association - 1)
			path->association++;
	list_for_each_entry(head, &s->heads, entry)
		nof_head_publish(head);
}

static u32 nsid_or_any(u32 nsid)
{
	return nsid == NVME_NSID_ALL ? 0 : nsid;
}

static bool any_inflight(struct nof_subsys *s, u32 nsid)
{
	struct nof_head *head;
	struct nof_path *path;
	bool any = false;

	mutex_lock(&s->lock);
	nof_for_each_path(s, head, path)
		any |= (!nsid || path->nsid == nsid) && nof_path_inflight(path);
	mutex_unlock(&s->lock);
	return any;
}

/* Poll interval of wait_idle(), which takes subsys->lock each time; short at first, as most requests end soon */
#define IDLE_MIN_US	500
#define IDLE_MAX_US	8000

/* A write that is executed after a change of the block size would hit the wrong blocks */
static int wait_idle(struct nof_subsys *s, u32 nsid)
{
	unsigned long end = jiffies + NOF_IO_TIMEOUT;
	u32 rest_us = IDLE_MIN_US;

	while (any_inflight(s, nsid)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -EBUSY;
		usleep_range(rest_us, 2 * rest_us);
		rest_us = min_t(u32, 2 * rest_us, IDLE_MAX_US);
	}
	return 0;
}

int nof_paths_suspend(struct nof_subsys *s, u32 nsid)
{
	nsid = nsid_or_any(nsid);
	mutex_lock(&s->lock);
	if (!s->changing++)
		s->changing_nsid = nsid;
	else if (s->changing_nsid != nsid)
		s->changing_nsid = 0;
	paths_invalidate(s, nsid);
	mutex_unlock(&s->lock);
	/* requests that chose a path from an older set have been sent after this */
	synchronize_srcu(&s->srcu);
	return wait_idle(s, nsid);
}

void nof_paths_resume(struct nof_subsys *s, u32 nsid)
{
	mutex_lock(&s->lock);
	s->changing--;
	/* identify data that were read meanwhile are not valid */
	paths_invalidate(s, nsid_or_any(nsid));
	mutex_unlock(&s->lock);
	nof_paths_rescan_all(s);
}

static void paths_scan_begin(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	clear_bit(NOF_CTRL_REFUSED, &ctrl->flags);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			path->seen = false;
	mutex_unlock(&ctrl->subsys->lock);
}

struct nof_path *nof_path_find(const char *name)
{
	struct nof_path *path, *found = NULL;
	struct nof_head *head;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		nof_for_each_path(s, head, path)
			if (!strcmp(path->name, name))
				found = nof_path_pin(path);
	}
	return found;
}

static const char *const refusals[NOF_NR_REFUSALS] = {
	[NOF_REFUSED_NO_MEMORY]	= "out of memory; tried again later",
	/* for any errno: the driver core does not always report lack of memory as -ENOMEM */
	[NOF_REFUSED_NO_DISK]	= "cannot add the disk; tried again later",
	[NOF_REFUSED_BUSY]	= "the disk must lower its limits, but requests do not complete; retried later",
	/* the limits were lowered, then another path made the disk, or joined a lingering one */
	[NOF_REFUSED_TOO_NARROW] = "the path cannot keep the limits of the disk; retried later",
	[NOF_REFUSED_SIZE]	= "capacity or block size differs from the namespace's other paths",
	[NOF_REFUSED_PI]	= "protection information differs from the namespace's other paths",
	[NOF_REFUSED_ZONE_SIZE]	= "zone size differs from the namespace's other paths",
	[NOF_REFUSED_ZONE_COUNT] = "the zoned namespace has another size than its disk; remove the disk to change that",
	[NOF_REFUSED_ZONES]	= "its zones cannot be used",	/* head->zone_fault replaces this */
	[NOF_REFUSED_IDS]	= "another path reports different identifiers for this namespace ID",
	[NOF_REFUSED_PRIVATE]	= "a namespace that is not shared has the identifiers of another",
	[NOF_REFUSED_NSID]	= "another path has these identifiers with another namespace ID",
	[NOF_REFUSED_DUPLICATE]	= "a disk of another subsystem has its identifiers; rescan when that has gone",
	[NOF_REFUSED_TOO_MANY]	= "more namespaces than max_namespaces of the module",
	[NOF_REFUSED_LIMITS]	= "the block layer rejects the limits common to all paths",
	[NOF_REFUSED_CREATE]	= "cannot create a disk",
};

static void attach_join(struct nof_path *path, struct nof_head *head, const struct nof_ns_format *format,
			u32 association)
{
	lockdep_assert_held(&head->subsys->lock);
	kref_get(&head->ref);
	path->head = head;
	scnprintf(path->name, sizeof(path->name), "%sn%u", nof_ctrl_name(path->ctrl), head->id);
	nof_failover_add(path);
	path->seen = true;
	path->association = association;
	path->ana_group = format->ana_group;
	/* attach_make_room() has made it fit, except for attach_as_last_resort() */
	if (nof_head_too_wide(head, path->ctrl, format))
		path->unfit = nof_path_unfit(path);
	nof_ana_set(path, nof_ana_state_of(path->ctrl, format->ana_group));
	nof_ana_look_for(path->ctrl, format->ana_group);
	if (nof_head_state(head) == NOF_HEAD_LINGERING) {
		nof_head_set_state(head, NOF_HEAD_VISIBLE);
		cancel_delayed_work(&head->removal.work);
		head->format.shared = format->shared;
		/* until nof_head_apply_size() the target rejects I/O beyond its capacity, and writes if read-only */
		nof_head_resize(head, format);
	}
	path->nr = nof_topology_changed();
	list_add_tail(&path->entry, &head->paths);
	head->nr_paths++;
	path->ctrl->nr_paths++;
	nof_head_update_effects(head);
	nof_head_publish(head);
}

/* A private namespace (NMIC bit 0 clear), or one without identifiers, is never joined to another path's head */
static struct nof_head *attach_find_head(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *f,
					 enum nof_refusal *refusal)
{
	struct nof_head *head;

	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		/* a lingering head has no other path to agree with */
		bool alone = !head->nr_paths, fixed = !alone || f->zone_blocks;

		if (nof_head_removing(head))
			continue;
		if (!nof_ns_ids_match(&head->format.ids, &f->ids)) {
			if (head->nsid == nsid && f->shared && head->format.shared && !alone)
				*refusal = NOF_REFUSED_IDS;
			continue;
		}
		if (!alone && (!f->shared || !head->format.shared))
			*refusal = NOF_REFUSED_PRIVATE;
		else if (head->nsid != nsid)
			*refusal = NOF_REFUSED_NSID;
		else if (head->format.zone_blocks != f->zone_blocks)
			*refusal = NOF_REFUSED_ZONE_SIZE;
		else if (!nof_ns_same_pi(&head->format, f))
			*refusal = NOF_REFUSED_PI;
		else if ((fixed && head->format.nlbas != f->nlbas) || head->format.lba_shift != f->lba_shift)
			*refusal = NOF_REFUSED_SIZE;
		else if (nof_head_too_wide(head, ctrl, f))
			*refusal = NOF_REFUSED_TOO_NARROW;
		return head;
	}
	return NULL;
}

/* For an error of creating or showing a disk. @other: for errors that are not specific */
static enum nof_refusal attach_refusal(int err, enum nof_refusal other)
{
	switch (err) {
	case 0:		return NOF_ATTACHED;
	case -EPROTO:	return NOF_REFUSED_ZONES;
	case -EEXIST:	return NOF_REFUSED_DUPLICATE;
	case -ENOMEM:	return NOF_REFUSED_NO_MEMORY;
	default:	return other;
	}
}

/*
 * Requests that wait for a path keep the queue from freezing, and may wait for this very path. It joins unfit and takes
 * the requests that it can; the disk is narrowed when these are done.
 */
static bool attach_as_last_resort(struct nof_head *head, enum nof_refusal refusal)
{
	return refusal == NOF_REFUSED_TOO_NARROW && !nof_head_nr_usable(head);
}

static enum nof_refusal attach_show(struct nof_head *head, const char **text)
{
	enum nof_refusal refusal = attach_refusal(nof_head_show(head), NOF_REFUSED_NO_DISK);

	if (refusal == NOF_REFUSED_ZONES)
		*text = READ_ONCE(head->zone_fault);
	return refusal;
}

/*
 * The head to join, or @new, which it enlists, if there is none; NULL with neither, or with @refusal. Caller holds
 * subsys->lock.
 */
static struct nof_head *attach_head_for(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
					struct nof_head *new, enum nof_refusal *refusal)
{
	struct nof_head *head = attach_find_head(ctrl, nsid, format, refusal);
	int ret;

	if (attach_as_last_resort(head, *refusal))
		*refusal = NOF_ATTACHED;
	if (*refusal)
		set_bit(NOF_CTRL_REFUSED, &ctrl->flags);
	/* the other paths may have changed in the same way, but were not scanned yet */
	if (*refusal == NOF_REFUSED_SIZE || *refusal == NOF_REFUSED_PI)
		nof_paths_rescan_locked(head);
	if (!head && new) {
		ret = nof_head_enlist(new);
		if (ret)
			*refusal = ret == -ENOMEM ? NOF_REFUSED_NO_MEMORY : NOF_REFUSED_TOO_MANY;
	}
	return *refusal ? NULL : head ?: new;
}

static enum nof_refusal attach_new(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association,
				   const char **text)
{
	enum nof_refusal refusal = NOF_ATTACHED;
	struct nof_path *path = path_alloc(ctrl, nsid);
	struct nof_head *head, *new = NULL;
	struct nof_subsys *s = ctrl->subsys;

	if (!path)
		return NOF_REFUSED_NO_MEMORY;
	mutex_lock(&s->lock);
	head = attach_head_for(ctrl, nsid, format, NULL, &refusal);
	if (!head && !refusal) {
		/*
		 * do not allocate under this lock, which recovery needs; another controller may make the head meanwhile
		 */
		mutex_unlock(&s->lock);
		new = nof_duplicate_refused(s, nsid, &format->ids) ? ERR_PTR(-EEXIST) :
								     nof_head_create(ctrl, nsid, format);
		if (IS_ERR(new)) {
			kobject_put(&path->kobj);
			return attach_refusal(PTR_ERR(new), NOF_REFUSED_CREATE);
		}
		mutex_lock(&s->lock);
		head = attach_head_for(ctrl, nsid, format, new, &refusal);
	}
	if (head)
		attach_join(path, head, format, association);
	mutex_unlock(&s->lock);
	if (new && head != new)
		nof_head_drop(new);
	if (!head) {
		kobject_put(&path->kobj);
		return refusal;
	}
	nof_head_apply_size(head);
	/* the path is in place, so partitions can be read; it keeps the head, as scan.lock excludes its removal */
	refusal = attach_show(head, text);
	if (refusal && head == new)
		path_discard(path);
	return refusal ?: path->unfit ? NOF_REFUSED_BUSY : NOF_ATTACHED;
}

/*
 * Returns the head of the namespace, with references, if its limits are too wide for a path of @ctrl. That is the head
 * of the existing path while that still is the same namespace, else the head to join.
 */
static struct nof_head *attach_too_wide(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s = ctrl->subsys;
	enum nof_refusal refusal = NOF_ATTACHED;
	struct nof_path *path;
	bool wide;

	mutex_lock(&s->lock);
	path = path_of(ctrl, nsid);
	if (path && nof_head_matches(path->head, ctrl, format)) {
		head = path->head;
		wide = !nof_head_removing(head) && nof_head_too_wide(head, ctrl, format);
	} else {
		head = attach_find_head(ctrl, nsid, format, &refusal);
		wide = refusal == NOF_REFUSED_TOO_NARROW;
	}
	if (head && wide)
		found = nof_head_pin(head);
	mutex_unlock(&s->lock);
	return found;
}

/* Called before the head is examined under subsys->lock, because this waits */
static enum nof_refusal attach_make_room(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head = attach_too_wide(ctrl, nsid, format);
	enum nof_refusal refusal = NOF_ATTACHED;

	if (head) {
		refusal = nof_head_narrow(head, ctrl, format);
		nof_head_unpin(head);
	}
	return refusal;
}

/* Updates an existing path; @fits: it can keep the limits of the disk */
static void attach_update(struct nof_path *path, const struct nof_ns_format *format, u32 association, bool fits)
{
	bool moved = path->ana_group != format->ana_group, changed = moved || path->association != association;
	enum nof_unfit unfit = fits ? NOF_FIT : nof_path_unfit(path);

	path->seen = true;
	path->association = association;
	nof_head_update_effects(path->head);
	if (moved) {
		path->ana_group = format->ana_group;
		nof_ana_set(path, nof_ana_state_of(path->ctrl, path->ana_group));
		nof_ana_look_for(path->ctrl, path->ana_group);
	}
	if (changed || path->unfit != unfit) {
		WRITE_ONCE(path->unfit, unfit);
		nof_head_publish(path->head);
		nof_path_event_later(path, NVMEOF_EVENT_STATE);
	}
	nof_head_widen_later(path->head);
	if (fits && nof_head_resize(path->head, format))
		nof_paths_rescan_refused(path->ctrl->subsys);
}

static enum nof_refusal attach_or_update(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
					 u32 association, const char **text)
{
	enum nof_refusal room = attach_make_room(ctrl, nsid, format), refusal = room;
	struct nof_subsys *s = ctrl->subsys;
	struct nof_path *path;
	bool same = false;

	mutex_lock(&s->lock);
	path = path_of(ctrl, nsid);
	if (path)
		same = nof_head_matches(path->head, ctrl, format) && !nof_head_removing(path->head);
	if (same)
		attach_update(path, format, association, !room);
	mutex_unlock(&s->lock);
	if (same) {
		nof_head_apply_size(path->head);
		/* its disk could not be added when a path became usable: try again */
		if (!refusal && !test_bit(NOF_HEAD_ADDED, &path->head->flags))
			refusal = attach_show(path->head, text);
		if (!refusal && format->zone_blocks && path->head->format.nlbas != format->nlbas)
			refusal = NOF_REFUSED_ZONE_COUNT;
		return refusal;
	}
	/*
	 * another namespace now: nothing more may be written through the old disk; or the disk of the head could not be
	 * added
	 */
	if (path) {
		path->removal = NOF_REMOVAL_REPLACED;
		nof_path_remove(path, false);
	}
	if (room && room != NOF_REFUSED_BUSY)
		return room;
	/* the disk could not be narrowed now: the path may join all the same */
	refusal = attach_new(ctrl, nsid, format, association, text);
	return room && refusal == NOF_REFUSED_TOO_NARROW ? room : refusal;
}

static enum nof_refusal path_attach(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
				    u32 association, const char **text)
{
	enum nof_refusal refusal;

	*text = NULL;
	refusal = attach_or_update(ctrl, nsid, format, association, text);
	*text = *text ?: refusals[refusal];
	return refusal;
}

/*
 * The namespace exists in the association that begins: its path may be used if it is still the same namespace.
 * @association: number before @format was read
 */
static void path_confirm(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association)
{
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	path = path_of(ctrl, nsid);
	if (path && nof_head_matches(path->head, ctrl, format))
		path->association = association;
	mutex_unlock(&ctrl->subsys->lock);
}

const struct nof_paths_ops nof_paths = {
	.max_heads	= nof_head_max,
	.head_allowed	= nof_head_wanted,
	.attach		= path_attach,
	.keep		= path_keep,
	.next_nsids	= paths_next_nsids,
	.confirm	= path_confirm,
	.scan_begin	= paths_scan_begin,
	.remove_unseen	= paths_remove_unseen,
	.remove		= paths_remove,
	.drop_held	= paths_drop_held,
	.event		= nof_paths_event,
};
