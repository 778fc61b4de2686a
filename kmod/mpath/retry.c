// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a request whose command came back with an error, or does not come back. */
#include <linux/blk-mq.h>
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/repeat.h"
#include "mpath/request.h"
#include "mpath/retry.h"
#include "mpath/zones.h"
#include "wire/identify.h"
#include "wire/status.h"

/* The path could not carry it, as opposed to a trouble that may be anywhere */
bool nof_request_leaves(const struct nof_request *req)
{
	return nof_status_disposition(req->cmd.status, true) == NOF_RETRY_PATH;
}

/*
 * A lost connection is not the request's fault: it is retried for as long as I/O waits for a lost controller, counted
 * from its first loss. Some losses are excused in any case, as a fence may take longer than that.
 */
static bool retry_lost(struct nof_request *req)
{
	const struct nof_opts *opts = &req->path->ctrl->opts;
	s32 tmo = READ_ONCE(opts->fast_io_fail_tmo_ms);

	if (tmo < 0)
		tmo = READ_ONCE(opts->ctrl_loss_tmo_ms);
	if (!req->losses)
		req->lost_at = jiffies;
	if (req->losses < NOF_MAX_LOSSES)
		return ++req->losses;
	return tmo < 0 || time_before(jiffies, req->lost_at + msecs_to_jiffies(tmo));
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
		/* as retry_own() says, and not before its fence where it changes data */
		if (nof_kind_of(rq) == NOF_KIND_OWN)
			return req_op(rq) == REQ_OP_DRV_IN ? NOF_REPEAT_FREELY : NOF_REPEAT_FENCED;
		if (nof_format_is_generic(&head->format))
			return nof_repeat_of_any(opcode);
		return nof_repeat_of(opcode, blk_queue_is_zoned(rq->q));
	default:
		return NOF_REPEAT_FENCED;
	}
}

bool nof_request_asks(struct request *rq)
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

	/* without one of its own it gets the queue's when it is started */
	return time_before(jiffies, req->since + (rq->timeout ?: rq->q->rq_timeout));
}

/* Cancelled with its connection before it went out; a target's own status is never that one */
static bool retry_unsent(const struct nof_request *req)
{
	return req->cmd.status == NVME_SC_HOST_ABORTED_CMD && !req->cmd.maybe_executed;
}

/*
 * Of passthrough: what was never sent, and what does no harm the second time. To one controller, or with an error that
 * is not the path's, nothing: its sender knows what that means.
 */
static bool retry_passthrough(struct nof_request *req, struct request *rq)
{
	if (req->only || !nof_request_leaves(req) || !nof_request_in_time(rq))
		return false;
	if (nof_request_repeat(rq) == NOF_REPEAT_NEVER && !retry_unsent(req))
		return false;
	return req->cmd.status == NVME_SC_HOST_ABORTED_CMD ? retry_lost(req) : ++req->retries <= NOF_MAX_RETRIES;
}

/* ANA speaks before anything is done */
static bool retry_refused(u16 status)
{
	switch (status & NVME_SCT_SC_MASK) {
	case NVME_SC_ANA_PERSISTENT_LOSS:
	case NVME_SC_ANA_INACCESSIBLE:
	case NVME_SC_ANA_TRANSITION:
	case NVME_SC_NS_NOT_READY:
		return true;
	default:
		return false;
	}
}

bool nof_status_in_doubt(u16 status)
{
	return nof_status_disposition(status, true) != NOF_FAIL && !retry_refused(status);
}

static bool in_doubt(const struct nof_request *req)
{
	u16 status = req->cmd.status;

	return status == NVME_SC_HOST_ABORTED_CMD ? req->cmd.maybe_executed : nof_status_in_doubt(status);
}

/* One of our own, as far as its sender has said. What is lost waits for its fence all the same: see queue_rq(). */
static bool retry_own(struct nof_request *req, const struct request *rq)
{
	if (req->again != NOF_AGAIN_UNSENT)
		return req->again == NOF_AGAIN_ALWAYS;
	req->lost = in_doubt(req) && req->cmd.status == NVME_SC_HOST_ABORTED_CMD;
	return req->lost || !in_doubt(req);
}

/*
 * Whether a request that came back with an error goes again. A connection that was lost is not the request's fault,
 * unless it happens to it every time.
 */
bool nof_request_goes_again(struct nof_request *req, struct request *rq)
{
	enum nof_kind kind = nof_kind_of(rq);
	u16 status = req->cmd.status;

	if (kind == NOF_KIND_PASSTHROUGH)
		return retry_passthrough(req, rq);
	if (kind == NOF_KIND_OWN && !retry_own(req, rq))
		return false;
	if (nof_zone_lost_append(req, rq))
		req->lost = true;
	/* it ends after the fence, so that what the sender asks then is final */
	if (req->lost)
		return true;
	if (status == NVME_SC_HOST_ABORTED_CMD)
		return retry_lost(req);
	switch (nof_status_disposition(status, true)) {
	case NOF_RETRY:
		if (rq->cmd_flags & (REQ_FAILFAST_DEV | REQ_FAILFAST_DRIVER))
			return false;
		fallthrough;
	case NOF_RETRY_PATH:
		return ++req->retries <= NOF_MAX_RETRIES;
	default:
		return false;
	}
}

int nof_request_status(struct request *rq, blk_status_t sts)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	u16 status = req->cmd.status;

	if (sts == BLK_STS_OK)
		return 0;
	/* what a path has to say of the last try says nothing of one before */
	if (req->ran && nof_request_leaves(req))
		return NVME_SC_HOST_ABORTED_CMD;
	if (status && status != NVME_SC_HOST_ABORTED_CMD)
		return status;
	return status ? -ENOLINK : blk_status_to_errno(sts);
}

/* It may be done twice, and late data for it are thrown away */
static bool reads(struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_FLUSH ||
	       (req_op(rq) == REQ_OP_DRV_IN && nof_request_repeat(rq) == NOF_REPEAT_FREELY);
}

/* Reads and flushes; anything that has not gone out. Others wait for their answer. */
bool nof_request_may_leave(const struct nof_cmd *cmd, bool sent)
{
	const struct nof_request *req = container_of(cmd, struct nof_request, cmd);
	struct request *rq = blk_mq_rq_from_pdu((void *)cmd);
	struct nof_head *head = req->path->head;
	struct srcu_struct *srcu = &head->subsys->srcu;
	enum nof_kind kind = nof_kind_of(rq);
	const struct nof_path_set *set;
	bool other;
	int idx;

	if (kind == NOF_KIND_OWN || (kind == NOF_KIND_PASSTHROUGH && req->only))
		return false;
	if (sent && (!reads(rq) || req->taken_back))
		return false;
	idx = srcu_read_lock(srcu);
	set = srcu_dereference(head->set, srcu);
	other = set && set->nr_sound;
	srcu_read_unlock(srcu, idx);
	return other;
}
