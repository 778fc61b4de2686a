/* SPDX-License-Identifier: GPL-2.0-only */
/* A namespace as applications see it: one disk over all paths. */
#ifndef NOF_MPATH_HEAD_H
#define NOF_MPATH_HEAD_H

#include <linux/blkdev.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/workqueue.h>
#include "compat/limits.h"
#include "core/cmd.h"
#include "mpath/events.h"
#include "mpath/failover.h"
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
	NOF_HEAD_NEW,		/* its disk is not shown: it is about to be, or that has failed */
	NOF_HEAD_HIDDEN,	/* the disk comes when a path is usable for the first time */
	NOF_HEAD_VISIBLE,
	NOF_HEAD_LINGERING,	/* no path left, but kept for delayed_removal_secs: I/O waits */
	NOF_HEAD_REMOVING,	/* its last path is going: no other may join */
	NOF_HEAD_GONE,		/* its queue takes no I/O any more */
};

enum nof_head_flag {
	NOF_HEAD_ADDED,		/* the disk was made visible; stays set to the end of the head */
	NOF_HEAD_UNHELD,	/* going: fencing ends its requests instead of holding them. Under subsys->fence_lock */
	NOF_HEAD_UNREAD,	/* its partition table was not read, as no path is usable. Under subsys->lock */
	NOF_HEAD_CLAIMED,	/* it is the disk of its identifiers; set under nof_subsystems_lock */
	NOF_HEAD_RESIZED,	/* its disk has to get another size or write protection. Under subsys->lock */
};

/**
 * struct nof_head - namespace head, nvmeof0n1
 * @ref:	held by each path, by the disk until free_disk(), and by whoever looks
 * @subsys:	holds a reference
 * @entry:	in subsys->heads, under subsys->lock
 * @nr:		place in that list, see nof_topology_changed()
 * @id:		the n1 of nvmeof0n1; 0 before nof_head_enlist()
 * @number:	the memory of @id
 * @state:	enum nof_head_state, read with nof_head_state()
 * @format:	capacity, block size, identifiers: what every path has to agree on; under subsys->lock
 * @limits:	of the disk: what all its paths can do; changed while its queue is frozen
 * @zone_fault:	what is wrong with its zones, as far as a report of them was read; under show_lock
 * @set:	usable paths, SRCU (subsys->srcu); replaced under subsys->lock
 * @set_seq:	raised after each replacement of @set
 * @paths:	all paths, under subsys->lock
 * @paths_dir:	sysfs directory
 * @effects:	of I/O commands: what is so by all its paths. Written under subsys->lock, an entry at a time
 * @generic:	its generic node, for as long as the disk is visible; @generic_opens: how often it is open
 * @waiting:	requests that wait for a path
 * @parking:	of these, those that have given their tags up
 * @held:	requests held back by fencing, under subsys->fence_lock
 * @show_lock:	making the disk and its paths visible; outer to subsys->lock
 * @show_work:	does so, for one that was hidden
 * @part_work:	reads the partition table
 * @nuse:	blocks in use as last identified; @nuse_at: jiffies of the last time for a reader, 0 for never
 * @narrow_lock: one change of @limits at a time; outer to subsys->lock. @limits are written with both held
 * @reserve_lock: one change of reservations at a time; held until the outcome of the command is known
 * @reserve_others: changes of reservations that were done by passthrough, which takes no @reserve_lock
 * @next_narrow: jiffies; not before, as requests under way did not end the last time; under @narrow_lock
 * @widen_work:	see nof_head_widen_later()
 * @failovers:	of its paths, see mpath/failover.h
 * @removal_work: ends delayed_removal_secs, at @removal_at (jiffies)
 * @none_since:	CLOCK_BOOTTIME, ns, since when no path is usable that can do all; 0 while one is. Under subsys->lock
 * @again_work:	sends requests again that have no other path than the one that answered with an error
 * @again_at:	jiffies, when it does; under @again_lock
 * @alerts, @pending: of its paths and of itself, see mpath/events.h
 * @expiry_work: looks again at what may come back, when nothing is usable and time runs out for some path
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
	struct mutex		narrow_lock;
	struct mutex		reserve_lock;
	atomic_t		reserve_others;
	unsigned long		next_narrow;
	struct delayed_work	widen_work;
	u32			held;
	struct nof_failovers	failovers;
	struct mutex		show_lock;
	struct work_struct	show_work;
	struct work_struct	part_work;
	u64			nuse;
	unsigned long		nuse_at;
	struct delayed_work	removal_work;
	unsigned long		removal_at;
	struct delayed_work	expiry_work;
	struct delayed_work	again_work;
	spinlock_t		again_lock;
	unsigned long		again_at;
	u64			none_since;
	struct nof_path_alerts	alerts;
	struct nof_pending_events pending;
};

/* Of the driver's own: whether it goes again when it is lost or comes back with an error that is worth another try */
enum nof_again {
	NOF_AGAIN_NEVER,	/* its sender knows what it means */
	NOF_AGAIN_UNSENT,	/* while nobody can have executed it; else it waits for its fence, and ends */
	NOF_AGAIN_ALWAYS,	/* like any request */
};

/**
 * struct nof_request - a request of a head's queue; struct nof_cmd first, as blk_mq_rq_to_pdu() gives it
 * @path:	where it was sent last; valid while outstanding
 * @sent_ns:	monotonic time of the last start
 * @first_ns:	of the first one, valid once it has moved
 * @again_at:	jiffies; not before to the path that @left names; 0 for at once
 * @since:	jiffies when it came
 * @taken_back:	from a target that did not answer: not a second time, or where all take long it would never end
 * @told_when:	@again_at is what the controller has asked for: it counts for any path
 * @only:	of passthrough: number of the controller that has to take it; 0 for any
 * @odd:	any of the following, which few requests have: submit_odd() looks which
 * @left:	number of the controller that it goes again from, 0 for none
 * @zone:	enum nof_zone_step, of what is in doubt about it: see mpath/zones.h
 * @lost:	it may have been executed and must not be repeated: it ends instead of being sent again
 * @waiting:	counted in head->waiting
 * @bound:	of passthrough: @only is set
 * @moved:	because of the path, not for any other error
 * @hasty:	of passthrough: fails where there is no path, and waits for none
 * @again:	of a command of the driver's own (REQ_DRV), see mpath/command.h: enum nof_again
 * @trial:	chosen as the probe of a path that is degraded or on probation, see choose_probe()
 * @ran:	of passthrough: it was sent, and lost without an answer, at least once
 * @ranges:	of a discard of several, see mpath/ranges.h
 * @gpu:	its data are in a GPU's memory, whoever may still know
 * @failover:	of the path it left first, NULL for none
 * @gen:	subsys->selector_gen when selector->start() was called, 0 when it was not
 * @retries:	error completions so far, over all paths
 * @losses:	connections lost under it so far, up to NOF_MAX_LOSSES
 * @lost_at:	jiffies of the first of these losses
 * @timeouts:	tries so far that ended with an Abort: each has twice the time of the one before
 * @periods:	time limits that have passed in this one
 * @aborted:	an Abort was sent for it on this path
 */
struct nof_request {
	struct nof_cmd		cmd;
	struct nof_path		*path;
	u64			sent_ns;
	unsigned long		again_at;
	struct nvme_dsm_range	*ranges;
	u32			only;
	bool			hasty;
	u8			again;
	/* what it has behind it, and keeps when it gives its tag up: see mpath/park.h */
	struct_group_tagged(nof_past, past,
		struct nof_failover	*failover;
		u64			first_ns;
		unsigned long		since;
		unsigned long		lost_at;
		u8			retries;
		u8			losses;
		u8			timeouts;
		bool			moved;
		bool			gpu;
	);
	union {
		struct {
			u32	left;
			u8	zone;
			bool	waiting;
			bool	lost;
			bool	bound;
		};
		u64		odd;
	};
	/* of its tries; all 0 at the first one */
	struct_group(tries,
		u16		gen;
		u8		periods;
		bool		aborted;
		bool		told_when;
		bool		taken_back;
		bool		trial;
		bool		ran;
	);
};

static_assert(offsetof(struct nof_request, gen) - offsetof(struct nof_request, odd) == sizeof(u64));

static inline const char *nof_head_name(const struct nof_head *h)
{
	return h->disk->disk_name;
}

static inline enum nof_head_state nof_head_state(const struct nof_head *head)
{
	return READ_ONCE(head->state);
}

/* Its last path is going, or gone */
static inline bool nof_head_ends(const struct nof_head *head)
{
	return nof_head_state(head) >= NOF_HEAD_REMOVING;
}

/* With its disk, which may go before it: while the head is in the list of its subsystem, under subsys->lock */
static inline struct nof_head *nof_head_pin(struct nof_head *head)
{
	kref_get(&head->ref);
	get_device(disk_to_dev(head->disk));
	return head;
}

/* Every path of a subsystem, under subsys->lock. Two loops in one: not to be left by "break". */
#define nof_for_each_path(subsys, head, path)				\
	list_for_each_entry(head, &(subsys)->heads, entry)		\
		list_for_each_entry(path, &(head)->paths, entry)

/* False, and nothing is changed, where that state cannot follow. Under subsys->lock */
bool nof_head_set_state(struct nof_head *head, enum nof_head_state to);
/* By disk name, as nof_head_pin(); NULL if none. */
struct nof_head *nof_head_find(const char *name);
void nof_head_put(struct nof_head *head);
void nof_head_unpin(struct nof_head *head);
/* One that an admin command of this disk's can go to, best one with a usable path; with a reference, or NULL. */
struct nof_ctrl *nof_head_live_ctrl(struct nof_head *head);
/* Bytes */
u64 nof_head_size(const struct nof_head *head);
u32 nof_head_nr_usable(struct nof_head *head);

/* Disks that a subsystem may have, whatever its target offers */
u32 nof_head_most(void);
/* A disk has this namespace ID, or there may be one more: otherwise it need not be asked for. Context: process. */
bool nof_head_wanted(struct nof_subsys *s, u32 nsid);

/* Below: for the files of mpath/ */
/* Another subsystem has a disk with one of these identifiers, and that is not allowed. Context: process, sleeps. */
bool nof_duplicate_refused(const struct nof_subsys *s, u32 nsid, const struct nof_ns_ids *ids);
struct nof_head *nof_head_create(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format);
/* Under subsys->lock, when paths have changed or what their controllers tell */
void nof_head_join_effects(struct nof_head *head);
/* Under subsys->lock; -ENOSPC when there are nof_head_most(), -ENOMEM. */
int nof_head_enlist(struct nof_head *head);
/*
 * Makes the disk visible, and its paths, if one is usable or has been before; else it will be when one is. Nobody shall
 * wait for a disk that cannot be read. 0, or a negative errno. Context: process, sleeps.
 */
int nof_head_show(struct nof_head *head);
/* By publishing a set with a usable path; caller holds subsys->lock. */
void nof_head_show_later(struct nof_head *head);
/* What @head could promise if this were its only path; NULL: a new disk */
void nof_head_fill_limits(const struct nof_ctrl *ctrl, const struct nof_ns_format *f, const struct nof_head *head,
			  struct nof_limits *lim);
/* Protection information that the host has made, or checks, can be transferred with the blocks by this controller. */
bool nof_carries_pi(const struct nof_ctrl *ctrl, const struct nof_ns_format *f);
/*
 * What is read of a namespace now is what the disk was made for: in block size and identifiers, of which some may not
 * be told any more. Without any it is by NSID, serial number and model.
 */
bool nof_head_is(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format);
/* A path of this controller cannot do all that the disk promises */
bool nof_head_too_wide(const struct nof_head *head, const struct nof_ctrl *ctrl, const struct nof_ns_format *format);
/*
 * Makes the disk promise less, so that a path of this controller can join: its queue is frozen for that. Sleeps until
 * what is under way is done, for a bounded time and while the controller is live; without locks. NOF_ATTACHED: done.
 * NOF_REFUSED_BUSY: it may work at another time, but not before four times as long as it has waited.
 */
enum nof_refusal nof_head_narrow(struct nof_head *head, const struct nof_ctrl *ctrl,
				 const struct nof_ns_format *format);
/*
 * Under subsys->lock: a path has left, or can do more than before. If all that are there can do more than the disk
 * promises, it promises that in a while: when its queue can be frozen for it in short time.
 */
void nof_head_widen_later(struct nof_head *head);
void nof_head_widen_work(struct work_struct *work);
/* Under subsys->lock: its last path goes, and it stays for delayed_removal_secs. A path that joins ends that. */
void nof_head_linger(struct nof_head *head);
/* One that lingers does so for that long from now. */
void nof_head_linger_until(struct nof_head *head, u32 secs);
/* Lingering ends now, with the removal of the disk; of all heads, and waits until that is done. */
void nof_heads_end_linger(void);
/*
 * Takes down capacity (but for zoned disks, which have as many zones as they were made with) and write protection as
 * read now; true when they were others. Under subsys->lock; nof_head_apply_size() has to follow.
 */
bool nof_head_resize(struct nof_head *head, const struct nof_ns_format *format);
/*
 * Gives the disk what nof_head_resize() has taken down. That sends uevents, under a mutex of the kernel's whose owner
 * may be writing to one of our disks for memory: no lock is held that recovery needs. Context: process, sleeps.
 */
void nof_head_apply_size(struct nof_head *head);
/* Requests that wait for a path are sent again no more; in state GONE. */
void nof_head_end_kicks(struct nof_head *head);
void nof_head_remove(struct nof_head *head);
void nof_head_delist(struct nof_head *head);
void nof_head_drop(struct nof_head *head);
/* If that was put off until a path is usable; caller holds subsys->lock. */
void nof_head_read_partitions(struct nof_head *head);
/* New path set; caller holds subsys->lock. */
void nof_head_publish(struct nof_head *head);

#endif
