/* SPDX-License-Identifier: GPL-2.0-only */
/* What it costs that requests have to leave a path: counted until all of them are done, then told as one event. */
#ifndef NOF_MPATH_FAILOVER_H
#define NOF_MPATH_FAILOVER_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <uapi/linux/nvmeof.h>

struct nof_head;
struct nof_past;
struct nof_path;
struct nof_request;

/**
 * struct nof_failover - of one path; outlives it until the last request that has left it is done
 * @entry:	in head->failovers.list
 * @pending:	requests that left the path and are not done yet
 * @moved:	requests since it was last told
 * @longest_ns:	from when one of them was first sent until it was done
 * @orphan:	the path is gone
 */
struct nof_failover {
	struct list_head	entry;
	u32			pending;
	u32			moved;
	u64			longest_ns;
	bool			orphan;
	char			from[NVMEOF_NAME_MAX + 1];
};

/* Of one head. @lock protects @list and all in it; slow paths only */
struct nof_failovers {
	spinlock_t		lock;
	struct list_head	list;
	struct work_struct	work;
};

void nof_failovers_init(struct nof_head *head);
/* No event is under way. Process context, sleeps; all requests are done. */
void nof_failovers_exit(struct nof_head *head);
/* A path begins, with its memory in path->failover. Process context. */
void nof_failover_add(struct nof_path *path);
/* A path is freed. */
void nof_failover_del(struct nof_path *path);
/* The request leaves @path for another. Any context. */
void nof_failover_begin(struct nof_request *req, struct nof_path *path);
/* A request that has a failover is done. Any context. */
void nof_failover_end(struct nof_head *head, struct nof_past *past);

#endif
