// SPDX-License-Identifier: GPL-2.0-only
/* Requeues or fails requests that have left their path. */
#include <linux/blk-mq.h>
#include "core/cmd.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/discard_ranges.h"
#include "mpath/failover_stats.h"
#include "mpath/head.h"
#include "mpath/repeatable.h"
#include "mpath/request.h"
#include "mpath/requeue.h"
#include "wire/identify.h"

/*
 * REQ_ALLOC_CACHE is cleared because the request may then complete in an interrupt, where older kernels must not put
 * bios into a CPU's cache.
 */
void nof_request_clear_marks(struct request *rq)
{
	struct bio *bio;

	rq->cmd_flags &= ~(REQ_POLLED | REQ_NOWAIT | REQ_ALLOC_CACHE);
	__rq_for_each_bio(bio, rq)
		bio->bi_opf &= ~(REQ_POLLED | REQ_NOWAIT | REQ_ALLOC_CACHE);
}

void nof_request_end_wait(struct nof_head *head, struct nof_request *req)
{
	req->waiting = false;
	atomic_dec(&head->waiting);
	atomic_dec(&head->subsys->waiting);
}

void nof_request_release(struct nof_head *head, struct nof_request *req)
{
	if (req->waiting)
		nof_request_end_wait(head, req);
	if (req->failover)
		nof_failover_end(head, &req->past);
	if (req->ranges)
		nof_ranges_put(req);
}

void nof_request_put_back(struct nof_request *req, struct request *rq)
{
	req->aborted = false;
	req->trial = false;
	req->periods = 0;
	nof_request_clear_marks(rq);
	blk_mq_requeue_request(rq, false);
}

void nof_request_fail(struct nof_request *req, struct nof_completed *done)
{
	struct request *rq = nof_cmd_rq(&req->cmd);

	nof_request_release(rq->q->queuedata, req);
	req->cmd.status = NVME_SC_HOST_ABORTED_CMD;
	list_add_tail(&rq->queuelist, &done->requests);
}

void nof_request_redispatch(struct nof_request *req, struct nof_completed *done)
{
	struct request *rq = nof_cmd_rq(&req->cmd);
	struct request_queue *q;

	/* the time limit includes the time that a fence held the request */
	if (blk_rq_is_passthrough(rq) && !nof_request_in_time(rq)) {
		nof_request_fail(req, done);
		return;
	}
	q = nof_request_queue_get(rq);
	nof_request_put_back(req, rq);
	blk_mq_kick_requeue_list(q);
	nof_request_queue_put(q);
}

void nof_head_kick_work(struct work_struct *work)
{
	struct nof_head *head = container_of(to_delayed_work(work), struct nof_head, kick.work);

	blk_mq_kick_requeue_list(head->disk->queue);
}

void nof_head_kick_later(struct nof_head *head, unsigned long delay)
{
	unsigned long at = jiffies + delay, flags;

	/* queueing the work and kick.at must change together */
	spin_lock_irqsave(&head->kick.lock, flags);
	if (queue_delayed_work(nof_recovery_wq, &head->kick.work, delay)) {
		head->kick.at = at;
	} else if (time_before(at, head->kick.at)) {
		mod_delayed_work(nof_recovery_wq, &head->kick.work, delay);
		head->kick.at = at;
	}
	spin_unlock_irqrestore(&head->kick.lock, flags);
}

u8 nof_request_repeat(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	const struct nof_head *head = rq->q->queuedata;
	u8 opcode = req->cmd.sqe.common.opcode;

	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_FLUSH:
		return NOF_REPEAT_FREELY;
	case REQ_OP_DRV_IN:
	case REQ_OP_DRV_OUT:
		/* retry_own() decides whether it is retried; a command that changes data waits for its fence first */
		if (nof_kind_of(rq) == NOF_KIND_OWN)
			return req_op(rq) == REQ_OP_DRV_IN ? NOF_REPEAT_FREELY : NOF_REPEAT_FENCED;
		if (nof_format_is_generic(&head->format))
			return nof_repeat_of_any(opcode);
		return nof_repeat_of(opcode, blk_queue_is_zoned(rq->q));
	default:
		return NOF_REPEAT_FENCED;
	}
}

bool nof_request_needs_query(struct request *rq)
{
	switch (nof_kind_of(rq)) {
	case NOF_KIND_OWN:
		return req_op(rq) == REQ_OP_DRV_OUT;
	case NOF_KIND_PASSTHROUGH:
		return false;
	default:
		return blk_queue_is_zoned(rq->q);
	}
}

bool nof_request_in_time(const struct request *rq)
{
	const struct nof_request *req = blk_mq_rq_to_pdu((struct request *)rq);

	/* blk_mq_start_request() sets rq->timeout to the queue's default if it is 0 */
	return time_before(jiffies, req->since + (rq->timeout ?: rq->q->rq_timeout));
}
