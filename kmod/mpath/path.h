/* SPDX-License-Identifier: GPL-2.0-only */
/* A path: one controller's way to one namespace. */
#ifndef NOF_MPATH_PATH_H
#define NOF_MPATH_PATH_H

#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <uapi/linux/nvmeof.h>
#include "core/identify.h"

struct nof_ctrl;
struct nof_head;
struct nof_subsys;

/* Per CPU, written on the hot path without locks */
struct nof_path_stats {
	u64	ios;
	u64	bytes_read;
	u64	bytes_written;
	u64	errors;
	u64	retries;
};

/**
 * struct nof_path - (controller, namespace)
 * @kobj:	/sys/block/nvmeof0n1/paths/nvmeof0c1n1; its reference count is the path's
 * @ctrl:	holds a reference
 * @head:	holds a reference
 * @entry:	in head->paths, under subsys->lock
 * @ctrl_entry:	in the controller's list while scanning; under subsys->lock
 * @usable:	as last published
 */
struct nof_path {
	struct kobject		kobj;
	struct nof_ctrl		*ctrl;
	struct nof_head		*head;
	struct list_head	entry;
	u32			nsid;
	u32			ana_group;
	enum nvmeof_ana_state	ana_state;
	enum nvmeof_ana_state	ana_told;	/* by a completion, not yet taken; NONE for nothing */
	bool			usable;
	bool			seen;		/* by the scan going on, under ctrl->scan_lock */
	atomic_t		aborts;
	char			name[NVMEOF_NAME_MAX + 1];
	struct nof_path_stats __percpu *stats;
};

/**
 * struct nof_path_set - the paths a request may take now; immutable, freed after an SRCU grace period
 * @nr_optimized:	@paths[0..nr_optimized) are optimized
 * @nr:			the rest up to here non-optimized
 * @nr_all:		the rest up to here carries I/O but takes none now: what it had before still has to be sent and
 *		polled
 * @may_wait:		some path may come back: a request that finds none waits
 */
struct nof_path_set {
	struct rcu_head		rcu;
	u16			nr_optimized;
	u16			nr;
	u16			nr_all;
	bool			may_wait;
	struct nof_path		*paths[] __counted_by(nr_all);
};

/* Sums the per-CPU counters. */
void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum);
/* Commands outstanding at the controller's queues that belong to this path; slow, for listings only. */
u32 nof_path_inflight(struct nof_path *path);
/* By name, with a reference (kobject_put() it); NULL if none. */
struct nof_path *nof_path_find(const char *name);
const char *nof_ana_state_name(enum nvmeof_ana_state state);

extern const struct attribute_group *nof_path_attr_groups[];	/* control/ */

/* For core/: */
/* Joins the namespace to its head as a path, or takes note of what changed; NULL, or why it is refused. */
const char *nof_path_attach(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format);
bool nof_path_keep(struct nof_ctrl *ctrl, u32 nsid);
void nof_paths_unsee(struct nof_ctrl *ctrl);
void nof_paths_remove_unseen(struct nof_ctrl *ctrl);
/* @graceful: the queues work, so that disks can write back */
void nof_paths_remove(struct nof_ctrl *ctrl, bool graceful);
void nof_path_remove(struct nof_path *path, bool graceful);
void nof_path_set_free(struct rcu_head *rcu);

#endif
