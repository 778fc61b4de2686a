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
 * @spill_us:	non-optimized paths are used, too, once the expected latency of every optimized path exceeds this, in
 *		microseconds; 0: off
 * @spill_depth: likewise for commands outstanding on the queue of the submitting hardware context; 0: off
 * @degrade:	do not use a path that is an outlier in latency or errors until its probes succeed
 * @fencing:	enum nvmeof_fencing
 * @quiesce_tmo: Command Quiesce Time of controllers that do not report one, seconds, see mpath/fence.c
 * @delayed_removal_secs: how long a head stays after its last path was removed, except by a requested disconnect
 */
struct nof_policy {
	u32	spill_us;
	u32	spill_depth;
	u32	delayed_removal_secs;
	u32	quiesce_tmo;
	bool	degrade;
	u8	fencing;
};

enum { NOF_TLS_CONNECTS = 16 };	/* that a subsystem gets at a time */

/**
 * struct nof_subsys - one per (subsystem NQN, host NQN, host ID)
 * @dev:	/sys/class/nvmeof-subsystem/nvmeof0; its reference count is the subsystem's. Each controller and head
 *		holds one
 * @entry:	in nof_subsystems
 * @nr:		position in that list: nof_topology_changed() when it was added
 * @id:		the 0 of nvmeof0
 * @users:	controllers and heads that keep it visible, under nof_subsystems_lock
 * @lock:	protects @ctrls, @heads, the paths of every head and their ANA states, @selector. Never
 *		held over a network wait or I/O
 * @srcu:	read side: submitting a command to a queue, and reading a path set. A queue, path or path set is freed
 *		after a grace period
 * @selector_gen: generation of @selector, never 0: a completion calls the selector only if its request has this one
 * @policy:	how paths are used; @selector is separate because another module may own it
 * @degrade_work: ends probations, and looks for outliers while @policy.degrade is set, see mpath/degrade.c
 * @events_work:	sends the events of @event_heads and @event_paths (under @lock), see mpath/events.c
 * @events_lock:	keeps the events of an object in order; outer to @lock
 * @fences:	associations whose requests are held, see mpath/fence.c; under @fence_lock
 * @changing:	outstanding commands that may change namespaces, under @lock; @changing_nsid: of which, 0 for any
 * @waiting:	tags of requests that wait for a path or are held by a fence
 * @tls_connects: when the places end that connections with TLS have while they are set up, in jiffies; see tcp/tls.c
 * @tags:	tag set of all heads, allocated by the first connect
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
	struct nof_number	*number;	/* of @id; its inner numbers are those of heads */
	struct nof_selector __rcu *selector;	/* SRCU */
	u16			selector_gen;		/* changes with @selector */
	struct nof_policy	policy;
	struct delayed_work	degrade_work;
	struct mutex		events_lock;
	struct list_head	event_heads;
	struct list_head	event_paths;
	struct work_struct	events_work;
	spinlock_t		fence_lock;
	struct list_head	fences;

	struct srcu_struct	srcu;
	struct mutex		tags_lock;	/* allocation of @tags; no other lock is taken inside */
	struct blk_mq_tag_set	tags;
	struct request_queue	*idle_queue;	/* see mpath/subsys.c */
	bool			tags_ready;
	u32			changing;
	u32			changing_nsid;
	atomic_t		waiting;
	atomic_long_t		tls_connects[NOF_TLS_CONNECTS];
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
 * Incremented under nof_subsystems_lock or a subsys->lock whenever an object is added or removed; for
 * genl_dump_check_consistent().
 */
extern atomic64_t nof_topology_seq;

/* Returns a unique, increasing number: objects appended to a list with it are sorted by it. */
static inline u64 nof_topology_changed(void)
{
	return atomic64_inc_return(&nof_topology_seq);
}

/*
 * Iterates over all subsystems with nof_subsystems_lock held; the body also holds s->lock. Must not be left by break or
 * return. nof_subsys_next_lock() is for this macro only.
 */
#define nof_for_each_subsys(s)						\
	for (s = nof_subsys_next_lock(NULL); s; s = nof_subsys_next_lock(s))
struct nof_subsys *nof_subsys_next_lock(struct nof_subsys *s);

/* By number. Returns a reference, or NULL if there is none. */
struct nof_subsys *nof_subsys_find(u32 id);
/* Waits until no subsystem is left. No controller and no open disk may be left. */
void nof_subsystems_wait(void);
/* Frees the numbers remembered for removed subsystems. No subsystem may be left. */
void nof_subsystems_exit(void);
/* Below: for core/ and mpath/. */
/*
 * Finds or creates the subsystem and adds a user: it stays visible until nof_subsys_leave(). Returns ERR_PTR(-EINVAL)
 * with a message if the host NQN is in use with another host ID or the reverse (NVMe Base 2.0, 3.1.1: they identify one
 * host).
 */
struct nof_subsys *nof_subsys_join(const char *nqn, const char *hostnqn, const u8 *hostid,
				   struct netlink_ext_ack *extack);
void nof_subsys_enter(struct nof_subsys *s);
void nof_subsys_leave(struct nof_subsys *s);

#endif
