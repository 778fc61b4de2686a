/* SPDX-License-Identifier: GPL-2.0-only */
/* A subsystem as one host sees it: the controllers and namespaces that belong together, and the tags they share. */
#ifndef NOF_CORE_SUBSYS_H
#define NOF_CORE_SUBSYS_H

#include <linux/blk-mq.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>
#include <uapi/linux/nvmeof.h>
#include "core/numbers.h"

struct nof_selector;
struct netlink_ext_ack;

/**
 * struct nof_policy - how the heads of a subsystem use their paths; written under subsys->lock with WRITE_ONCE(), read
 * anywhere
 * @spill_us:	expected latency of every optimized path, microseconds, above which non-optimized ones join in; 0: off
 * @spill_depth: likewise commands outstanding on the queue of the submitting hardware context; 0: off
 * @degrade:	a path that is an outlier in latency or errors is left out until it proves itself
 * @fencing:	enum nvmeof_fencing
 * @quiesce_tmo: seconds that stand for a Command Quiesce Time which a controller does not report, see mpath/fence.c
 * @delayed_removal_secs: how long a head stays after its last path, other than by a disconnect on request
 */
struct nof_policy {
	u32	spill_us;
	u32	spill_depth;
	u32	delayed_removal_secs;
	u32	quiesce_tmo;
	bool	degrade;
	u8	fencing;
};

/**
 * struct nof_subsys - one per (subsystem NQN, host NQN, host ID)
 * @dev:	/sys/class/nvmeof-subsystem/nvmeof0; its reference count is the subsystem's. Each controller and head
 *		holds one
 * @entry:	in the global list
 * @nr:		place in that list: nof_topology_changed() when it came
 * @id:		the 0 of nvmeof0
 * @users:	controllers and heads that keep it visible, under nof_subsystems_lock
 * @lock:	protects @ctrls, @heads, the paths of every head and their ANA states, @selector. Never
 *		held over a network wait or I/O
 * @srcu:	read side: everyone who hands a command to a queue, or looks at a path set. A queue, path or path set is
 *		freed after synchronize_srcu()
 * @selector_gen: generation of @selector, never 0: a request ends in the selector only if its generation is current
 * @policy:	how paths are used; the selector is apart, because it may be in another module
 * @health_work: looks for outliers while @policy.degrade, see mpath/health.c
 * @events_work:	tells of disks and paths, @event_heads and @event_paths under @lock, see mpath/events.c
 * @events_lock:	what is told of one is told in its order; outer to @lock
 * @fences:	associations whose requests are held back, see mpath/fence.c; under @fence_lock
 * @changing:	commands under way that may change namespaces, under @lock; @changing_nsid: of which, 0 for any
 * @waiting:	tags of requests that wait for a path, or are held by a fence
 * @tags:	tag set of all heads, made by the first connect
 */
struct nof_subsys {
	struct device		dev;
	struct list_head	entry;
	u64			nr;
	u32			id;
	u32			users;
	char			nqn[NVMEOF_NQN_MAX + 1];
	char			hostnqn[NVMEOF_NQN_MAX + 1];
	u8			hostid[NVMEOF_HOSTID_LEN];

	struct mutex		lock;
	struct list_head	ctrls;
	struct list_head	heads;
	u32			nr_ctrls;
	u32			nr_heads;
	struct ida		ctrl_ids;
	struct nof_number	*number;	/* @id, and within it those of heads */
	struct nof_selector __rcu *selector;	/* SRCU */
	u16			selector_gen;		/* raised with each change of it */
	struct nof_policy	policy;
	struct delayed_work	health_work;
	struct mutex		events_lock;
	struct list_head	event_heads;
	struct list_head	event_paths;
	struct work_struct	events_work;
	spinlock_t		fence_lock;
	struct list_head	fences;

	struct srcu_struct	srcu;
	struct mutex		tags_lock;	/* making @tags; no other lock is taken inside */
	struct blk_mq_tag_set	tags;
	struct request_queue	*idle_queue;	/* see mpath/subsys.c */
	bool			tags_ready;
	u32			changing;
	u32			changing_nsid;
	atomic_t		waiting;
	u32			nr_default;	/* hardware contexts that are not polled */
	u32			nr_poll;

	char			model[41];
	char			serial[21];
	char			firmware[9];
	bool			identified;
};

static inline struct nof_subsys *to_nof_subsys(struct device *dev)
{
	return container_of(dev, struct nof_subsys, dev);
}

static inline const char *nof_subsys_name(const struct nof_subsys *s)
{
	return dev_name(&s->dev);
}

static inline struct nof_subsys *nof_subsys_get(struct nof_subsys *s)
{
	get_device(&s->dev);
	return s;
}

static inline void nof_subsys_put(struct nof_subsys *s)
{
	put_device(&s->dev);
}

/* The list of all subsystems, and its lock: outer to every subsys->lock. For walks in control/. */
extern struct list_head nof_subsystems;
extern struct mutex nof_subsystems_lock;
/*
 * Raised under nof_subsystems_lock or a subsys->lock whenever any object appears or goes; for
 * genl_dump_check_consistent().
 */
extern atomic64_t nof_topology_seq;

/* Never the same number twice, so objects that are added at the end of a list with it are in the order of these. */
static inline u64 nof_topology_changed(void)
{
	return atomic64_inc_return(&nof_topology_seq);
}

/*
 * Each subsystem, with its lock held in the body of the loop, and nof_subsystems_lock from the first to the last: not
 * to be left by break or return. nof_subsys_next_lock() is for this loop alone.
 */
#define nof_for_each_subsys(s)						\
	for (s = nof_subsys_next_lock(NULL); s; s = nof_subsys_next_lock(s))
struct nof_subsys *nof_subsys_next_lock(struct nof_subsys *s);

/* By number, with a reference; NULL if none. */
struct nof_subsys *nof_subsys_find(u32 id);
/* The names of those that were. None is left. */
void nof_subsystems_forget(void);
/* Below: between the files of the core. */
/*
 * The subsystem of these names, made if need be, with one more user: it stays visible until nof_subsys_leave(). -EINVAL
 * with a message when the host NQN is in use with another host ID or the reverse (NVMe Base 2.0, 3.1.1: they name one
 * host).
 */
struct nof_subsys *nof_subsys_join(const char *nqn, const char *hostnqn, const u8 *hostid,
				   struct netlink_ext_ack *extack);
void nof_subsys_enter(struct nof_subsys *s);
void nof_subsys_leave(struct nof_subsys *s);

#endif
