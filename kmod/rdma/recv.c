// SPDX-License-Identifier: GPL-2.0-only
/* The receive side: work completions, responses, and completion of commands. */
#include <linux/blk-mq.h>
#include <linux/wait_bit.h>
#include "rdma/rdma.h"
#include "wire/status.h"

/*
 * Invalidation is local to the device, but waits until earlier sends are acknowledged. After a timeout no command with
 * a key is detached for DETACH_BACKOFF.
 */
#define DETACH_TMO	(HZ / 20)
#define DETACH_BACKOFF	HZ

static void recv_done(struct ib_cq *cq, struct ib_wc *wc);

static void recv_init(struct nof_rdma_queue *q, struct nof_rdma_recv *recv, u32 i)
{
	recv->cqe.done = recv_done;
	recv->sge.addr = q->resps_dma + i * sizeof(*q->resps);
	recv->sge.length = sizeof(*q->resps);
	recv->sge.lkey = q->pd->local_dma_lkey;
	recv->wr.wr_cqe = &recv->cqe;
	recv->wr.sg_list = &recv->sge;
	recv->wr.num_sge = 1;
	recv->wr.next = q->repost;
	q->repost = &recv->wr;
}

static int recv_post(struct nof_rdma_queue *q)
{
	struct ib_recv_wr *first = q->repost;
	const struct ib_recv_wr *bad;

	q->repost = NULL;
	return first ? ib_post_recv(q->qp, first, &bad) : 0;
}

int nof_rdma_recv_init(struct nof_rdma_queue *q)
{
	u32 i;

	q->repost = NULL;
	q->inv_head = q->inv_tail = NULL;
	q->events = q->seen = 0;
	q->detach_not_before = q->heard_at = jiffies;
	for (i = 0; i < q->nr_recvs; i++)
		recv_init(q, &q->recvs[i], i);
	return recv_post(q);
}

static int wc_err(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_RETRY_EXC_ERR:
	case IB_WC_RNR_RETRY_EXC_ERR:
	case IB_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

/*
 * A failed work request flushes those behind it. The end of a connection flushes all, after the CM has reported it. A
 * flush without such a report counts: it is the only sign of an end that is not reported, for example of a queue pair
 * that the device gave up.
 */
static bool wc_counts(const struct nof_rdma_queue *q, const struct ib_wc *wc)
{
	if (nof_rdma_stopped(q) || test_bit(NOF_RDMA_DRAINED, &q->flags))
		return false;
	return wc->status != IB_WC_WR_FLUSH_ERR || READ_ONCE(q->step) == NOF_RDMA_CM_UP;
}

static void wc_failed(struct nof_rdma_queue *q, const struct ib_wc *wc, const char *what)
{
	if (wc_counts(q, wc))
		nof_queue_error(&q->q, wc_err(wc->status) == -ETIMEDOUT ? NOF_CAUSE_NETWORK : NOF_CAUSE_LOCAL,
				wc_err(wc->status), "%s: %s", what, ib_wc_status_msg(wc->status));
}

/* Caller holds cq_lock, so that commands of a queue complete one at a time */
static void slot_wait_done(struct nof_rdma_queue *q, struct nof_rdma_slot *slot, u8 what)
{
	slot->waits &= ~what;
	if (slot->waits)
		return;
	q->completed++;
	nof_cmd_complete(q->q.slots[nof_rdma_index(q, slot)].cmd, slot->status, &slot->result, q->batch);
}

void nof_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nof_rdma_slot *slot = container_of(wc->wr_cqe, struct nof_rdma_slot, send_cqe);
	struct nof_rdma_queue *q = cq->cq_context;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		wc_failed(q, wc, "send");
		return;
	}
	WRITE_ONCE(q->heard_at, jiffies);
	nof_rdma_send_completed_up_to(q, slot->mark);
	atomic_dec(&q->owed);
	slot_wait_done(q, slot, NOF_RDMA_SEND);
}

/* Registrations are not signalled: they complete only on failure */
void nof_rdma_reg_done(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS)
		wc_failed(cq->cq_context, wc, "registration of memory");
}

void nof_rdma_inv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nof_rdma_slot *slot = container_of(wc->wr_cqe, struct nof_rdma_slot, inv_cqe);
	struct nof_rdma_queue *q = cq->cq_context;

	if (likely(wc->status == IB_WC_SUCCESS)) {
		nof_rdma_send_completed_up_to(q, slot->inv_mark);
		slot->registered = false;
		slot_wait_done(q, slot, NOF_RDMA_INVALIDATE);
	} else {
		wc_failed(q, wc, "invalidation of a key");
	}
	if (unlikely(slot->detaching)) {
		smp_mb();
		wake_up_var(&slot->waits);
	}
}

/* Chains a local invalidation, to be posted by nof_rdma_send_invs() */
static void slot_invalidate(struct nof_rdma_queue *q, struct nof_rdma_slot *slot)
{
	slot->waits |= NOF_RDMA_INVALIDATE;
	slot->inv.ex.invalidate_rkey = slot->key;
	slot->inv.next = NULL;
	if (q->inv_tail)
		q->inv_tail->next = &slot->inv;
	else
		q->inv_head = &slot->inv;
	q->inv_tail = &slot->inv;
	q->count.invs++;
}

/* The target has invalidated the key, or a local invalidation is chained for the slot to wait for. False: wrong key */
static bool slot_revoke(struct nof_rdma_queue *q, struct nof_rdma_slot *slot, const struct ib_wc *wc)
{
	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		if (!slot->key || wc->ex.invalidate_rkey != slot->key)
			return false;
		slot->registered = false;
		q->count.remote_invs++;
	} else if (slot->registered && !(slot->waits & NOF_RDMA_INVALIDATE)) {
		slot_invalidate(q, slot);
	}
	return true;
}

/* Handles a response. Returns NULL, or a text for the error in it */
static const char *recv_response(struct nof_rdma_queue *q, const struct nvme_completion *cqe, const struct ib_wc *wc)
{
	struct nof_rdma_slot *slot;
	struct nof_cmd *cmd;

	if (wc->byte_len < sizeof(*cqe))
		return "response shorter than 16 bytes";
	cmd = nof_queue_find(&q->q, (__force __le16)cqe->command_id);
	if (!cmd)
		return "response for a command that is not outstanding";
	slot = to_rdma_slot(cmd);
	if (!(slot->waits & NOF_RDMA_RESPONSE))
		return "second response for a command";
	if (!slot_revoke(q, slot, wc))
		return "response invalidates the key of another command";
	slot->status = nof_status_received(le16_to_cpu(cqe->status) >> 1);
	slot->result = cqe->result;
	if (q->q.sq_flow)
		WRITE_ONCE(q->q.sq_head, le16_to_cpu(cqe->sq_head));
	slot_wait_done(q, slot, NOF_RDMA_RESPONSE);
	return NULL;
}

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nof_rdma_recv *recv = container_of(wc->wr_cqe, struct nof_rdma_recv, cqe);
	struct nof_rdma_queue *q = cq->cq_context;
	struct nvme_completion *cqe = &q->resps[recv - q->recvs];
	const char *why;

	if (unlikely(wc->status != IB_WC_SUCCESS)) {
		wc_failed(q, wc, "receive");
		return;
	}
	/* the queue is being taken down: late responses are dropped */
	if (unlikely(nof_rdma_stopped(q)))
		return;
	WRITE_ONCE(q->heard_at, jiffies);
	ib_dma_sync_single_for_cpu(q->rdev->dev, recv->sge.addr, sizeof(*cqe), DMA_FROM_DEVICE);
	why = recv_response(q, cqe, wc);
	if (unlikely(why)) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EPROTO, "%s", why);
		return;
	}
	ib_dma_sync_single_for_device(q->rdev->dev, recv->sge.addr, sizeof(*cqe), DMA_FROM_DEVICE);
	recv->wr.next = q->repost;
	q->repost = &recv->wr;
}

static void wc_handle(struct nof_rdma_queue *q, struct ib_wc *wc)
{
	/* no indirect call for the most frequent handler; ib_drain_qp() has its own handler */
	if (likely(wc->wr_cqe->done == recv_done))
		recv_done(q->cq, wc);
	else
		wc->wr_cqe->done(q->cq, wc);
}

static void batch_end(struct nof_rdma_queue *q)
{
	if (unlikely(nof_rdma_stopped(q)))
		return;
	nof_rdma_send_invs(q);
	if (unlikely(recv_post(q)))
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EIO, "cannot post receives");
}

/* Returns the number of completions; fewer than @budget: the completion queue is empty */
static int cq_reap(struct nof_rdma_queue *q, int budget, struct nof_completed *batch)
{
	u32 events = READ_ONCE(q->events);
	int n, i, done = 0;

	lockdep_assert_held(&q->cq_lock);
	q->batch = batch;
	q->completed = 0;
	do {
		n = ib_poll_cq(q->cq, min(NOF_RDMA_REAP, budget - done), q->wcs);
		for (i = 0; i < n; i++)
			wc_handle(q, &q->wcs[i]);
		if (n > 0) {
			done += n;
			q->count.cqes += n;
			batch_end(q);
		}
	} while (n == NOF_RDMA_REAP && done < budget);
	if (done < budget)
		WRITE_ONCE(q->seen, events);
	return done;
}

void nof_rdma_recv_event(struct ib_cq *cq, void *context)
{
	struct nof_rdma_queue *q = context;

	WRITE_ONCE(q->events, q->events + 1);
	irq_poll_sched(&q->iop);
}

/* A polled queue gets no completion events, unless it is being taken down */
static bool wants_events(const struct nof_rdma_queue *q)
{
	return !test_bit(NOF_Q_POLLED, &q->q.flags) || nof_rdma_stopped(q);
}

int nof_rdma_recv_irq_poll(struct irq_poll *iop, int budget)
{
	struct nof_rdma_queue *q = container_of(iop, struct nof_rdma_queue, iop);
	struct nof_completed batch;
	int done;

	nof_completed_init(&batch, NULL);
	spin_lock(&q->cq_lock);
	done = cq_reap(q, budget, &batch);
	if (q->moderated)
		rdma_dim(&q->dim, done);
	if (done < budget) {
		irq_poll_complete(iop);
		if (wants_events(q) && ib_req_notify_cq(q->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
			irq_poll_sched(iop);
	}
	spin_unlock(&q->cq_lock);
	/* the queue may be freed from here on */
	nof_completed_end(&batch);
	return done;
}

int nof_rdma_recv_poll(struct nof_queue *queue, struct nof_completed *done)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	int completed = 0;

	/* the holder of the lock reaps the completions */
	if (!spin_trylock_bh(&q->cq_lock))
		return 0;
	if (!nof_rdma_stopped(q)) {
		cq_reap(q, NOF_RDMA_REAP, done);
		completed = q->completed;
	}
	spin_unlock_bh(&q->cq_lock);
	return completed;
}

/* Returns the command of a slot if it may be detached: sent, its send need not complete any more, and not answered */
static struct nof_cmd *slot_detachable(struct nof_rdma_queue *q, struct nof_rdma_slot *slot, const struct nof_detach *d)
{
	/* pairs with nof_queue_add() */
	struct nof_cmd *cmd = smp_load_acquire(&q->q.slots[d->index].cmd);

	lockdep_assert_held(&q->cq_lock);
	/* a placeholder has no request any more */
	if (!cmd || !nof_cmd_has_rq(cmd) || nof_rdma_stopped(q) || smp_load_acquire(&cmd->state) != NOF_CMD_SENT)
		return NULL;
	if ((slot->waits & ~NOF_RDMA_INVALIDATE) != NOF_RDMA_RESPONSE || !d->may(cmd, true))
		return NULL;
	return cmd;
}

/* Invalidates the keys of all detachable commands from d->index on, so that one wait covers all of them */
static void detach_revoke(struct nof_rdma_queue *q, const struct nof_detach *d)
{
	struct nof_detach other = *d;

	for (; other.index < q->q.nr_slots; other.index++) {
		struct nof_rdma_slot *slot = nof_rdma_nth(q, other.index);

		if (slot_detachable(q, slot, &other) && slot->registered && !(slot->waits & NOF_RDMA_INVALIDATE))
			slot_invalidate(q, slot);
	}
	nof_rdma_send_invs(q);
}

/* Bounded by DETACH_TMO: recovery may wait for the caller */
static void detach_wait(struct nof_rdma_queue *q, struct nof_rdma_slot *slot)
{
	wait_var_event_timeout(&slot->waits, !(READ_ONCE(slot->waits) & NOF_RDMA_INVALIDATE) || nof_rdma_stopped(q) ||
			       test_bit(NOF_Q_ERROR, &q->q.flags), DETACH_TMO);
}

/* True if an invalidation would time out: it follows earlier sends, which a silent peer does not acknowledge */
static bool detach_would_time_out(const struct nof_rdma_queue *q)
{
	return READ_ONCE(q->q.ctrl->watch.silent) || time_before(jiffies, q->detach_not_before);
}

/* Invalidates the key first, so that a late access by the target cannot touch the data */
struct nof_cmd *nof_rdma_recv_detach(struct nof_queue *queue, struct nof_detach *d)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	struct nof_rdma_slot *slot = nof_rdma_nth(q, d->index);
	struct nof_cmd *cmd;

	spin_lock_bh(&q->cq_lock);
	cmd = slot_detachable(q, slot, d);
	if (cmd && slot->registered && detach_would_time_out(q)) {
		cmd = NULL;
	} else if (cmd && slot->registered) {
		detach_revoke(q, d);
		slot->detaching = true;
		spin_unlock_bh(&q->cq_lock);
		detach_wait(q, slot);
		spin_lock_bh(&q->cq_lock);
		slot->detaching = false;
		if (slot->waits & NOF_RDMA_INVALIDATE)
			q->detach_not_before = jiffies + DETACH_BACKOFF;
		/* the slot may be in use again: the acquire in slot_detachable() precedes the read of @registered */
		cmd = slot_detachable(q, slot, d);
		if (cmd && slot->registered)
			cmd = NULL;
	}
	if (cmd)
		nof_cmd_detach(cmd, d, true);
	spin_unlock_bh(&q->cq_lock);
	return cmd;
}

void nof_rdma_recv_vital(struct nof_queue *queue, struct nof_vital *v)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);

	v->heard = READ_ONCE(q->count.cqes);
	/* unknown for a polled queue while it is not polled */
	v->ack_due = wants_events(q) && atomic_read(&q->owed);
	v->quiet_ms = jiffies_to_msecs(jiffies - READ_ONCE(q->heard_at));
	v->err = READ_ONCE(q->port_err);
	v->receive_pending = READ_ONCE(q->events) != READ_ONCE(q->seen) && wants_events(q);
}
