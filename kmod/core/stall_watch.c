// SPDX-License-Identifier: GPL-2.0-only
/*
 * A watch for paths that fail while their connections stay established. There are three conditions:
 *
 * Silence: data sent on a connection is not acknowledged, and nothing else arrives from the peer. A peer that owes no
 * acknowledgement (it may be executing an acknowledged command) is sent a Keep Alive.
 * No response: the peer acknowledges everything, but completes no command, not even a Keep Alive.
 * Stall: the peer completes Keep Alives, but no I/O.
 *
 * Each condition makes the path suspect: it gets no new I/O while there is another path, and requests that can be
 * detached from its queues are retried on that path. The connections stay, because the commands that must not be sent
 * twice may still complete. Silence and missing responses end the association after the keep-alive timeout. Silence
 * ends it at once if only reads are outstanding and the device does not release their memory (RDMA).
 *
 * Only queues that have commands outstanding, or had a moment ago, are watched: a controller may have hundreds.
 *
 * Time is counted in steps between looks. If the work runs late, this machine probably also receives late. Such a step
 * counts next to nothing, and so does a step after which received data is still unprocessed.
 */
#include <linux/mutex.h>
#include "core/backoff.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/stall_watch.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"

/* All in milliseconds */
enum {
	LOOK		= NOF_WATCH_INTERVAL,
	EMPTY		= 200,		/* nothing outstanding: stop watching the queue */
	PROBE		= 40,		/* a queue completes nothing: send a Keep Alive */
	UNHEARD		= 100,		/* shorter silence does not count */
	NO_RESPONSE	= 400,		/* no command completes, Keep Alive included: suspect */
	STALL		= 500,		/* no I/O completes here, but on other paths: suspect */
	STALL_ALONE	= 1000,		/* likewise while the other paths are idle */
	SUSPECT_MIN	= 1000,		/* minimum time without new I/O, doubled if suspect again soon: */
	SUSPECT_SOON	= 10000,	/* within this time */
	RETRANSMIT	= 60,		/* after this silence, each look makes the transport retransmit */
	RETRANSMIT_END	= 3000,		/* from then on TCP's own exponential back-off applies */
	STALL_END	= 60000,	/* a response is no longer expected */
};

/* Bytes: shorter segments pass every network, whatever its MTU */
#define LONG_SEGMENT	1000
/* Least silence, in round-trip times: time for a retransmission, and for its retransmission, on a lossy path */
#define RTTS		12
/* A stall lasts at least this many times the longest recent interval without a completion */
#define USUAL		8
/* Decay of that interval per look, as a shift: half of it in 7 s */
#define FORGET_SHIFT	9

/**
 * struct findings - results of one look
 * @probe:	a queue has completed nothing for PROBE ms
 * @done:	a command completed since the last look, on any queue
 * @io_out:	I/O is outstanding on a queue that is not polled (completions of polled queues wait for a poller)
 * @io_done:	I/O completed since the last look
 * @unheard_ms:	longest silence of any queue
 * @bound_ms:	longest silence that is tolerated on any queue
 * @heard_ms:	shortest time since anything was received on any queue
 * @long_acked:	a peer acknowledged at least LONG_SEGMENT bytes since the last look: long segments get through
 * @silent:	queue with the longest silence beyond its bound, or NULL; the members below describe it
 */
struct findings {
	bool			probe;
	bool			done;
	bool			io_out;
	bool			io_done;
	bool			long_acked;
	u32			unheard_ms;
	u32			bound_ms;
	u32			heard_ms;
	struct nof_queue	*silent;
	u16			qid;
	u32			quiet_ms;
	u32			rtt_us;
	u32			segment;
	int			err;
};

/* Excludes the Asynchronous Event Request, which is always outstanding */
static u32 queue_outstanding(const struct nof_queue *queue)
{
	u32 n = atomic_read(&queue->inflight);

	if (!queue->qid && n && test_bit(NOF_CTRL_AEN_OUT, &queue->ctrl->flags))
		n--;
	return n;
}

static bool take_busy(struct nof_queue *queue)
{
	/* test first: avoids the atomic operation on an idle queue */
	return test_bit(NOF_WATCH_SILENCE, &queue->progress) && test_and_clear_bit(NOF_WATCH_SILENCE, &queue->progress);
}

static u32 silence_bound(const struct nof_ctrl *ctrl, u32 rtt_us)
{
	return max_t(u32, READ_ONCE(ctrl->opts.stall_tmo_ms), (u64)rtt_us * RTTS / USEC_PER_MSEC);
}

static void watch_check_peer(struct nof_queue *queue, u32 step, struct findings *f)
{
	struct nof_queue_watch *w = &queue->watch;
	struct nof_ctrl *ctrl = queue->ctrl;
	struct nof_vital v = {};
	u32 bound;

	if (!ctrl->transport->vital)
		return;
	ctrl->transport->vital(queue, &v);
	if (v.receive_pending)
		step = min_t(u32, step, NOF_WATCH_STEP_MIN);
	w->quiet_ms = v.ack_due && v.heard == w->heard ? w->quiet_ms + step : 0;
	w->heard = v.heard;
	f->long_acked |= step && v.acked - w->acked >= LONG_SEGMENT;
	w->acked = v.acked;
	f->heard_ms = min(f->heard_ms, v.quiet_ms);
	f->unheard_ms = max(f->unheard_ms, w->quiet_ms);
	bound = silence_bound(ctrl, v.rtt_us);
	f->bound_ms = max(f->bound_ms, bound);
	/* a third of the bound: four round-trip times, or 100 ms by default */
	if (ctrl->transport->retransmit && w->quiet_ms >= max_t(u32, bound / 3, RETRANSMIT) &&
	    w->quiet_ms < RETRANSMIT_END)
		ctrl->transport->retransmit(queue);
	if (w->quiet_ms < bound || w->quiet_ms <= f->quiet_ms)
		return;
	f->silent = queue;
	f->qid = queue->qid;
	f->quiet_ms = w->quiet_ms;
	f->rtt_us = v.rtt_us;
	f->segment = v.segment;
	f->err = v.err;
}

static void watch_sample_queue(struct nof_queue *queue, u32 step, struct findings *f)
{
	struct nof_queue_watch *w = &queue->watch;
	bool out = queue_outstanding(queue), busy = take_busy(queue);

	w->empty_ms = out ? 0 : w->empty_ms + step;
	if (!nof_queue_live(queue))
		return;
	w->idle_ms = out && !busy ? w->idle_ms + step : 0;
	f->probe |= w->idle_ms >= PROBE;
	f->done |= busy;
	f->io_out |= out && queue->qid && queue->type != NOF_QUEUE_POLL;
	f->io_done |= busy && queue->qid;
	watch_check_peer(queue, step, f);
}

/* A submitter that sees @watched cleared adds the queue again; a command submitted earlier is found below. */
static void watch_remove_queue(struct nof_queue *queue)
{
	spin_lock_irq(&queue->ctrl->state_lock);
	list_del(&queue->watch.entry);
	WRITE_ONCE(queue->watched, false);
	spin_unlock_irq(&queue->ctrl->state_lock);
	smp_mb();
	if (queue_outstanding(queue))
		nof_watch_begin(queue);
}

static void watch_sample(struct nof_ctrl *ctrl, u32 step, struct findings *f)
{
	struct nof_queue *queue, *next;
	LIST_HEAD(fresh);

	spin_lock_irq(&ctrl->state_lock);
	list_splice_init(&ctrl->watch.fresh, &fresh);
	spin_unlock_irq(&ctrl->state_lock);
	/* queues.lock keeps the queues and their connections from being freed */
	mutex_lock(&ctrl->queues.lock);
	list_for_each_entry_safe(queue, next, &ctrl->watch.queues, watch.entry) {
		watch_sample_queue(queue, step, f);
		if (queue->watch.empty_ms >= EMPTY)
			watch_remove_queue(queue);
	}
	/* the first look sets the baseline for the second */
	list_for_each_entry(queue, &fresh, watch.entry)
		watch_sample_queue(queue, 0, f);
	list_splice(&fresh, &ctrl->watch.queues);
	mutex_unlock(&ctrl->queues.lock);
}

/* Reads and writes only: other commands may take long by their nature (discard, format, write zeroes). */
static bool queue_has_plain_io(const struct nof_queue *queue)
{
	bool has = false;
	u32 i;
	u8 op;

	for (i = 0; i < queue->nr_slots && !has; i++) {
		op = READ_ONCE(queue->slots[i].opcode);
		has = READ_ONCE(queue->slots[i].cmd) && (op == nvme_cmd_read || op == nvme_cmd_write);
	}
	return has;
}

static bool has_plain_io(struct nof_ctrl *ctrl)
{
	bool has = false;
	u32 i;

	mutex_lock(&ctrl->queues.lock);
	for (i = 0; !has && i < ctrl->queues.nr_io; i++)
		has = ctrl->queues.io[i]->type != NOF_QUEUE_POLL && queue_outstanding(ctrl->queues.io[i]) &&
		      queue_has_plain_io(ctrl->queues.io[i]);
	mutex_unlock(&ctrl->queues.lock);
	return has;
}

/* Waits for the socket or the device, so no lock is held. Recovery waits for one queue at most. */
static u32 detach_all(struct nof_ctrl *ctrl)
{
	u32 i, nr, detached = 0;
	struct nof_queue **io = nof_queues_get(ctrl, &nr);

	if (!io)
		return 0;
	for (i = 0; i < nr && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE; i++)
		if (nof_queue_live(io[i]) && io[i]->type != NOF_QUEUE_POLL)
			detached += nof_queue_detach(io[i], nof_mpath.may_detach);
	nof_queues_put(ctrl);
	return detached;
}

static void watch_usual_update(struct nof_watch *w, u32 ms)
{
	w->longest_gap_us -= w->longest_gap_us >> FORGET_SHIFT;
	w->longest_gap_us = max(w->longest_gap_us, ms * 1000);
}

static u32 elapsed_ms(unsigned long since)
{
	return jiffies_to_msecs(jiffies - since);
}

static void watch_detach(struct nof_ctrl *ctrl)
{
	bool more = nof_queues_detached(ctrl);
	u32 nr = detach_all(ctrl);

	if (!nr)
		return;
	/* when the oldest request that is still without a response was detached */
	if (!more)
		ctrl->watch.detached_at = jiffies;
	dev_info_ratelimited(&ctrl->dev, "%u requests detached, retried on other paths\n", nr);
}

/* The caller has logged the reason */
static void begin_suspect(struct nof_ctrl *ctrl)
{
	struct nof_watch *w = &ctrl->watch;
	bool again = w->suspicions && elapsed_ms(w->suspect_at) < w->min_suspect_ms + SUSPECT_SOON;

	w->min_suspect_ms = again ? min_t(u32, 2 * w->min_suspect_ms, STALL_END) : SUSPECT_MIN;
	w->io_progress = false;
	w->suspect_at = jiffies;
	w->suspicions++;
	WRITE_ONCE(ctrl->suspect, true);
	nof_ctrl_publish(ctrl);
	watch_detach(ctrl);
	nof_paths.event(ctrl, NVMEOF_EVENT_DEGRADED);
}

/* A path that is also on probation remains degraded */
static void watch_event_end(struct nof_ctrl *ctrl)
{
	nof_paths.event(ctrl, READ_ONCE(ctrl->probation.on) ? NVMEOF_EVENT_DEGRADED : NVMEOF_EVENT_RESTORED);
}

/*
 * The controller responds again, or nothing is outstanding. It is used again only after a minimum time, because a path
 * that fails on and off is worse than none, but at once if there is no other path.
 */
static void end_suspect(struct nof_ctrl *ctrl)
{
	struct nof_watch *w = &ctrl->watch;
	u32 ms = elapsed_ms(w->suspect_at);

	if (ms < w->min_suspect_ms && nof_mpath.has_other_path(ctrl))
		return;
	w->suspect_at = jiffies;
	WRITE_ONCE(ctrl->suspect, false);
	dev_info_ratelimited(&ctrl->dev, "responds again: path used again after %u ms\n", ms);
	nof_ctrl_publish(ctrl);
	watch_event_end(ctrl);
}

/* With fencing=immediate a suspect path is reset at once, so that its writes can be retried */
static bool fencing_is_immediate(const struct nof_ctrl *ctrl)
{
	return READ_ONCE(ctrl->subsys->policy.fencing) == NVMEOF_FENCING_IMMEDIATE;
}

/* Silence in ms after which the path counts as lost: the keep-alive timeout at the controller, or the default */
static u32 watch_lost_ms(const struct nof_ctrl *ctrl, const struct findings *f)
{
	return max(nof_ka_timeout_ms(ctrl) ?: NOF_DEF_KATO_MS, f->bound_ms);
}

/* Consequence, for log messages */
static const char *watch_outcome(bool lost)
{
	return lost ? "path counts as lost" : "path is suspect, no new I/O until it responds";
}

/* Only long segments seem to be lost: the peer was heard on other queues most of the time */
static bool only_long_ones(const struct nof_ctrl *ctrl, const struct findings *f)
{
	return f->segment >= LONG_SEGMENT && ctrl->watch.other_heard_ms >= f->quiet_ms / 4 * 3;
}

static void note_silence(struct nof_ctrl *ctrl, const struct findings *f, const char *what)
{
	char which[112] = "nothing is acknowledged";
	bool hint = only_long_ones(ctrl, f);

	if (hint)
		scnprintf(which, sizeof(which),
			  "segments of up to %u bytes are not acknowledged, short ones on other connections are",
			  f->segment);
	nof_ctrl_note(ctrl, f->err ?: -ETIMEDOUT, 0, "queue %u: for %u ms (RTT %u.%u ms) %s%s: %s", f->qid, f->quiet_ms,
		      f->rtt_us / 1000, f->rtt_us / 100 % 10, which,
		      hint ? ": check the MTU, and the links of a bond" : "", what);
}

static bool slot_is_read(const struct nof_slot *slot)
{
	return !READ_ONCE(slot->detached) && READ_ONCE(slot->opcode) == nvme_cmd_read;
}

static bool may_change_data(struct nof_ctrl *ctrl)
{
	return nof_admin_has_user(ctrl) || nof_queues_count(ctrl, nof_slot_writes);
}

/*
 * True if ending the association is the way to retry reads on other paths: the device holds their memory, every
 * namespace has another path, and no outstanding command may change data. The path is suspect, so after the grace
 * period the second check sees the requests that had chosen this path before.
 */
static bool only_reads_wait(struct nof_ctrl *ctrl)
{
	if (!ctrl->transport->holds_reads || !nof_queues_count(ctrl, slot_is_read) || may_change_data(ctrl) ||
	    !nof_mpath.all_have_other_path(ctrl))
		return false;
	synchronize_srcu_expedited(&ctrl->subsys->srcu);
	return !may_change_data(ctrl);
}

/*
 * Without another path, a new connection has no advantage over the present one: keep-alive and TCP_USER_TIMEOUT decide.
 * Returns true if the association is ended.
 */
static bool watch_check_silence(struct nof_ctrl *ctrl, const struct findings *f)
{
	struct nof_watch *w = &ctrl->watch;

	WRITE_ONCE(w->silent, f->silent);
	if (!f->silent) {
		w->silence_logged = false;
		return false;
	}
	if (!nof_mpath.has_other_path(ctrl)) {
		if (!w->silence_logged)
			note_silence(ctrl, f, "no other path, waiting for keep-alive");
		w->silence_logged = true;
		return false;
	}
	if (f->quiet_ms >= watch_lost_ms(ctrl, f) || fencing_is_immediate(ctrl)) {
		note_silence(ctrl, f, watch_outcome(true));
		nof_ctrl_error(ctrl, NOF_CAUSE_EXPIRED);
		return true;
	}
	if (!ctrl->suspect) {
		note_silence(ctrl, f, watch_outcome(false));
		begin_suspect(ctrl);
	}
	if (!only_reads_wait(ctrl))
		return false;
	note_silence(ctrl, f,
		     "only reads are outstanding, in memory held by the device: connections ended, reads retried");
	nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	return true;
}

/* Returns true if the association is ended. Runs after watch_check_silence(), which has precedence. */
static bool watch_check_response(struct nof_ctrl *ctrl, const struct findings *f, u32 step)
{
	struct nof_watch *w = &ctrl->watch;
	bool lost, suspect;

	w->no_response_ms = f->done || !test_bit(NOF_CTRL_KA_OUT, &ctrl->flags) ? 0 : w->no_response_ms + step;
	suspect = f->io_out && !w->silent && w->no_response_ms >= max_t(u32, NO_RESPONSE, f->bound_ms) &&
		  nof_mpath.has_other_path(ctrl);
	lost = w->no_response_ms >= watch_lost_ms(ctrl, f) || (suspect && fencing_is_immediate(ctrl));
	if (!lost && (!suspect || ctrl->suspect))
		return false;
	nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "nothing answered for %u ms, keep-alive included: %s", w->no_response_ms,
		      watch_outcome(lost));
	if (lost)
		nof_ctrl_error(ctrl, NOF_CAUSE_EXPIRED);
	else
		begin_suspect(ctrl);
	return lost;
}

static void consider_stall(struct nof_ctrl *ctrl)
{
	struct nof_watch *w = &ctrl->watch;
	const char *why = has_plain_io(ctrl) ? nof_mpath.stall_reason(ctrl, w->no_io_ms >= STALL_ALONE) : NULL;

	if (!why)
		return;
	WRITE_ONCE(w->stalled_at, jiffies);
	WRITE_ONCE(w->stalls, w->stalls + 1);
	nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no I/O completed for %u ms (usually within %u ms), %s: %s",
		      w->no_io_ms, w->longest_gap_us / 1000, why, watch_outcome(false));
	begin_suspect(ctrl);
}

/* Returns true if the association is ended, because requests that were detached still have no response. */
static bool watch_check_detached(struct nof_ctrl *ctrl)
{
	u32 age;

	if (!ctrl->watch.detached_at || elapsed_ms(ctrl->watch.detached_at) < STALL_END)
		return false;
	age = nof_queues_detached_ms(ctrl);
	/* a controller that completes other I/O is only slow: twice the time, more than a request would get */
	if (age < STALL_END || (age < 2 * STALL_END && ctrl->watch.no_io_ms < STALL_END))
		return false;
	nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "reads were not answered for %u s: path counts as lost", age / 1000);
	nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	return true;
}

/* Returns true if the association is ended. */
static bool watch_check_stall(struct nof_ctrl *ctrl, const struct findings *f, u32 step)
{
	struct nof_watch *w = &ctrl->watch;

	if (f->io_done && !ctrl->suspect)
		watch_usual_update(w, w->no_io_ms);
	w->no_io_ms = f->io_done || !f->io_out ? 0 : w->no_io_ms + step;
	WRITE_ONCE(w->io_overdue, w->no_io_ms >= max_t(u64, STALL, (u64)w->longest_gap_us * USUAL / 1000));
	w->io_progress |= f->io_done;
	if (ctrl->suspect && !w->silent && !w->no_response_ms &&
	    (!w->no_io_ms || (w->io_progress && w->no_io_ms < STALL)))
		end_suspect(ctrl);
	/* the rest costs more: not at every look */
	if (time_before(jiffies, w->judged_at + msecs_to_jiffies(5 * LOOK)))
		return false;
	w->judged_at = jiffies;
	if (w->io_overdue && f->unheard_ms < UNHEARD && !ctrl->suspect)
		consider_stall(ctrl);
	if (ctrl->suspect)
		watch_detach(ctrl);
	return watch_check_detached(ctrl);
}

static void watch_probe(struct nof_ctrl *ctrl)
{
	struct nof_watch *w = &ctrl->watch;

	if (time_before(jiffies, w->probed_at + msecs_to_jiffies(PROBE)))
		return;
	w->probed_at = jiffies;
	nof_ka_send(ctrl);
}

static u32 step_since(struct nof_watch *w)
{
	u32 step = nof_watch_step(jiffies_to_msecs(jiffies - w->looked_at));

	w->looked_at = jiffies;
	return step;
}

/* state_lock: nof_watch_begin() either sees @running cleared and queues the work, or its queue is seen here. */
static bool watch_done(struct nof_ctrl *ctrl)
{
	bool done;

	spin_lock_irq(&ctrl->state_lock);
	done = list_empty(&ctrl->watch.queues) && list_empty(&ctrl->watch.fresh) && !ctrl->suspect;
	if (done)
		ctrl->watch.running = false;
	spin_unlock_irq(&ctrl->state_lock);
	return done;
}

/* Stops watching all queues. A queue is watched again once a command is submitted on it. */
static void watch_clear(struct nof_ctrl *ctrl)
{
	struct nof_watch *w = &ctrl->watch;
	struct nof_queue *queue, *next;

	spin_lock_irq(&ctrl->state_lock);
	list_splice_init(&w->fresh, &w->queues);
	list_for_each_entry_safe(queue, next, &w->queues, watch.entry) {
		list_del(&queue->watch.entry);
		WRITE_ONCE(queue->watched, false);
	}
	w->running = false;
	spin_unlock_irq(&ctrl->state_lock);
}

static void watch_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, watch.work);
	struct nof_watch *w = &ctrl->watch;
	u32 step = step_since(w);
	struct findings f = { .heard_ms = U32_MAX };

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || !READ_ONCE(ctrl->opts.stall_tmo_ms)) {
		watch_clear(ctrl);
		/* stall_tmo may have been set to 0: nothing else would end the suspicion */
		WRITE_ONCE(w->silent, false);
		if (xchg(&ctrl->suspect, false)) {
			nof_ctrl_publish(ctrl);
			watch_event_end(ctrl);
		}
		return;
	}
	watch_sample(ctrl, step, &f);
	if (!f.unheard_ms || f.long_acked)
		w->other_heard_ms = 0;
	else if (f.heard_ms < UNHEARD)
		w->other_heard_ms += step;
	/* the association is being ended: recovery stops the watch */
	if (watch_check_silence(ctrl, &f) || watch_check_response(ctrl, &f, step) || watch_check_stall(ctrl, &f, step))
		return;
	if (f.probe)
		watch_probe(ctrl);
	if (!watch_done(ctrl))
		queue_delayed_work(nof_recovery_wq, &ctrl->watch.work, msecs_to_jiffies(LOOK));
}

void nof_watch_stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->watch.work);
	watch_clear(ctrl);
	WRITE_ONCE(ctrl->suspect, false);
	/* the history of suspicions outlives the association, the rest does not */
	memset(&ctrl->watch.association, 0, sizeof(ctrl->watch.association));
}

void nof_watch_init(struct nof_ctrl *ctrl)
{
	INIT_LIST_HEAD(&ctrl->watch.queues);
	INIT_LIST_HEAD(&ctrl->watch.fresh);
	INIT_DELAYED_WORK(&ctrl->watch.work, watch_work);
}
