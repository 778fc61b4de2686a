// SPDX-License-Identifier: GPL-2.0-only
/* Completion of commands: ends the request, or retries it on the same or another path. Timeouts. */
#include <linux/blk-mq.h>
#include <linux/debug_locks.h>
#include <linux/srcu.h>
#include "core/cmd.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "mpath/ana.h"
#include "mpath/complete.h"
#include "mpath/degrade.h"
#include "mpath/discard_ranges.h"
#include "mpath/failover_stats.h"
#include "mpath/fence.h"
#include "mpath/hctx.h"
#include "mpath/head.h"
#include "mpath/latency.h"
#include "mpath/park.h"
#include "mpath/path.h"
#include "mpath/path_stats.h"
#include "mpath/repeatable.h"
#include "mpath/request.h"
#include "mpath/requeue.h"
#include "mpath/selector.h"
#include "mpath/zones.h"
#include "wire/identify.h"
#include "wire/status.h"

/* True if the status is path related, so that a retry is a failover */
static bool request_fails_over(const struct nof_request *req)
{
	return nof_status_disposition(req->cmd.status, true) == NOF_RETRY_PATH;
}

/*
 * A request whose connection was lost is retried for as long as I/O waits for a lost controller (fast_io_fail_tmo, else
 * ctrl_loss_tmo), counted from its first loss. The first NOF_MAX_LOSSES losses are always retried, because a fence may
 * take longer than that.
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

/*
 * Cancelled with its connection before it was sent. Relies on the host alone setting this status: transports replace
 * it in a target's response, see nof_status_received().
 */
static bool request_never_sent(const struct nof_request *req)
{
	return req->cmd.status == NVME_SC_HOST_ABORTED_CMD && !req->cmd.maybe_executed;
}

/*
 * Retries passthrough after path related errors only, if the command was never sent or may be repeated. Never retries a
 * request bound to one controller. The submitter handles all other errors.
 */
static bool retry_passthrough(struct nof_request *req, struct request *rq)
{
	if (req->only || !request_fails_over(req) || !nof_request_in_time(rq))
		return false;
	if (nof_request_repeat(rq) == NOF_REPEAT_NEVER && !request_never_sent(req))
		return false;
	return req->cmd.status == NVME_SC_HOST_ABORTED_CMD ? retry_lost(req) : ++req->retries <= NOF_MAX_RETRIES;
}

/* Statuses that the controller returns before it executes anything */
static bool status_not_executed(u16 status)
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
	return nof_status_disposition(status, true) != NOF_FAIL && !status_not_executed(status);
}

static bool in_doubt(const struct nof_request *req)
{
	u16 status = req->cmd.status;

	return status == NVME_SC_HOST_ABORTED_CMD ? req->cmd.maybe_executed : nof_status_in_doubt(status);
}

/*
 * A command of the driver is retried as its submitter requests (enum nof_cmd_retry). With NOF_CMD_RETRY_UNSENT, a lost
 * command that may have been executed waits for its fence; then submit_odd() fails it.
 */
static bool retry_own(struct nof_request *req, const struct request *rq)
{
	if (req->retry != NOF_CMD_RETRY_UNSENT)
		return req->retry == NOF_CMD_RETRY_ALWAYS;
	req->fail_after_fence = in_doubt(req) && req->cmd.status == NVME_SC_HOST_ABORTED_CMD;
	return req->fail_after_fence || !in_doubt(req);
}

/*
 * True if a failed request is retried. Error completions are bounded by NOF_MAX_RETRIES, lost connections by
 * retry_lost().
 */
static bool request_should_retry(struct nof_request *req, struct request *rq)
{
	enum nof_kind kind = nof_kind_of(rq);
	u16 status = req->cmd.status;

	if (kind == NOF_KIND_PASSTHROUGH)
		return retry_passthrough(req, rq);
	if (kind == NOF_KIND_OWN && !retry_own(req, rq))
		return false;
	if (nof_zone_lost_append(req, rq))
		req->fail_after_fence = true;
	/* requeued until its fence has ended, so that a state which the submitter reads afterwards is final */
	if (req->fail_after_fence)
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
	/* a path error of the last try does not reveal the outcome of an earlier try */
	if (req->maybe_ran && request_fails_over(req))
		return NVME_SC_HOST_ABORTED_CMD;
	if (status && status != NVME_SC_HOST_ABORTED_CMD)
		return status;
	return status ? -ENOLINK : blk_status_to_errno(sts);
}

/* The command may be executed twice, so it can be taken back after it was sent */
static bool request_may_detach_sent(struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_FLUSH ||
	       (req_op(rq) == REQ_OP_DRV_IN && nof_request_repeat(rq) == NOF_REPEAT_FREELY);
}

bool nof_request_may_detach(const struct nof_cmd *cmd, bool sent)
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
	if (sent && (!request_may_detach_sent(rq) || req->was_detached))
		return false;
	idx = srcu_read_lock(srcu);
	set = srcu_dereference(head->set, srcu);
	other = set && set->nr_unsuspected;
	srcu_read_unlock(srcu, idx);
	return other;
}

/* Retry delay while there is no other path, doubled by each retry: 720 ms in total */
#define RETRY_MS	12

/* The time limit of a try is at most 2^4 times the request's */
#define MAX_TIMEOUTS	4

/* Upper bound of the retry delay that a controller requests */
#define MAX_CRDT_MS	10000U

static void path_sample(struct nof_path *path, const struct request *rq, u64 ns)
{
	bool write = op_is_write(req_op(rq));
	struct nof_path_lat *lat = &path->lat[rq->mq_hctx->queue_num];
	enum nof_lat_class class = nof_rq_class(rq);
	u32 now = (u32)jiffies;

	lat->ewma[class] = nof_lat_next(lat->ewma[class], ns, now - lat->heard[class] > NOF_LAT_STALE);
	lat->heard[class] = now;
	nof_path_hist_add(path->stats, write, nof_lat_bucket(ns), ns);
}

/* Evaluates a request that completed on a degraded path or on a controller on probation */
static noinline void trial_done(struct nof_path *path, const struct request *rq, u64 ns, u16 status)
{
	if (READ_ONCE(path->degraded))
		nof_degrade_probed(path, rq, ns, !status);
	if (READ_ONCE(path->ctrl->probation.on))
		nof_probation_tried(path->ctrl, status != NVME_SC_HOST_ABORTED_CMD);
}

static void request_count(struct nof_path *path, struct request *rq, u64 ns)
{
	this_cpu_inc(path->stats->ios);
	switch (req_op(rq)) {
	case REQ_OP_READ:
		this_cpu_add(path->stats->bytes_read, blk_rq_bytes(rq));
		break;
	case REQ_OP_ZONE_APPEND:
		nof_zone_appended(path->head, rq);
		fallthrough;
	case REQ_OP_WRITE:
		this_cpu_add(path->stats->bytes_written, blk_rq_bytes(rq));
		break;
	default:
		return;
	}
	path_sample(path, rq, ns);
	if (unlikely(READ_ONCE(path->on_trial)))
		trial_done(path, rq, ns, 0);
}

/* Accounts for a request that leaves its path: completed, cancelled or detached */
static __always_inline void request_off_path(struct nof_request *req, struct request *rq, u64 ns)
{
	struct nof_path *path = req->path;
	struct nof_subsys *s = path->head->subsys;

	if (unlikely(req->gen)) {
		int idx = srcu_read_lock(&s->srcu);
		const struct nof_selector *selector = srcu_dereference(s->selector, &s->srcu);

		if (req->gen == READ_ONCE(s->selector_gen) && selector->end)
			selector->end(path, rq, ns);
		req->gen = 0;
		srcu_read_unlock(&s->srcu, idx);
	}
	if (!READ_ONCE(path->active))
		WRITE_ONCE(path->active, true);
	this_cpu_inc(path->stats->back);
}

/*
 * Checks that the caller holds no lock that recovery waits for. A softirq may have interrupted a task that holds one.
 */
static void check_no_locks(const struct request *rq)
{
	const struct nof_head *head = rq->q->queuedata;

	if (!IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC) || !debug_locks || in_softirq())
		return;
	WARN_ON_ONCE(srcu_read_lock_held(&head->subsys->srcu));
	lockdep_assert_not_held(&head->subsys->lock);
}

void nof_request_end(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	check_no_locks(rq);
	blk_mq_end_request(rq, errno_to_blk_status(nof_status_errno(req->cmd.status)));
}

static void requests_end_batch(struct io_comp_batch *iob)
{
	struct request *first = rq_list_peek(&iob->req_list);

	if (first)
		check_no_locks(first);
	blk_mq_end_request_batch(iob);
}

void nof_requests_finish(struct nof_completed *done)
{
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, &done->requests, queuelist) {
		list_del_init(&rq->queuelist);
		nof_request_end(rq);
	}
	nof_park_fail(&done->bios);
}

static void request_finish(struct request *rq, struct nof_completed *done)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	if (unlikely(req->failover))
		nof_failover_end(rq->q->queuedata, &req->past);
	if (unlikely(req->ranges))
		nof_ranges_put(req);
	if (blk_mq_complete_request_remote(rq))
		return;
	if (req->cmd.status || !blk_mq_add_to_batch(rq, done->iob, false, requests_end_batch))
		list_add_tail(&rq->queuelist, &done->requests);
}

/* The request can be retried on another path without delay, see nof_choose_again() */
static bool path_has_other(const struct nof_path *path)
{
	struct nof_subsys *s = path->head->subsys;
	int idx = srcu_read_lock(&s->srcu);
	const struct nof_path_set *set = srcu_dereference(path->head->set, &s->srcu);
	/* there is a usable path besides this one */
	bool other = set && set->nr_usable > READ_ONCE(path->usable);

	srcu_read_unlock(&s->srcu, idx);
	return other;
}

/* Command Retry Delay (NVMe Base 2.0, 3.3.3.2.1) in jiffies, 0 for none */
static unsigned long retry_delay(const struct nof_ctrl *ctrl, u16 status)
{
	u8 crd = (status & NVME_STATUS_CRD) >> 11;

	return crd ? msecs_to_jiffies(min(ctrl->ident.crdt[crd - 1] * 100U, MAX_CRDT_MS)) : 0;
}

/*
 * After an ANA status the request waits for the path set that the ANA log yields. Otherwise it is dispatched at once or
 * after its delay. A first retry does not wait for the log if there is another path: if that path is in the same ANA
 * group, this costs one more retry.
 */
static void request_requeue(struct nof_request *req, struct request *rq)
{
	struct request_queue *q = nof_request_queue_get(rq);
	struct nof_path *path = req->path;
	bool other = path_has_other(path), first = req->retries == 1 && other, reported;
	u16 status = req->cmd.status;
	unsigned long delay = 0;

	/*
	 * there is no other path: immediate retries would use up all tries at once. The removal of the disk is not
	 * delayed for this
	 */
	if (!other && req->retries > 1 && !nof_head_removing(path->head))
		delay = msecs_to_jiffies(RETRY_MS << req->retries);
	/* the controller may request a delay for errors that are not path related */
	req->delay_requested = !req->path_failed && retry_delay(path->ctrl, status);
	if (req->delay_requested)
		delay = retry_delay(path->ctrl, status);
	req->retry_at = delay ? jiffies + delay : 0;
	nof_request_put_back(req, rq);
	/*
	 * pairs with path_unlink(), which clears usable and then publishes: after that, no further set would kick the
	 * request
	 */
	reported = nof_ana_report_status(path, status);
	smp_mb();
	reported &= !first && READ_ONCE(path->usable);
	if (!reported && delay)
		nof_head_kick_later(path->head, delay);
	else if (!reported)
		blk_mq_kick_requeue_list(q);
	nof_request_queue_put(q);
}

static void request_retry(struct nof_request *req, struct request *rq, struct nof_completed *done)
{
	struct nof_path *path = req->path;

	this_cpu_inc(path->stats->retries);
	trace_nof_requeue(path, rq, req->cmd.status);
	/* after any error, prefer another path for the next try */
	req->left_ctrl = path->ctrl->id;
	req->path_failed = request_fails_over(req);
	if (req->path_failed) {
		this_cpu_inc(path->stats->failovers_from);
		nof_failover_begin(req, path);
	}
	if (req->cmd.status != NVME_SC_HOST_ABORTED_CMD || !nof_fence_hold(path->ctrl, req, done))
		request_requeue(req, rq);
}

static void request_failed(struct nof_request *req, struct request *rq, u64 ns, struct nof_completed *done)
{
	struct nof_path *path = req->path;

	if (req->cmd.status != NVME_SC_HOST_ABORTED_CMD)
		this_cpu_inc(path->stats->errors);
	else
		req->maybe_ran |= req->cmd.maybe_executed;
	if (nof_degrade_fault(req->cmd.status))
		this_cpu_inc(path->stats->faults);
	if (unlikely(READ_ONCE(path->on_trial)))
		trial_done(path, rq, ns, req->cmd.status);
	if (request_should_retry(req, rq)) {
		nof_zone_mark_unknown(req, rq);
		request_retry(req, rq, done);
	} else {
		/* the request fails, but have the ANA log read, so that later commands avoid this state */
		if (READ_ONCE(path->usable))
			nof_ana_report_status(path, req->cmd.status);
		request_finish(rq, done);
	}
}

/* The zone report for a request whose outcome was unknown has completed */
static void zone_query_done(struct nof_request *req, struct request *rq, u64 ns, struct nof_completed *done)
{
	switch (nof_zone_query_done(req, rq)) {
	case NOF_ZONE_AGAIN:
		nof_request_redispatch(req, done);
		break;
	case NOF_ZONE_QUERY_FAILED:
		request_failed(req, rq, ns, done);
		break;
	default:
		request_finish(rq, done);
	}
}

void nof_request_complete(struct nof_cmd *cmd, struct nof_completed *done)
{
	struct nof_request *req = container_of(cmd, struct nof_request, cmd);
	struct request *rq = nof_cmd_rq(cmd);
	u64 ns = ktime_get_ns() - req->sent_ns;

	request_off_path(req, rq, ns);
	if (unlikely(req->zone)) {
		zone_query_done(req, rq, ns, done);
	} else if (likely(!(cmd->status & NVME_SCT_SC_MASK))) {
		cmd->status = 0;
		request_count(req->path, rq, ns);
		request_finish(rq, done);
	} else {
		request_failed(req, rq, ns, done);
	}
}

void nof_request_detached(struct nof_cmd *cmd, bool sent, struct nof_completed *done)
{
	struct nof_request *req = container_of(cmd, struct nof_request, cmd);
	struct request *rq = nof_cmd_rq(cmd);

	/* as in nof_cmd_complete(): after the request has left the path, only an RCU reader keeps the path */
	rcu_read_lock();
	req->was_detached |= sent;
	req->maybe_ran |= sent;
	nof_zone_query_free(req);
	if (READ_ONCE(req->path->on_trial))
		trial_done(req->path, rq, 0, NVME_SC_HOST_ABORTED_CMD);
	request_off_path(req, rq, ktime_get_ns() - req->sent_ns);
	request_retry(req, rq, done);
	rcu_read_unlock();
}

/*
 * The first timeout sends an Abort, the next one ends the association. Does not complete the request: it belongs to the
 * queue until the queue completes or cancels it.
 */
static void request_timed_out(struct nof_request *req, struct nof_queue *queue)
{
	struct nof_ctrl *ctrl = queue->ctrl;
	u16 cid = READ_ONCE(req->cmd.cid);

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE && nof_ctrl_state(ctrl) != NVMEOF_CTRL_DELETING)
		return;
	/* the request was completed or detached meanwhile: the identifier may be one of another queue */
	if (READ_ONCE(req->cmd.queue) != queue)
		return;
	/* double the time limit with each try, or a slow target could never complete the command */
	if (!req->aborted && req->periods + 1 < 1 << req->timeouts) {
		req->periods++;
		return;
	}
	if (!req->aborted) {
		req->aborted = true;
		req->timeouts = min(req->timeouts + 1, MAX_TIMEOUTS);
		atomic_inc(&req->path->aborts);
		dev_warn_ratelimited(&ctrl->dev,
				     "queue %u: I/O timeout, command 0x%02x, identifier 0x%04x: sending Abort\n",
				     queue->qid, req->cmd.sqe.common.opcode, cid);
		nof_send_abort(ctrl, queue->qid, cid);
		return;
	}
	nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "queue %u: command 0x%02x neither completed nor aborted in time", queue->qid,
		      req->cmd.sqe.common.opcode);
	nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
}

enum blk_eh_timer_return nof_request_timeout(struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_head *head = rq->q->queuedata;
	struct nof_completed done;
	struct nof_queue *queue;
	int idx;

	nof_completed_init(&done, NULL);
	idx = srcu_read_lock(&head->subsys->srcu);
	/* while the command is outstanding, its queue and path exist: freeing them waits for SRCU readers */
	queue = READ_ONCE(req->cmd.queue);
	if (queue && test_bit(NOF_Q_POLLED, &queue->flags))
		queue->ctrl->transport->poll(queue, &done);
	queue = READ_ONCE(req->cmd.queue);
	if (queue)
		request_timed_out(req, queue);
	srcu_read_unlock(&head->subsys->srcu, idx);
	nof_completed_end(&done);
	return BLK_EH_RESET_TIMER;
}
