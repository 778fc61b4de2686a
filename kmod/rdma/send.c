// SPDX-License-Identifier: GPL-2.0-only
/* The send queue: the work requests of a batch of commands are posted as one chain. */
#include "rdma/rdma.h"

/*
 * The completion of a signalled send implies that of all work requests before it. Sends of the admin queue are
 * signalled to show whether the peer is alive. Sends with data in the capsule must be signalled, as the device may
 * retransmit the data until they complete.
 */
static bool send_signalled(const struct nof_rdma_queue *q, const struct nof_rdma_slot *slot)
{
	return !q->q.qid || slot->mapped == NOF_RDMA_CAPSULE || q->unsignalled + 1 >= NOF_RDMA_SIGNAL;
}

/* Decides whether the send that was chained last is signalled. */
static void send_mark(struct nof_rdma_queue *q, struct nof_rdma_slot *slot)
{
	bool signalled = send_signalled(q, slot);

	slot->waits = NOF_RDMA_RESPONSE;
	slot->send.send_flags = 0;
	q->unsignalled++;
	if (!signalled)
		return;
	/* the slot must not be reused before this completes, or the completion would count for its next command */
	slot->waits |= NOF_RDMA_SEND;
	slot->send.send_flags = IB_SEND_SIGNALED;
	slot->mark = q->posted;
	q->unsignalled = 0;
	atomic_inc(&q->owed);
}

static void chain_add(struct nof_rdma_queue *q, struct ib_send_wr *first, struct ib_send_wr *last, u32 n)
{
	last->next = NULL;
	if (q->tail)
		q->tail->next = first;
	else
		q->head = first;
	q->tail = last;
	q->posted += n;
	q->count.wrs += n;
}

static void send_add(struct nof_rdma_queue *q, struct nof_cmd *cmd, struct nof_rdma_slot *slot)
{
	bool keyed = slot->mapped == NOF_RDMA_KEYED;

	slot->registered = keyed;
	if (keyed) {
		slot->reg.wr.next = &slot->send;
		chain_add(q, &slot->reg.wr, &slot->send, 2);
		q->count.regs++;
	} else {
		chain_add(q, &slot->send, &slot->send, 1);
	}
	q->count.maps += cmd->len != 0;
	send_mark(q, slot);
	smp_store_release(&cmd->state, NOF_CMD_SENT);
}

static void send_post(struct nof_rdma_queue *q)
{
	struct ib_send_wr *head = q->head;
	const struct ib_send_wr *bad;
	int err;

	lockdep_assert_held(&q->sq_lock);
	if (!head)
		return;
	q->head = q->tail = NULL;
	q->count.posts++;
	err = ib_post_send(q->qp, head, &bad);
	if (unlikely(err))
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, err, "cannot post: error %d", err);
}

void nof_rdma_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	struct nof_rdma_slot *slot = to_rdma_slot(cmd);
	u32 i = nof_rdma_index(q, slot);

	cmd->sqe.common.command_id = (__force __u16)cpu_to_le16(cmd->cid);
	q->sqes[i] = cmd->sqe;
	ib_dma_sync_single_for_device(q->rdev->dev, slot->sge[0].addr, sizeof(*q->sqes), DMA_TO_DEVICE);
	spin_lock_bh(&q->sq_lock);
	send_add(q, cmd, slot);
	if (last)
		send_post(q);
	spin_unlock_bh(&q->sq_lock);
}

void nof_rdma_send_commit(struct nof_queue *queue)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);

	/* a work request added concurrently is posted by its own submitter, or one after that */
	if (!READ_ONCE(q->head))
		return;
	spin_lock_bh(&q->sq_lock);
	send_post(q);
	spin_unlock_bh(&q->sq_lock);
}

/* Appended to the chain: it may still hold the registration or the send that uses the key. */
void nof_rdma_send_invs(struct nof_rdma_queue *q)
{
	struct ib_send_wr *wr, *next;

	lockdep_assert_held(&q->cq_lock);
	if (!q->inv_head)
		return;
	spin_lock_bh(&q->sq_lock);
	for (wr = q->inv_head; wr; wr = next) {
		struct nof_rdma_slot *slot = container_of(wr, struct nof_rdma_slot, inv);

		next = wr->next;
		atomic_inc(&q->wqes);
		chain_add(q, wr, wr, 1);
		slot->inv_mark = q->posted;
	}
	send_post(q);
	spin_unlock_bh(&q->sq_lock);
	q->inv_head = q->inv_tail = NULL;
}

void nof_rdma_send_completed_up_to(struct nof_rdma_queue *q, u32 mark)
{
	u32 n = mark - q->done;
	int full = q->max_wrs - q->q.limit;

	lockdep_assert_held(&q->cq_lock);
	q->done = mark;
	if (unlikely(atomic_fetch_sub(n, &q->wqes) + NOF_RDMA_WQES > full))
		nof_queue_resource_freed(&q->q);
}
