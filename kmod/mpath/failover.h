/* SPDX-License-Identifier: GPL-2.0-only */
/* What moving from one path to others cost a head: counted until all of it is done, then told as one event. */
#ifndef NOF_MPATH_FAILOVER_H
#define NOF_MPATH_FAILOVER_H

#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <uapi/linux/nvmeof.h>

struct nof_head;
struct nof_path;
struct nof_request;

/**
 * struct nof_failover - of one head; a second path lost before the requests of the first are done joins in
 * @lock:	protects the rest; taken on slow paths only
 * @pending:	requests that left their path and are not done yet
 * @moved:	requests in all
 * @longest_ns:	from when one of them was first sent until it was done
 * @from:	the path that was left last
 */
struct nof_failover {
	spinlock_t		lock;
	u32			pending;
	u32			moved;
	u64			longest_ns;
	char			from[NVMEOF_NAME_MAX + 1];
	struct work_struct	work;
};

void nof_failover_init(struct nof_head *head);
/* No event is under way. Process context, sleeps; all requests are done. */
void nof_failover_exit(struct nof_head *head);
/* The request leaves @path for another. Any context. */
void nof_failover_begin(struct nof_request *req, struct nof_path *path);
/* A request that moved is done. Any context. */
void nof_failover_end(struct nof_head *head, struct nof_request *req);

#endif
