/* SPDX-License-Identifier: GPL-2.0-only */
/* A path: a namespace as reached through one controller. */
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
#include "mpath/degrade.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/latency.h"
#include "mpath/path_stats.h"
#include "wire/identify.h"

struct nof_ctrl;
struct nof_failover;
struct nof_head;
struct nof_ns;
struct nof_subsys;

/* How a path falls short of the limits of its disk */
enum nof_unfit {
	NOF_FIT,
	NOF_UNFIT_LESS,		/* it cannot carry some requests that the limits allow */
	NOF_UNFIT_CACHE,	/* it has a volatile write cache, but the disk reports none: nothing would flush it */
};

/* Why a path is removed */
enum nof_removal {
	NOF_REMOVAL_CTRL,		/* its controller is deleted or LOST */
	NOF_REMOVAL_DEALLOCATED,	/* the controller no longer has the namespace */
	NOF_REMOVAL_REPLACED,		/* the NSID now names another namespace */
};

/**
 * struct nof_path - (controller, namespace)
 * @kobj:	/sys/block/nvmeof0n1/paths/nvmeof0c1n1; its reference count is the path's
 * @ctrl:	holds a reference
 * @head:	holds a reference
 * @entry:	in head->paths, under subsys->lock
 * @nr:		position in that list, from nof_topology_changed()
 * @association: ctrl->association in which the namespace was last verified; the path gets I/O only while both are equal
 * @usable:	as last published
 * @ana_since:	CLOCK_BOOTTIME, ns: when @ana_state began; nof_ana_restart_timers() restarts it for a change
 * @ana_expired: in ANA change state for longer than ANATT: requests do not wait for the path
 * @health:	state of mpath/degrade.c
 * @failover:	counts requests that failed over from this path
 * @degraded:	out of use as an outlier, see mpath/degrade.c; under subsys->lock
 * @on_trial:	as last published: degraded or on probation, so its requests are trials
 * @pending:	events not sent yet, see mpath/events.h
 * @probe_at:	jiffies; no CPU sends another probe to this degraded path before
 * @active:	a request came off the path since mpath/degrade.c last evaluated it
 * @sel:	private to the selector, see mpath/selector.h
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
	bool			ana_refused;	/* got an ANA status that the log does not explain yet, see ana.c */
	u8			ana_refusals;	/* times in a row that the log did not explain it */
	unsigned long		ana_refusal_at;	/* jiffies of the last time */
	enum nvmeof_ana_state	ana_was;	/* @ana_state before the log was read, see ana_work() */
	u64			ana_since;
	bool			ana_expired;
	bool			usable;
	bool			degraded;
	bool			on_trial;
	struct nof_pending_events pending;
	bool			active;
	unsigned long		probe_at;
	struct nof_path_health	health;
	atomic64_t		sel;
	struct nof_failover	*failover;
	struct nof_path_lat	*lat;
	bool			seen;		/* by the current scan; under ctrl->scan.lock */
	enum nof_removal	removal;	/* likewise */
	enum nof_unfit		unfit;		/* how it falls short of the limits of the disk */
	u8			class;		/* enum path_class as last published, see mpath/path_set.c */
	bool			away;		/* as last published: no request is sent until the ANA log was read */
	unsigned long		watched_at;	/* jiffies when others_complete() last looked, with @watched_ios */
	u64			watched_ios;
	atomic_t		aborts;
	struct list_head	leaving;	/* in the list of remove_all() */
	struct work_struct	remove_work;
	bool			graceful;
	bool			shown;		/* added to sysfs, or that failed; under subsys->lock */
	char			name[NVMEOF_NAME_MAX + 1];
	struct nof_path_stats __percpu *stats;
};

/**
 * struct nof_path_set - the paths of a head, sorted by class; immutable, freed after an SRCU grace period
 * @srcu:		that of the subsystem
 * @nr_best:		paths of the best class that is not empty; the selector chooses among these
 * @nr_optimized:	@paths[0..nr_optimized) are optimized
 * @nr:			@paths[nr_optimized..nr) are non-optimized
 * @nr_unsuspected:	@paths[nr..nr_unsuspected) are degraded, of either kind: for probes, or if there is nothing
 *		better
 * @nr_usable:		@paths[nr_unsuspected..nr_usable) are suspect; or the last resort, see fill_set()
 * @nr_all:		@paths[nr_usable..nr_all) carry I/O but get no new requests: earlier ones are still to be
 *		committed and polled
 * @may_wait:		a path may become usable again: a request without a path waits instead of failing
 */
struct nof_path_set {
	struct rcu_head		rcu;
	struct srcu_struct	*srcu;
	u16			nr_best;
	u16			nr_optimized;
	u16			nr;
	u16			nr_unsuspected;
	u16			nr_usable;
	u16			nr_all;
	bool			may_wait;
	struct nof_path		*paths[] __counted_by(nr_all);
};

/* Takes references as nof_head_pin() does, and one on the path */
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

/* Finds a path by name and pins it; NULL if there is none. Context: process */
struct nof_path *nof_path_find(const char *name);
/* An outlier, on probation, or suspect: gets no I/O except probes while a better path is usable */
static inline bool nof_path_degraded(const struct nof_path *path)
{
	return READ_ONCE(path->on_trial) || READ_ONCE(path->ctrl->suspect);
}

/* A request on this path got an ANA status that the ANA log does not explain yet. Any context. */
static inline bool nof_ana_refuses(const struct nof_path *path)
{
	return READ_ONCE(path->ana_refused) && nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_LIVE;
}

const char *nof_ana_state_name(enum nvmeof_ana_state state);

void nof_path_ktype_init(void);

/*
 * Suspends I/O to namespace @nsid (NVME_NSID_ALL or 0: to all), because a command may change its format or identifiers,
 * and waits for outstanding requests. The caller must call nof_paths_resume() afterwards, also after an error. A path
 * gets I/O again when its controller has scanned after that. Returns 0, -EBUSY when the wait takes too long, or -EINTR
 * when killed. Context: process, sleeps.
 */
int nof_paths_suspend(struct nof_subsys *s, u32 nsid);
/* Ends what nof_paths_suspend() began, whether or not the command was sent, and starts scans. */
void nof_paths_resume(struct nof_subsys *s, u32 nsid);
/* Starts a scan on each live controller, in the background. */
void nof_paths_rescan_all(struct nof_subsys *s);
/* Sends an event for each path of the controller, in the background. Context: process */
void nof_paths_event(struct nof_ctrl *ctrl, enum nvmeof_event event);
/* The same; caller holds subsys->lock. */
void nof_paths_event_locked(struct nof_ctrl *ctrl, enum nvmeof_event event);
/* Starts a scan on each controller with a path to the head. Context: process. */
void nof_paths_rescan(struct nof_head *head);
void nof_path_remove(struct nof_path *path, bool graceful);
/* The disk stays for delayed_removal_secs if this path, its last one, is removed now. */
bool nof_path_disk_lingers(const struct nof_path *path);
/* How a path that does not fit its disk falls short; caller holds subsys->lock. */
enum nof_unfit nof_path_unfit(const struct nof_path *path);
/* A path that does not fit its disk can carry this request. Context: SRCU read side. */
bool nof_path_can(const struct nof_path *path, const struct request *rq);
/* As in struct nof_mpath_ops */
void nof_paths_publish(struct nof_ctrl *ctrl);
/* Rescans controllers with refused namespaces after a path that may be the cause has gone or changed */
void nof_paths_rescan_refused(struct nof_subsys *s);
void nof_paths_rescan_locked(struct nof_head *head);

#endif
