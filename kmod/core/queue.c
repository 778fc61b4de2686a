// SPDX-License-Identifier: GPL-2.0-only
/* A queue pair: the table of outstanding commands, and taking the queue down. */
#include <linux/bitmap.h>
#include <linux/blk-mq.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/wait_bit.h>
#include "core/ctrl.h"
#include "core/queue.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"

DEFINE_STATIC_CALL_NULL(nof_request_done, nof_request_done_fn);
DEFINE_STATIC_CALL_NULL(nof_requests_end, nof_requests_end_fn);

#define NOF_ADMIN_TMO_MS	60000

static void free_slots(struct nof_queue *queue)
{
	kvfree(queue->slots);
	kvfree(queue->privs);
	bitmap_free(queue->used);
}

static void end_work(struct work_struct *work)
{
	struct nof_queue *queue = container_of(work, struct nof_queue, end_work);
	struct nof_completed done;

	nof_completed_init(&done, NULL);
	nof_queue_close(queue);
	synchronize_srcu_expedited(&queue->ctrl->subsys->srcu);
	nof_queue_stop(queue);
	nof_queue_cancel(queue, &done);
	nof_completed_end(&done);
}

struct nof_queue *nof_queue_alloc(struct nof_ctrl *ctrl, u16 qid, u8 type, u32 size, u32 limit)
{
	struct nof_queue *queue = kzalloc(ctrl->transport->queue_size, GFP_KERNEL);

	if (!queue)
		return NULL;
	/* whole words of @used; at most 1024, which leaves 6 bits at least for the generation */
	queue->nr_slots = roundup_pow_of_two(max_t(u32, limit + 1, BITS_PER_LONG));
	queue->slots = kvcalloc(queue->nr_slots, sizeof(*queue->slots), GFP_KERNEL);
	queue->privs = kvcalloc(queue->nr_slots, ctrl->transport->slot_size, GFP_KERNEL);
	queue->used = bitmap_zalloc(queue->nr_slots, GFP_KERNEL);
	if (!queue->slots || !queue->privs || !queue->used) {
		free_slots(queue);
		kfree(queue);
		return NULL;
	}
	queue->slot_size = ctrl->transport->slot_size;
	queue->prepare = ctrl->transport->prepare;
	queue->release = ctrl->transport->release;
	queue->ctrl = ctrl;
	queue->qid = qid;
	queue->type = type;
	queue->size = size;
	queue->limit = limit;
	queue->sq_flow = true;
	queue->cpu = -1;
	mutex_init(&queue->lock);
	spin_lock_init(&queue->starved_lock);
	INIT_LIST_HEAD(&queue->starved);
	INIT_LIST_HEAD(&queue->unprepared);
	INIT_WORK(&queue->end_work, end_work);
	return queue;
}

/* The queue has been closed and cancelled, or was never started, and has no SRCU reader left. */
void nof_queue_free(struct nof_queue *queue)
{
	/* the transport is stopped, so nof_queue_error() does not queue the work again */
	cancel_work_sync(&queue->end_work);
	queue->ctrl->transport->free_queue(queue);
	WARN_ON_ONCE(atomic_read(&queue->inflight));
	WARN_ON_ONCE(!list_empty(&queue->starved) || !list_empty(&queue->unprepared));
	free_slots(queue);
	kfree(queue);
}

/* starved_lock keeps the context allocated: see nof_queue_wait_del() */
static bool run_waiting_locked(struct nof_queue *queue, struct list_head *list)
{
	struct nof_starved *who = list_first_entry_or_null(list, struct nof_starved, entry);

	lockdep_assert_held(&queue->starved_lock);
	if (!who)
		return false;
	list_del(&who->entry);
	blk_mq_run_hw_queue(who->hctx, true);
	/*
	 * Must be last: once queue is NULL, nof_queue_wait_del() returns, and the waiter may be freed. A context that
	 * starves before this store is run again by blk-mq.
	 */
	smp_store_release(&who->queue, NULL);
	return true;
}

static void run_waiting(struct nof_queue *queue, struct list_head *list)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->starved_lock, flags);
	run_waiting_locked(queue, list);
	spin_unlock_irqrestore(&queue->starved_lock, flags);
}

static void run_all_waiting(struct nof_queue *queue)
{
	spin_lock_irq(&queue->starved_lock);
	while (run_waiting_locked(queue, &queue->starved) || run_waiting_locked(queue, &queue->unprepared))
		;
	spin_unlock_irq(&queue->starved_lock);
	wake_up_var(&queue->nr_freed);
}

void nof_queue_resource_freed(struct nof_queue *queue)
{
	atomic_inc(&queue->nr_freed);
	/* pairs with nof_queue_wait_add(), and with the wait in exec_send() */
	smp_mb__after_atomic();
	if (unlikely(!list_empty(&queue->unprepared)))
		run_waiting(queue, &queue->unprepared);
	wake_up_var(&queue->nr_freed);
}
EXPORT_SYMBOL_GPL(nof_queue_resource_freed);

void nof_queue_wait_add(struct nof_queue *queue, struct nof_starved *who, int err)
{
	struct list_head *list = err == -EBUSY ? &queue->starved : &queue->unprepared;
	u32 enough = err == -EBUSY ? queue->limit : 1;
	unsigned long flags;

	/* a context waits for one queue at a time, and not for a queue that is being taken down */
	if (!nof_queue_live(queue) || READ_ONCE(who->queue) || cmpxchg(&who->queue, NULL, queue))
		return;
	spin_lock_irqsave(&queue->starved_lock, flags);
	list_add_tail(&who->entry, list);
	spin_unlock_irqrestore(&queue->starved_lock, flags);
	/*
	 * Pairs with free_slot(). A resource that was freed before the context was on the list went unnoticed: while
	 * commands are outstanding, the next completion or blk-mq's own retry runs the context; otherwise it is run
	 * now.
	 */
	smp_mb();
	if (atomic_read(&queue->inflight) < enough)
		run_waiting(queue, list);
}

void nof_queue_wait_del(struct nof_starved *who, struct srcu_struct *srcu)
{
	struct nof_queue *queue;
	int idx = srcu_read_lock(srcu);

	/* a queue empties its lists when it is taken down, and is freed after an SRCU grace period */
	queue = smp_load_acquire(&who->queue);
	if (queue) {
		spin_lock_irq(&queue->starved_lock);
		if (who->queue) {
			list_del(&who->entry);
			who->queue = NULL;
		}
		spin_unlock_irq(&queue->starved_lock);
	}
	srcu_read_unlock(srcu, idx);
}

/* Always succeeds: the caller is counted in @inflight, whose limit is below the number of slots */
static u32 take_slot(struct nof_queue *queue)
{
	u32 i = READ_ONCE(queue->next);

	for (;;) {
		unsigned long free = ~READ_ONCE(queue->used[BIT_WORD(i)]) & BITMAP_FIRST_WORD_MASK(i);

		i = round_down(i, BITS_PER_LONG);
		if (unlikely(!free)) {
			i = (i + BITS_PER_LONG) & (queue->nr_slots - 1);
			continue;
		}
		i += __ffs(free);
		if (likely(!test_and_set_bit_lock(i, queue->used)))
			break;
	}
	WRITE_ONCE(queue->next, (i + 1) & (queue->nr_slots - 1));
	return i;
}

static u32 slot_of(const struct nof_queue *queue, const struct nof_cmd *cmd)
{
	return cmd->cid & (queue->nr_slots - 1);
}

static void free_slot(struct nof_queue *queue, u32 i)
{
	WRITE_ONCE(queue->slots[i].cmd, NULL);
	clear_bit_unlock(i, queue->used);
	atomic_dec(&queue->inflight);
	/* pairs with nof_queue_wait_add() */
	smp_mb__after_atomic();
	if (unlikely(!list_empty(&queue->starved)))
		run_waiting(queue, &queue->starved);
}

/* Undoes the allocation of the slot after prepare() has failed */
static void slot_undo(struct nof_queue *queue, struct nof_cmd *cmd)
{
	cmd->state = NOF_CMD_IDLE;
	WRITE_ONCE(cmd->queue, NULL);
	free_slot(queue, slot_of(queue, cmd));
}

int nof_queue_add(struct nof_queue *queue, struct nof_cmd *cmd)
{
	struct nof_slot *slot;
	int ret = 0;
	u32 i;

	if (unlikely(!nof_queue_live(queue)))
		return -ENOTCONN;
	if (unlikely(atomic_inc_return(&queue->inflight) > queue->limit)) {
		atomic_dec(&queue->inflight);
		return -EBUSY;
	}
	i = take_slot(queue);
	slot = &queue->slots[i];
	slot->gen++;
	cmd->cid = (u16)(slot->gen * queue->nr_slots) | i;
	cmd->priv = queue->privs + i * queue->slot_size;
	cmd->state = NOF_CMD_OWNED;
	cmd->maybe_executed = false;
	cmd->queue = queue;
	WRITE_ONCE(slot->at, (u32)jiffies);
	WRITE_ONCE(slot->opcode, cmd->opaque ? NOF_OPCODE_UNKNOWN : cmd->sqe.common.opcode);
	WRITE_ONCE(slot->detached, false);
	/* before a peer's response can find the command, which the caller frees after an error */
	if (queue->prepare) {
		ret = queue->prepare(queue, cmd);
		if (unlikely(ret)) {
			slot_undo(queue, cmd);
			return ret;
		}
	}
	/* a detach that finds the command may read all that was stored above */
	smp_store_release(&slot->cmd, cmd);
	nof_watch_kick(queue);
	return 0;
}

struct nof_cmd *nof_queue_find(struct nof_queue *queue, __le16 wire)
{
	u16 cid = le16_to_cpu(wire);
	struct nof_cmd *cmd = READ_ONCE(queue->slots[cid & (queue->nr_slots - 1)].cmd);

	/* SENT is stored with release semantics after everything that a completion reads */
	if (likely(cmd && smp_load_acquire(&cmd->state) == NOF_CMD_SENT && cmd->cid == cid))
		return cmd;
	return NULL;
}
EXPORT_SYMBOL_GPL(nof_queue_find);

void nof_cmd_complete(struct nof_cmd *cmd, u16 status, const union nvme_result *result, struct nof_completed *done)
{
	struct nof_queue *queue = cmd->queue;

	/* path_drain() waits for a grace period after the slot is empty: the whole completion is one read section */
	rcu_read_lock();
	if (queue->release)
		queue->release(queue, cmd);
	cmd->state = NOF_CMD_IDLE;
	WRITE_ONCE(cmd->queue, NULL);
	free_slot(queue, slot_of(queue, cmd));
	cmd->status = status;
	cmd->result = *result;
	if (READ_ONCE(queue->progress) != ULONG_MAX)
		WRITE_ONCE(queue->progress, ULONG_MAX);
	if (unlikely(status))
		trace_nof_cmd_error(queue, cmd, status);
	if (cmd->done)
		cmd->done(cmd);
	else
		static_call(nof_request_done)(cmd, done);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(nof_cmd_complete);

void nof_cmd_detach(struct nof_cmd *cmd, struct nof_detach *d, bool sent)
{
	struct nof_cmd *placeholder = sent ? d->placeholder : NULL;
	struct nof_queue *queue = cmd->queue;
	struct nof_slot *slot;

	if (queue->release)
		queue->release(queue, cmd);
	d->used = sent;
	if (placeholder) {
		placeholder->queue = queue;
		placeholder->cid = cmd->cid;
		placeholder->priv = cmd->priv;
		placeholder->len = cmd->len;
		placeholder->sqe.common.opcode = cmd->sqe.common.opcode;
		placeholder->state = NOF_CMD_SENT;
		placeholder->drop_data = true;
		atomic_inc(&queue->nr_detached);
		slot = &queue->slots[slot_of(queue, cmd)];
		WRITE_ONCE(slot->at, (u32)jiffies);
		WRITE_ONCE(slot->detached, true);
		WRITE_ONCE(slot->cmd, placeholder);
	} else {
		free_slot(queue, slot_of(queue, cmd));
	}
	cmd->state = NOF_CMD_IDLE;
	cmd->maybe_executed = false;
	cmd->status = NVME_SC_HOST_ABORTED_CMD;
	WRITE_ONCE(cmd->queue, NULL);
}
EXPORT_SYMBOL_GPL(nof_cmd_detach);

static void placeholder_done(struct nof_cmd *cmd)
{
	struct nof_queue *queue = cmd->ctx;

	atomic_dec(&queue->nr_detached);
	kfree(cmd);
}

/* Does not wait for memory: recovery may wait for the caller, see nof_queues_get() */
static struct nof_cmd *placeholder_alloc(struct nof_queue *queue)
{
	struct nof_cmd *placeholder = kzalloc(sizeof(*placeholder), GFP_NOWAIT | __GFP_NOWARN);

	if (!placeholder)
		return NULL;
	placeholder->done = placeholder_done;
	placeholder->ctx = queue;
	return placeholder;
}

u32 nof_queue_detached_ms(struct nof_queue *queue)
{
	u32 now = (u32)jiffies, age = 0, i;

	for (i = 0; atomic_read(&queue->nr_detached) && i < queue->nr_slots; i++) {
		const struct nof_slot *slot = &queue->slots[i];
		s32 ago = now - READ_ONCE(slot->at);

		/* a slot that is reused meanwhile has a time after @now */
		if (ago > 0 && READ_ONCE(slot->cmd) && READ_ONCE(slot->detached))
			age = max_t(u32, age, ago);
	}
	return jiffies_to_msecs(age);
}

u32 nof_queue_detach(struct nof_queue *queue, bool (*may)(const struct nof_cmd *cmd, bool sent))
{
	struct nof_detach d = { .may = may };
	struct nof_cmd *placeholder = NULL, *cmd;
	struct nof_completed done;
	u32 nr = 0;

	if (!queue->ctrl->transport->detach)
		return 0;
	nof_completed_init(&done, NULL);
	for (d.index = 0; d.index < queue->nr_slots; d.index++) {
		if (!READ_ONCE(queue->slots[d.index].cmd))
			continue;
		placeholder = placeholder ?: placeholder_alloc(queue);
		if (!placeholder)
			break;
		d.placeholder = placeholder;
		d.used = false;
		cmd = queue->ctrl->transport->detach(queue, &d);
		if (cmd)
			nof_mpath.detached(cmd, d.used, &done);
		nr += cmd != NULL;
		/* owned by the queue, or completed already */
		if (d.used)
			placeholder = NULL;
	}
	kfree(placeholder);
	nof_completed_end(&done);
	return nr;
}

void nof_completed_end(struct nof_completed *done)
{
	/* set by the first request that is added */
	if (done->own.complete)
		done->own.complete(&done->own);
	if (unlikely(!list_empty(&done->requests) || !list_empty(&done->bios)))
		static_call(nof_requests_end)(done);
}
EXPORT_SYMBOL_GPL(nof_completed_end);

void nof_queue_close(struct nof_queue *queue)
{
	set_bit(NOF_Q_DEAD, &queue->flags);
	clear_bit(NOF_Q_LIVE, &queue->flags);
}

static void cancel_slot(struct nof_queue *queue, u32 index, struct nof_completed *done)
{
	static const union nvme_result none;
	struct nof_cmd *cmd = queue->slots[index].cmd;

	if (!cmd)
		return;
	/* the transport is stopped: the state does not change any more */
	cmd->maybe_executed = cmd->state == NOF_CMD_SENT;
	nof_cmd_complete(cmd, NVME_SC_HOST_ABORTED_CMD, &none, done);
}

/* Called after nof_queue_close() and an SRCU grace period: no command is added any more. */
void nof_queue_stop(struct nof_queue *queue)
{
	mutex_lock(&queue->lock);
	queue->ctrl->transport->stop_queue(queue);
	mutex_unlock(&queue->lock);
}

/* Called after nof_queue_stop(): the transport completes no command any more. */
void nof_queue_cancel(struct nof_queue *queue, struct nof_completed *done)
{
	u32 i;

	mutex_lock(&queue->lock);
	if (queue->ctrl->transport->wait_queue)
		queue->ctrl->transport->wait_queue(queue);
	for (i = 0; i < queue->nr_slots; i++)
		cancel_slot(queue, i, done);
	run_all_waiting(queue);
	mutex_unlock(&queue->lock);
}

void nof_queue_error(struct nof_queue *queue, enum nof_cause cause, int err, const char *fmt, ...)
{
	char text[NOF_ERROR_TEXT];
	va_list args;

	if (test_and_set_bit(NOF_Q_ERROR, &queue->flags) || test_bit(NOF_Q_DEAD, &queue->flags))
		return;
	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	trace_nof_queue_error(queue, err, text);
	if (!test_bit(NOF_CTRL_SHUTDOWN_SENT, &queue->ctrl->flags))
		nof_ctrl_note(queue->ctrl, err, 0, "queue %u: %s", queue->qid, text);
	/* only this queue fails. NOF_Q_ERROR was set before this test: pairs with start_ends() */
	if (test_bit(NOF_Q_STARTING, &queue->flags)) {
		queue_work(nof_recovery_wq, &queue->end_work);
		return;
	}
	nof_ctrl_error(queue->ctrl, cause);
}
EXPORT_SYMBOL_GPL(nof_queue_error);

static void exec_done(struct nof_cmd *cmd)
{
	complete(cmd->ctx);
}

/* In slices, so that a long command (Format NVM) is not reported as a hung task. */
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

/* connect_tmo bounds each command of a connect attempt; a live controller has more time */
u32 nof_ctrl_command_tmo_ms(const struct nof_ctrl *ctrl)
{
	return nof_state_connects(nof_ctrl_state(ctrl)) ? ctrl->opts.connect_tmo_ms : NOF_ADMIN_TMO_MS;
}

/*
 * After the timeout the command still belongs to the queue: nof_ctrl_error() has the queue taken down, which completes
 * it, so the second wait is bounded.
 */
static void exec_wait(struct nof_ctrl *ctrl, struct nof_queue *queue, struct completion *done, u32 timeout_ms,
		      const char *kind, u8 opcode)
{
	if (wait_for_answer(done, msecs_to_jiffies(timeout_ms ?: nof_ctrl_command_tmo_ms(ctrl))))
		return;
	if (queue && test_bit(NOF_Q_STARTING, &queue->flags)) {
		nof_queue_error(queue, NOF_CAUSE_LOCAL, -ETIMEDOUT, "no answer to %s command 0x%02x", kind, opcode);
	} else {
		nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no answer to %s command 0x%02x", kind, opcode);
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	}
	wait_for_completion(done);
}

void nof_queue_wait(struct nof_ctrl *ctrl, u8 opcode, struct completion *done)
{
	exec_wait(ctrl, NULL, done, 0, "admin", opcode);
}

/*
 * While the transport has no memory (-ENOMEM, it does not wait for any) or no resources (-EAGAIN), waits until an
 * outstanding command frees some or the queue is taken down, for @timeout_ms at most.
 */
static int exec_send(struct nof_queue *queue, struct nof_cmd *cmd, u32 timeout_ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(timeout_ms);
	struct nof_ctrl *ctrl = queue->ctrl;
	struct srcu_struct *srcu = &ctrl->subsys->srcu;
	int idx, err, freed;

	for (;;) {
		freed = atomic_read(&queue->nr_freed);
		idx = srcu_read_lock(srcu);
		err = nof_queue_add(queue, cmd);
		if (!err)
			ctrl->transport->queue_cmd(queue, cmd, true);
		srcu_read_unlock(srcu, idx);
		if (err != -EAGAIN && err != -ENOMEM)
			return err == -EBUSY ? -ENOTCONN : err;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		wait_var_event_timeout(&queue->nr_freed,
				       atomic_read(&queue->nr_freed) != freed || !nof_queue_live(queue), HZ / 10);
	}
}

int nof_queue_exec(struct nof_queue *queue, struct nof_cmd *cmd, u32 timeout_ms, nof_exec_late_fn *late)
{
	DECLARE_COMPLETION_ONSTACK(done);
	bool fabrics = cmd->sqe.common.opcode == nvme_fabrics_command, answered = false;
	int err;

	cmd->done = exec_done;
	cmd->ctx = &done;
	err = exec_send(queue, cmd, timeout_ms ?: nof_ctrl_command_tmo_ms(queue->ctrl));
	if (err)
		return err;
	if (late && timeout_ms) {
		answered = wait_for_answer(&done, msecs_to_jiffies(timeout_ms));
		if (!answered)
			late(queue, cmd);
		timeout_ms = 0;
	}
	if (!answered)
		exec_wait(queue->ctrl, queue, &done, timeout_ms, fabrics ? "fabrics" : "admin",
			  fabrics ? cmd->sqe.fabrics.fctype : cmd->sqe.common.opcode);
	if (cmd->status == NVME_SC_HOST_ABORTED_CMD)
		return -ECONNRESET;
	return cmd->status;
}

/* Under state_lock and only if LIVE: nothing is queued once the state has changed and nof_watch_stop() returns */
void nof_watch_begin(struct nof_queue *queue)
{
	struct nof_ctrl *ctrl = queue->ctrl;
	struct nof_watch *w = &ctrl->watch;
	unsigned long flags;

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || !READ_ONCE(ctrl->opts.stall_tmo_ms))
		return;
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (ctrl->state == NVMEOF_CTRL_LIVE && !queue->watched) {
		WRITE_ONCE(queue->watched, true);
		queue->watch = (struct nof_queue_watch){};
		list_add_tail(&queue->watch.entry, &w->fresh);
		if (!w->running) {
			w->running = true;
			w->looked_at = jiffies;
			queue_delayed_work(nof_recovery_wq, &ctrl->watch.work, 1);
		}
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}
