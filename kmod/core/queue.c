// SPDX-License-Identifier: GPL-2.0-only
/* A queue pair: the table of what is outstanding on it, and taking it down. */
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include "core/ctrl.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/watch.h"
#include "control/trace.h"
#include "mpath/head.h"
#include "transport/transport.h"

#define NOF_ADMIN_TMO_MS	60000

struct nof_queue *nof_queue_alloc(struct nof_ctrl *ctrl, u16 qid, u8 type, u32 size, u32 nr_cmds)
{
	struct nof_queue *queue = kzalloc(ctrl->transport->queue_size, GFP_KERNEL);

	if (!queue)
		return NULL;
	queue->nr_cmds = roundup_pow_of_two(nr_cmds);
	queue->slots = kvcalloc(queue->nr_cmds, sizeof(*queue->slots), GFP_KERNEL);
	if (!queue->slots) {
		kfree(queue);
		return NULL;
	}
	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->type = type;
	queue->size = size;
	queue->limit = size - 1;
	queue->sq_flow = true;
	queue->cpu = -1;
	mutex_init(&queue->lock);
	return queue;
}

/* Closed and cancelled, or never started; no reader left (SRCU). */
void nof_queue_free(struct nof_queue *queue)
{
	queue->ctrl->transport->free_queue(queue);
	WARN_ON_ONCE(atomic_read(&queue->inflight));
	kvfree(queue->slots);
	kfree(queue);
}

bool nof_queue_add(struct nof_queue *queue, struct nof_cmd *cmd, u32 index)
{
	struct nof_slot *slot = &queue->slots[index];

	/* a stub may have the place */
	if (unlikely(!nof_queue_live(queue) || READ_ONCE(slot->cmd)))
		return false;
	if (unlikely(atomic_inc_return(&queue->inflight) > queue->limit)) {
		atomic_dec(&queue->inflight);
		return false;
	}
	slot->gen++;
	cmd->cid = (u16)(slot->gen * queue->nr_cmds) | index;
	cmd->state = NOF_CMD_OWNED;
	cmd->maybe_executed = false;
	cmd->queue = queue;
	WRITE_ONCE(slot->cmd, cmd);
	return true;
}

struct nof_cmd *nof_queue_find(struct nof_queue *queue, __le16 wire)
{
	u16 cid = le16_to_cpu(wire);
	struct nof_cmd *cmd = READ_ONCE(queue->slots[cid & (queue->nr_cmds - 1)].cmd);

	/* SENT is stored with release semantics after everything that a completion looks at */
	if (likely(cmd && smp_load_acquire(&cmd->state) == NOF_CMD_SENT && cmd->cid == cid))
		return cmd;
	queue->stale++;
	return NULL;
}
EXPORT_SYMBOL_GPL(nof_queue_find);

void nof_cmd_complete(struct nof_cmd *cmd, u16 status, const union nvme_result *result, struct io_comp_batch *iob)
{
	struct nof_queue *queue = cmd->queue;

	/* who has seen the slot empty and waited for a grace period has seen the end of this, too */
	rcu_read_lock();
	WRITE_ONCE(queue->slots[cmd->cid & (queue->nr_cmds - 1)].cmd, NULL);
	cmd->state = NOF_CMD_IDLE;
	WRITE_ONCE(cmd->queue, NULL);
	cmd->status = status;
	cmd->result = *result;
	if (queue->busy != U8_MAX)
		queue->busy = U8_MAX;
	atomic_dec(&queue->inflight);
	if (unlikely(status))
		trace_nof_cmd_error(queue, cmd, status);
	if (cmd->done)
		cmd->done(cmd);
	else
		nof_head_complete(cmd, iob);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(nof_cmd_complete);

void nof_cmd_detach(struct nof_cmd *cmd, struct nof_detach *d, bool sent)
{
	struct nof_cmd *stub = sent ? d->stub : NULL;
	struct nof_queue *queue = cmd->queue;

	d->used = sent;
	if (stub) {
		stub->queue = queue;
		stub->cid = cmd->cid;
		stub->len = cmd->len;
		stub->sqe.common.opcode = cmd->sqe.common.opcode;
		stub->state = NOF_CMD_SENT;
		stub->discard = true;
		atomic_inc(&queue->stubs);
	} else {
		atomic_dec(&queue->inflight);
	}
	WRITE_ONCE(queue->slots[cmd->cid & (queue->nr_cmds - 1)].cmd, stub);
	cmd->state = NOF_CMD_IDLE;
	cmd->maybe_executed = false;
	cmd->status = NVME_SC_HOST_ABORTED_CMD;
	WRITE_ONCE(cmd->queue, NULL);
}
EXPORT_SYMBOL_GPL(nof_cmd_detach);

/* @rcu: see count_path() */
struct stub {
	struct nof_cmd	cmd;
	struct rcu_head	rcu;
};

static void stub_done(struct nof_cmd *cmd)
{
	struct nof_queue *queue = cmd->ctx;

	atomic_dec(&queue->stubs);
	kfree_rcu(container_of(cmd, struct stub, cmd), rcu);
}

/* Under locks that recovery needs: what is not to be had now is not waited for */
static struct stub *new_stub(struct nof_queue *queue)
{
	struct stub *stub = kzalloc(sizeof(*stub), GFP_NOWAIT | __GFP_NOWARN);

	if (!stub)
		return NULL;
	stub->cmd.done = stub_done;
	stub->cmd.ctx = queue;
	return stub;
}

u32 nof_queue_detach(struct nof_queue *queue, bool (*may)(const struct nof_cmd *cmd, bool sent))
{
	struct srcu_struct *srcu = &queue->ctrl->subsys->srcu;
	struct nof_detach d = { .may = may };
	struct stub *stub = NULL;
	struct nof_cmd *cmd;
	u32 nr = 0;
	int idx;

	if (!queue->ctrl->transport->detach)
		return 0;
	for (d.index = 0; d.index < queue->nr_cmds; d.index++) {
		if (!READ_ONCE(queue->slots[d.index].cmd))
			continue;
		stub = stub ?: new_stub(queue);
		if (!stub)
			break;
		d.stub = &stub->cmd;
		d.used = false;
		/* off the queue, the command does not keep its path any more */
		idx = srcu_read_lock(srcu);
		cmd = queue->ctrl->transport->detach(queue, &d);
		if (cmd)
			nof_head_detached(cmd);
		srcu_read_unlock(srcu, idx);
		nr += cmd != NULL;
		/* the queue's, and done with perhaps */
		if (d.used)
			stub = NULL;
	}
	kfree(stub);
	return nr;
}

void nof_batch_end(struct io_comp_batch *iob)
{
	/* set with the first request that joins */
	if (iob && iob->complete)
		iob->complete(iob);
}
EXPORT_SYMBOL_GPL(nof_batch_end);

void nof_queue_close(struct nof_queue *queue)
{
	set_bit(NOF_Q_DEAD, &queue->flags);
	clear_bit(NOF_Q_LIVE, &queue->flags);
}

static void cancel_slot(struct nof_queue *queue, u32 index)
{
	static const union nvme_result none;
	struct nof_cmd *cmd = queue->slots[index].cmd;

	if (!cmd)
		return;
	/* stopped: the state changes no more */
	cmd->maybe_executed = cmd->state == NOF_CMD_SENT;
	nof_cmd_complete(cmd, NVME_SC_HOST_ABORTED_CMD, &none, NULL);
}

/*
 * After nof_queue_close() and synchronize_srcu(): nobody adds to the table any more, and from stop_queue() on nobody
 * completes.
 */
void nof_queue_cancel(struct nof_queue *queue)
{
	u32 i;

	mutex_lock(&queue->lock);
	queue->ctrl->transport->stop_queue(queue);
	for (i = 0; i < queue->nr_cmds; i++)
		cancel_slot(queue, i);
	mutex_unlock(&queue->lock);
}

/* Only the peer brings these about; a timeout, a missing route, or what a firewall answers, may be the network's. */
static bool told_by_peer(int err)
{
	switch (err) {
	case -ECONNRESET:
	case -EPIPE:
	case -EPROTO:
		return true;
	default:
		return false;
	}
}

void nof_queue_error(struct nof_queue *queue, int err, const char *fmt, ...)
{
	char text[NOF_ERROR_TEXT];
	va_list args;

	if (test_and_set_bit(NOF_Q_ERROR, &queue->flags) || test_bit(NOF_Q_DEAD, &queue->flags))
		return;
	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	trace_nof_queue_error(queue, err, text);
	if (!test_bit(NOF_CTRL_SHUT, &queue->ctrl->flags))
		nof_ctrl_note(queue->ctrl, err, 0, "queue %u: %s", queue->qid, text);
	if (told_by_peer(err))
		set_bit(NOF_CTRL_TOLD, &queue->ctrl->flags);
	nof_ctrl_error(queue->ctrl);
}
EXPORT_SYMBOL_GPL(nof_queue_error);

static void exec_done(struct nof_cmd *cmd)
{
	complete(cmd->ctx);
}

/* In slices: a command that may take long, a format say, is no task that hangs. */
#define WAIT_SLICE	(10 * HZ)

static bool wait_for_answer(struct completion *done, unsigned long timeout)
{
	while (timeout > WAIT_SLICE) {
		if (wait_for_completion_timeout(done, WAIT_SLICE))
			return true;
		timeout -= WAIT_SLICE;
	}
	return wait_for_completion_timeout(done, timeout);
}

/*
 * After the timeout the command still belongs to the queue: nof_ctrl_error() has the queue taken down, which completes
 * it, so the second wait is bounded.
 */
static void exec_wait(struct nof_ctrl *ctrl, struct completion *done, u32 timeout_ms, const char *kind, u8 opcode)
{
	/* connect_tmo bounds each step of an attempt; a live controller may take its time */
	if (!timeout_ms)
		timeout_ms =
			nof_ctrl_state(ctrl) == NVMEOF_CTRL_CONNECTING ? ctrl->opts.connect_tmo_ms : NOF_ADMIN_TMO_MS;
	if (wait_for_answer(done, msecs_to_jiffies(timeout_ms)))
		return;
	nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no answer to %s command 0x%02x", kind, opcode);
	nof_ctrl_error(ctrl);
	wait_for_completion(done);
}

void nof_queue_wait(struct nof_ctrl *ctrl, u8 opcode, struct completion *done)
{
	exec_wait(ctrl, done, 0, "admin", opcode);
}

int nof_queue_exec(struct nof_queue *queue, struct nof_cmd *cmd, u32 index, u32 timeout_ms)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct nof_ctrl *ctrl = queue->ctrl;
	struct srcu_struct *srcu = &ctrl->subsys->srcu;
	bool added;
	int idx;

	cmd->done = exec_done;
	cmd->ctx = &done;
	idx = srcu_read_lock(srcu);
	added = nof_queue_add(queue, cmd, index);
	if (added)
		ctrl->transport->queue_cmd(queue, cmd, true);
	srcu_read_unlock(srcu, idx);
	if (!added)
		return -ENOTCONN;
	nof_watch_kick(ctrl);
	if (cmd->sqe.common.opcode == nvme_fabrics_command)
		exec_wait(ctrl, &done, timeout_ms, "fabrics", cmd->sqe.fabrics.fctype);
	else
		exec_wait(ctrl, &done, timeout_ms, "admin", cmd->sqe.common.opcode);
	if (cmd->status == NVME_SC_HOST_ABORTED_CMD)
		return -ECONNRESET;
	return cmd->status;
}
