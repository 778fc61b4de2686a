/* SPDX-License-Identifier: GPL-2.0-only */
/* A path: one controller's way to one namespace. */
#ifndef NOF_MPATH_PATH_H
#define NOF_MPATH_PATH_H

#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <uapi/linux/nvmeof.h>
#include "core/ctrl.h"
#include "core/upcalls.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/health.h"
#include "mpath/latency.h"
#include "mpath/stats.h"
#include "wire/identify.h"

struct nof_ctrl;
struct nof_failover;
struct nof_head;
struct nof_ns;
struct nof_subsys;

/* Why a path that had joined no longer fits its disk */
enum nof_unfit {
	NOF_FIT,
	NOF_UNFIT_LESS,		/* some requests are too much for it */
	NOF_UNFIT_CACHE,	/* it has a volatile cache, and the disk has promised none: nobody would flush it */
};

/* Why a path is removed */
enum nof_removal {
	NOF_REMOVAL_CTRL,		/* its controller goes */
	NOF_REMOVAL_DEALLOCATED,	/* the controller no longer has the namespace */
	NOF_REMOVAL_REPLACED,		/* the controller has another one in its place */
};

/**
 * struct nof_path - (controller, namespace)
 * @kobj:	/sys/block/nvmeof0n1/paths/nvmeof0c1n1; its reference count is the path's
 * @ctrl:	holds a reference
 * @head:	holds a reference
 * @entry:	in head->paths, under subsys->lock
 * @nr:		place in that list, see nof_topology_changed()
 * @association: of the controller, in which this was last seen to be the namespace that it is: it gets I/O only while
 *		that lasts
 * @usable:	as last published
 * @ana_since:	boot time in ns since when @ana_state holds
 * @ana_expired: in state change for longer than ANATT: not waited for
 * @health:	what health.c remembers
 * @failover:	counts what left it
 * @degraded:	left out by health.c; under subsys->lock
 * @on_trial:	as last published: its requests are trials, degraded or on probation
 * @pending:	to be told, see mpath/events.h
 * @probe_at:	jiffies before which no further probe goes to this degraded path, over all CPUs
 * @active:	something completed on it since health.c last looked
 * @sel:	the selector's own, see mpath/selector.h
 * @lat:	latency by hardware context: written by the receiver of its queue, read by its submitters
 */
struct nof_path {
	struct kobject		kobj;
	struct nof_ctrl		*ctrl;
	struct nof_head		*head;
	struct list_head	entry;
	u64			nr;
	u32			nsid;
	u32			association;
	u32			ana_group;
	enum nvmeof_ana_state	ana_state;
	bool			ana_refused;	/* by a completion; until the log says why, see mpath/ana.c */
	u8			ana_doubts;	/* how often in a row the log did not */
	unsigned long		ana_doubt_at;	/* jiffies of the last */
	enum nvmeof_ana_state	ana_was;	/* before the log was read; see ana_work() */
	u64			ana_since;
	bool			ana_expired;
	bool			usable;
	bool			degraded;
	bool			on_trial;
	struct nof_pending_events pending;
	bool			active;
	unsigned long		probe_at;
	struct nof_health	health;
	atomic64_t		sel;
	struct nof_failover	*failover;
	struct nof_path_lat	*lat;
	bool			seen;		/* by the scan going on, under ctrl->scan.lock */
	enum nof_removal	removal;	/* likewise */
	enum nof_unfit		unfit;		/* cannot do what the disk promises, for now */
	u8			class;		/* as last published, see mpath/path_set.c */
	bool			away;		/* likewise: no request goes there until the ANA log was read */
	unsigned long		watched_at;	/* jiffies when a watch last looked, and I/Os then */
	u64			watched_ios;
	atomic_t		aborts;
	struct list_head	leaving;	/* those that are removed together */
	struct work_struct	remove_work;
	bool			graceful;
	bool			shown;		/* under subsys->lock: its directory was made, or tried to */
	char			name[NVMEOF_NAME_MAX + 1];
	struct nof_path_stats __percpu *stats;
};

/**
 * struct nof_path_set - the paths a request may take now; immutable, freed after an SRCU grace period
 * @srcu:		that of the subsystem
 * @nr_best:		those of the best class that has any: the first to be chosen from
 * @nr_optimized:	@paths[0..nr_optimized) are optimized
 * @nr:			the rest up to here non-optimized
 * @nr_sound:		the rest up to here degraded, of either kind: for probes, and when there is nothing better
 * @nr_usable:		the rest up to here suspect: when there is nothing else; or the last resort, see fill_set()
 * @nr_all:		the rest up to here carries I/O but takes none now: what it had before still has to be sent and
 *		polled
 * @may_wait:		some path may come back: a request that finds none waits
 */
struct nof_path_set {
	struct rcu_head		rcu;
	struct srcu_struct	*srcu;
	u16			nr_best;
	u16			nr_optimized;
	u16			nr;
	u16			nr_sound;
	u16			nr_usable;
	u16			nr_all;
	bool			may_wait;
	struct nof_path		*paths[] __counted_by(nr_all);
};

/* As nof_head_pin() */
static inline struct nof_path *nof_path_pin(struct nof_path *path)
{
	kobject_get(&path->kobj);
	nof_head_pin(path->head);
	return path;
}

static inline void nof_path_unpin(struct nof_path *path)
{
	nof_head_unpin(path->head);
	kobject_put(&path->kobj);
}

/* By name, likewise; NULL if none. */
struct nof_path *nof_path_find(const char *name);
/* Gets no I/O while another path works: it is an outlier, on probation, or suspect */
static inline bool nof_path_degraded(const struct nof_path *path)
{
	return READ_ONCE(path->on_trial) || READ_ONCE(path->ctrl->suspect);
}

/* A request was refused on this path, and the ANA log has not been read since. Any context. */
static inline bool nof_ana_refuses(const struct nof_path *path)
{
	return READ_ONCE(path->ana_refused) && nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_LIVE;
}

const char *nof_ana_state_name(enum nvmeof_ana_state state);

void nof_path_ktype_init(void);

/* For core/: */
/*
 * The namespace (NVME_NSID_ALL or 0: each) may have another format or other identifiers from now on: none of its paths
 * takes I/O before nof_paths_settle(), which has to follow, and before its controller has scanned after that. Waits for
 * what they have: -EBUSY when that takes too long, -EINTR when killed. Context: process, sleeps.
 */
int nof_paths_doubt(struct nof_subsys *s, u32 nsid);
/* Whatever was to change it is over, or was not done: all scan. */
void nof_paths_settle(struct nof_subsys *s, u32 nsid);
/* All controllers that are live do so, in the background. */
void nof_paths_rescan_all(struct nof_subsys *s);
/* Tells of each of the controller's paths, in the background. Context: process */
void nof_paths_event(struct nof_ctrl *ctrl, enum nvmeof_event event);
/* The same, under subsys->lock */
void nof_paths_event_locked(struct nof_ctrl *ctrl, enum nvmeof_event event);
/* Their controllers look again. Context: process. */
void nof_paths_rescan(struct nof_head *head);
void nof_path_remove(struct nof_path *path, bool graceful);
/* The disk would stay for delayed_removal_secs if this path, its last one, were removed now. */
bool nof_path_leaves_disk(const struct nof_path *path);
/* Of one that does not fit: in which way; under subsys->lock */
enum nof_unfit nof_path_unfit(const struct nof_path *path);
/* One that does not fit can do this request all the same. Context: SRCU read side. */
bool nof_path_can(const struct nof_path *path, const struct request *rq);
/* As in struct nof_mpath_ops */
void nof_paths_publish(struct nof_ctrl *ctrl);
/* A path has gone, or has changed, that may have been why others were refused */
void nof_paths_rescan_refused(struct nof_subsys *s);
void nof_paths_rescan_locked(struct nof_head *head);

#endif
