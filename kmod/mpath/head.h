/* SPDX-License-Identifier: GPL-2.0-only */
/* A namespace head: one disk over all paths to a namespace. */
#ifndef NOF_MPATH_HEAD_H
#define NOF_MPATH_HEAD_H

#include <linux/blkdev.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include "compat/limits.h"
#include "core/cmd.h"
#include "mpath/events.h"
#include "mpath/failover_stats.h"
#include "mpath/park.h"
#include "wire/effects.h"
#include "wire/identify.h"

struct nof_ctrl;
struct nof_generic;
struct nof_path;
struct nof_path_set;
struct nof_subsys;

#define NOF_WWID_SIZE	160

/* Changed by nof_head_set_state() only, under subsys->lock */
enum nof_head_state {
	NOF_HEAD_NEW,		/* disk not visible: it is about to be added, or that has failed */
	NOF_HEAD_HIDDEN,	/* disk is added when a path is usable for the first time */
	NOF_HEAD_VISIBLE,
	NOF_HEAD_LINGERING,	/* no path left, but kept for delayed_removal_secs: I/O waits */
	NOF_HEAD_REMOVING,	/* last path is being removed: no other may join */
	NOF_HEAD_GONE,		/* queue no longer takes I/O */
};

enum nof_head_flag {
	NOF_HEAD_ADDED,		/* disk was added; stays set until the head is freed */
	NOF_HEAD_NO_HOLD,	/* being removed: fencing fails its requests, holds none. Under subsys->fence_lock */
	NOF_HEAD_PARTS_UNREAD,	/* partition table not read because no path was usable. Under subsys->lock */
	NOF_HEAD_CLAIMED,	/* owns its identifiers, see duplicate_ids; set under nof_subsystems_lock */
	NOF_HEAD_RESIZED,	/* disk needs a new size or write protection. Under subsys->lock */
};

/**
 * struct nof_head - namespace head, nvmeof0n1
 * @ref:	held by each path, by the disk until free_disk(), and by callers that use the head
 * @subsys:	holds a reference
 * @entry:	in subsys->heads, under subsys->lock
 * @nr:		position in that list, from nof_topology_changed()
 * @id:		the n1 of nvmeof0n1; 0 before nof_head_enlist()
 * @number:	remembers @id, see core/numbers.h
 * @state:	enum nof_head_state, read with nof_head_state()
 * @format:	capacity, block size, identifiers, on which all paths must agree; under subsys->lock
 * @limits:	of the disk: what all its paths can do; those of its queue change while it is frozen
 * @zone_fault:	why its zones cannot be used, as far as a report of them was read; any report sets it, without a lock
 * @set:	current path set, SRCU (subsys->srcu); replaced under subsys->lock
 * @set_seq:	raised after each replacement of @set
 * @paths:	all paths, under subsys->lock
 * @paths_dir:	sysfs directory
 * @effects:	of I/O commands, as all paths report them. Written under subsys->lock, an entry at a time
 * @generic:	generic node, while the disk is visible; @generic_opens: how often it is open
 * @waiting:	requests that wait for a path
 * @parking:	of these, the ones that gave up their tags
 * @held:	requests held back by fencing, under subsys->fence_lock
 * @show:	the visible disk; @show.lock: making the disk and its paths visible; outer to subsys->lock
 * @show.work:	makes a hidden disk visible; @show.part_work: reads the partition table
 * @nuse:	blocks in use as last identified; @nuse.at: jiffies when sysfs last asked the target, 0 for never
 * @change:	of @limits; @change.lock: one at a time; outer to subsys->lock. @limits are written with both held
 * @change.next: jiffies; the queue is not frozen before, after requests did not end in time; under @change.lock
 * @change.widen_work: see nof_head_widen_later()
 * @reserve.lock: one change of reservations at a time; held until the outcome of the command is known
 * @reserve.passthru_seq: counts reservation commands of passthrough, which does not take @reserve.lock
 * @failovers:	of its paths, see mpath/failover_stats.h
 * @removal:	@removal.work ends delayed_removal_secs, at @removal.at (jiffies)
 * @no_full_path_since:	CLOCK_BOOTTIME, ns: since when no usable path keeps all @limits; 0 while one does. Under
 *		subsys->lock
 * @kick:	@kick.work kicks requests that wait out a delay, at @kick.at (jiffies), which is under @kick.lock
 * @alerts, @pending: of its paths and of itself, see mpath/events.h
 * @expiry_work: publishes a new set when the wait for a path expires, see set_expiry()
 */
struct nof_head {
	struct kref		ref;
	struct nof_subsys	*subsys;
	struct list_head	entry;
	u64			nr;
	u32			id;
	struct nof_number	*number;
	u32			nsid;
	u8			state;
	unsigned long		flags;
	struct gendisk		*disk;
	struct nof_ns_format	format;
	struct nof_limits	limits;
	struct nof_effects	effects;
	u8			lba_shift;
	bool			read_only;
	const char		*zone_fault;
	char			wwid[NOF_WWID_SIZE];

	struct nof_path_set __rcu *set;
	unsigned int		set_seq;
	struct list_head	paths;
	u32			nr_paths;
	struct kobject		*paths_dir;
	struct nof_generic	*generic;
	atomic_t		generic_opens;
	atomic_t		waiting;
	struct nof_parking	parking;
	u32			held;
	struct nof_failovers	failovers;
	struct {
		struct mutex		lock;
		struct work_struct	work;
		struct work_struct	part_work;
	} show;
	struct {
		struct mutex		lock;
		unsigned long		next;
		struct delayed_work	widen_work;
	} change;
	struct {
		struct mutex		lock;
		atomic_t		passthru_seq;
	} reserve;
	struct {
		u64			blocks;
		unsigned long		at;
	} nuse;
	struct {
		struct delayed_work	work;
		unsigned long		at;
	} removal;
	struct {
		struct delayed_work	work;
		spinlock_t		lock;
		unsigned long		at;
	} kick;
	struct delayed_work	expiry_work;
	u64			no_full_path_since;
	struct nof_path_alerts	alerts;
	struct nof_pending_events pending;
};

static inline const char *nof_head_name(const struct nof_head *h)
{
	return h->disk->disk_name;
}

static inline enum nof_head_state nof_head_state(const struct nof_head *head)
{
	return READ_ONCE(head->state);
}

/* Its last path is being removed, or is gone */
static inline bool nof_head_removing(const struct nof_head *head)
{
	return nof_head_state(head) >= NOF_HEAD_REMOVING;
}

/*
 * Takes references on the head and its disk, which may be freed first. The head must stay listed in its subsystem
 * meanwhile, for example because the caller holds subsys->lock.
 */
static inline struct nof_head *nof_head_pin(struct nof_head *head)
{
	kref_get(&head->ref);
	get_device(disk_to_dev(head->disk));
	return head;
}

/* All paths of a subsystem; caller holds subsys->lock. Two nested loops: "break" leaves the inner one only. */
#define nof_for_each_path(subsys, head, path)				\
	list_for_each_entry(head, &(subsys)->heads, entry)		\
		list_for_each_entry(path, &(head)->paths, entry)

/* Returns false and changes nothing if the transition is not allowed. Caller holds subsys->lock. */
bool nof_head_set_state(struct nof_head *head, enum nof_head_state to);
/* Finds a visible disk by name and pins it; NULL if there is none. */
struct nof_head *nof_head_find(const char *name);
void nof_head_put(struct nof_head *head);
void nof_head_unpin(struct nof_head *head);
/* A live controller for an admin command of this disk, if possible with a usable path. With a reference, or NULL. */
struct nof_ctrl *nof_head_live_ctrl(struct nof_head *head);
/* In bytes */
u64 nof_head_size(const struct nof_head *head);
u32 nof_head_nr_usable(struct nof_head *head);

/* Maximum number of disks of a subsystem, whatever its target offers */
u32 nof_head_max(void);
/* A disk has this NSID, or there may be one more: else the namespace is not identified. Context: process. */
bool nof_head_wanted(struct nof_subsys *s, u32 nsid);

/* Below: between the files of mpath/. */
/* A disk of another subsystem has one of these identifiers, and duplicate_ids is off. Context: process, sleeps. */
bool nof_duplicate_refused(const struct nof_subsys *s, u32 nsid, const struct nof_ns_ids *ids);
struct nof_head *nof_head_create(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format);
/* Recomputes @effects after paths, or effects that controllers report, have changed. Caller holds subsys->lock. */
void nof_head_update_effects(struct nof_head *head);
/* 0, -ENOSPC when there are nof_head_max(), or -ENOMEM. Caller holds subsys->lock. */
int nof_head_enlist(struct nof_head *head);
/*
 * Makes the disk and its paths visible if a path is usable or the disk was visible before. Otherwise the disk becomes
 * visible with the first usable path, so that udev never waits for a disk that cannot be read. 0, or a negative errno.
 * Context: process, sleeps.
 */
int nof_head_show(struct nof_head *head);
/* A set with a usable path was published: shows a hidden disk. Caller holds subsys->lock. */
void nof_head_show_later(struct nof_head *head);
/* Limits of @head (NULL: of a new disk) if a path of @ctrl were its only one */
void nof_head_fill_limits(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, const struct nof_head *head,
			  struct nof_limits *lim);
/* The controller can transfer protection information of the host, which the host makes or checks, with the blocks. */
bool nof_carries_pi(const struct nof_ctrl *ctrl, const struct nof_ns_format *f);
/*
 * The namespace that was identified now is the one that the disk was made for: block size, zones, protection
 * information and identifiers agree. The target may no longer report some identifiers. Without any, NSID, vendor,
 * serial number and model decide.
 */
bool nof_head_matches(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format);
/* A path of this controller cannot keep the limits of the disk */
bool nof_head_too_wide(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format);
/*
 * Lowers the limits of the disk, with its queue frozen, so that a path of this controller can join. Waits for
 * outstanding requests, for a bounded time and while the controller is live; caller must not hold subsys->lock. Returns
 * NOF_ATTACHED when done, or NOF_REFUSED_BUSY: the next attempt fails at once for four times as long as this one
 * waited.
 */
enum nof_refusal nof_head_narrow(struct nof_head *head, const struct nof_ctrl *ctrl,
				 const struct nof_ns_format *format);
/*
 * A path has left, or can do more than before. If all paths can do more than the limits of the disk say, raises them
 * later, when the queue can be frozen quickly. Caller holds subsys->lock.
 */
void nof_head_widen_later(struct nof_head *head);
void nof_head_widen_work(struct work_struct *work);
/*
 * The last path is removed: the disk stays for delayed_removal_secs, or until a path joins. Caller holds subsys->lock.
 */
void nof_head_linger(struct nof_head *head);
/* A lingering disk stays for @secs from now. Caller holds subsys->lock. */
void nof_head_linger_until(struct nof_head *head, u32 secs);
/* Removes all lingering disks now, and waits until that is done. */
void nof_heads_end_linger(void);
/*
 * Records capacity (not of zoned disks, which keep their number of zones) and write protection as identified now;
 * returns true if they changed. Caller holds subsys->lock, and calls nof_head_apply_size() after dropping it.
 */
bool nof_head_resize(struct nof_head *head, const struct nof_ns_format *format);
/*
 * Applies what nof_head_resize() recorded. This sends uevents under a mutex of the kernel, whose owner may wait for
 * memory and so for writeback to one of our disks: caller holds no lock that recovery needs. Context: process, sleeps.
 */
void nof_head_apply_size(struct nof_head *head);
/* Stops retrying requests that wait for a path; the head is GONE. */
void nof_head_cancel_kicks(struct nof_head *head);
void nof_head_remove(struct nof_head *head);
void nof_head_delist(struct nof_head *head);
void nof_head_drop(struct nof_head *head);
/* Reads the partition table if that was deferred for lack of a usable path; caller holds subsys->lock. */
void nof_head_read_partitions(struct nof_head *head);
/* Publishes a new path set; caller holds subsys->lock. */
void nof_head_publish(struct nof_head *head);

#endif
