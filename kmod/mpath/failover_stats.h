/* SPDX-License-Identifier: GPL-2.0-only */
/* Failover counters: requests that leave a path are counted until all have completed, then sent as one event. */
#ifndef NOF_MPATH_FAILOVER_STATS_H
#define NOF_MPATH_FAILOVER_STATS_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <uapi/linux/nvmeof.h>

struct nof_head;
struct nof_past;
struct nof_path;
struct nof_request;

/**
 * struct nof_failover - counters of a path; outlive it until all requests that left it have completed
 * @entry:	in head->failovers.list
 * @pending:	requests that left the path and have not completed
 * @moved:	requests that left the path since the last event
 * @longest_ns:	longest time from the first submission of such a request to its completion
 * @orphan:	the path was freed
 */
struct nof_failover {
	struct list_head	entry;
	u32			pending;
	u32			moved;
	u64			longest_ns;
	bool			orphan;
	char			from[NVMEOF_NAME_MAX + 1];
};

/* Failovers of a head. @lock protects @list and its entries; slow paths only */
struct nof_failovers {
	spinlock_t		lock;
	struct list_head	list;
	struct work_struct	work;
};

void nof_failovers_init(struct nof_head *head);
/* Stops the work, sends what is left. All requests have completed. Process context, sleeps. */
void nof_failovers_exit(struct nof_head *head);
/* Initialises path->failover, which the caller has allocated, and lists it. Process context. */
void nof_failover_add(struct nof_path *path);
/* Before @path is freed */
void nof_failover_del(struct nof_path *path);
/* The request leaves @path for another. Any context. */
void nof_failover_begin(struct nof_request *req, struct nof_path *path);
/* A request with a failover has completed. Any context. */
void nof_failover_end(struct nof_head *head, struct nof_past *past);

#endif
