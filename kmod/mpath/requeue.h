/* SPDX-License-Identifier: GPL-2.0-only */
/* A request that is off its path: back to blk-mq, to choose a path again, or to its end. Context: any. */
#ifndef NOF_MPATH_REQUEUE_H
#define NOF_MPATH_REQUEUE_H
#include <linux/blk-mq.h>

struct nof_completed;
struct nof_head;
struct nof_request;

/*
 * A request that is requeued, or parked, may end at once, and its disk go, with the head. Until the queue is let go the
 * disk's removal waits for it.
 */
static inline struct request_queue *nof_request_keep_queue(struct request *rq)
{
	percpu_ref_get(&rq->q->q_usage_counter);
	return rq->q;
}

static inline void nof_request_let_queue_go(struct request_queue *q)
{
	percpu_ref_put(&q->q_usage_counter);
}

/* It goes again: nobody polls for it where it goes next, and it must be able to wait. */
void nof_request_clear_marks(struct request *rq);
/* It has a path again: no longer counted among those that wait */
void nof_request_end_wait(struct nof_head *head, struct nof_request *req);
/* It ends: nothing counts it any more */
void nof_request_settle(struct nof_head *head, struct nof_request *req);
/* In blk-mq's requeue list. Not kicked yet: who does decides what it waits for */
void nof_request_put_back(struct nof_request *req, struct request *rq);
/*
 * A request that is off its path and held by nobody: back to blk-mq, to choose a path again. A passthrough request
 * whose time limit has passed ends instead, with @done.
 */
void nof_request_again(struct nof_request *req, struct nof_completed *done);
/* Likewise, but it ends, as one whose path is lost. */
void nof_request_fail(struct nof_request *req, struct nof_completed *done);
/* Requests that rest try again after so many jiffies, or sooner: those that rest for longer ask again. */
void nof_head_again(struct nof_head *head, unsigned long delay);
void nof_head_again_work(struct work_struct *work);
/* What may be done with it once its answer is lost: enum nof_repeat */
u8 nof_request_repeat(struct request *rq);
/*
 * After a loss the driver asks the namespace whether the command was executed. The answer is valid only once the lost
 * copy cannot be executed any more, so the request waits for the fence whatever the policy.
 */
bool nof_request_asks(struct request *rq);
/* Of passthrough: its sender may sleep uninterruptibly, for as long as it has asked for, and no longer */
bool nof_request_in_time(const struct request *rq);

#endif
