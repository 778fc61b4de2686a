/* SPDX-License-Identifier: GPL-2.0-only */
/* Requeues or fails requests that have left their path. Context: any. */
#ifndef NOF_MPATH_REQUEUE_H
#define NOF_MPATH_REQUEUE_H
#include <linux/blk-mq.h>

struct nof_completed;
struct nof_head;
struct nof_request;

/*
 * A request that is requeued or parked may complete at once, and its disk and head may then go. The removal of the disk
 * waits for this reference on its queue.
 */
static inline struct request_queue *nof_request_queue_get(struct request *rq)
{
	percpu_ref_get(&rq->q->q_usage_counter);
	return rq->q;
}

static inline void nof_request_queue_put(struct request_queue *q)
{
	percpu_ref_put(&q->q_usage_counter);
}

/* Clears REQ_POLLED and REQ_NOWAIT before a retry: no task polls for the request any more, and it may have to wait */
void nof_request_clear_marks(struct request *rq);
/* The request has found a path: no longer counts as waiting */
void nof_request_end_wait(struct nof_head *head, struct nof_request *req);
/* Before the request fails: ends its wait and failover, frees its ranges */
void nof_request_release(struct nof_head *head, struct nof_request *req);
/* Adds the request to blk-mq's requeue list. The caller kicks the list, now or later. */
void nof_request_put_back(struct nof_request *req, struct request *rq);
/*
 * Has blk-mq dispatch a request again that has left its path and is not held by a fence. A passthrough request whose
 * time limit has passed fails instead, with @done.
 */
void nof_request_redispatch(struct nof_request *req, struct nof_completed *done);
/* Likewise, but fails the request, as if its connection had been lost */
void nof_request_fail(struct nof_request *req, struct nof_completed *done);
/* Kicks the requeue list after at most @delay jiffies. Requests with a longer delay are then requeued again. */
void nof_head_kick_later(struct nof_head *head, unsigned long delay);
void nof_head_kick_work(struct work_struct *work);
/* Whether the command may be repeated after its completion was lost: enum nof_repeat */
u8 nof_request_repeat(struct request *rq);
/*
 * True if the driver reads from the namespace after a loss whether the command was executed. The result is valid only
 * once the lost command cannot be executed any more, so the request waits for the fence whatever the policy.
 */
bool nof_request_needs_query(struct request *rq);
/* False after the time limit of a passthrough request, whose submitter may be in an uninterruptible sleep */
bool nof_request_in_time(const struct request *rq);

#endif
