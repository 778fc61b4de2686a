// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds the requests of a lost association until it can no longer execute them. fence_lock protects all fields. A fence
 * is found in ctrl->fence before the loss, in subsys->fences while requests are held, and then only by reset_work,
 * which frees it once no CCR command is outstanding.
 */
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include "core/cmd.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/work.h"
#include "mpath/complete.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/repeatable.h"
#include "mpath/request.h"
#include "mpath/requeue.h"
#include "wire/ccr_log.h"

/* Cross-Controller Reset (CCR; TP8028, in NVMe Base 2.3): asks one controller of a subsystem to reset another. */
#define OPC_CROSS_CTRL_RESET	0x38

/* The controller instance of one association, as opposed to others with the same identifier; @cirn 0: not reported */
struct ccr_instance {
	u16	cntlid;
	u8	ciu;
	u64	cirn;
};

/* @source can be asked to reset @victim: it is live, offers the command, and is another controller */
static bool ccr_can(struct nof_ctrl *source, const struct ccr_instance *victim)
{
	return victim->cirn && victim->ciu && source->ident.ccrl && source->cntlid != victim->cntlid &&
	       nof_ctrl_state(source) == NVMEOF_CTRL_LIVE;
}

/* The controller sends an event when a reset is over; otherwise its log has to be polled */
static bool ccr_notifies(const struct nof_ctrl *source)
{
	return test_bit(NOF_CTRL_AEN, &source->flags) && (source->ident.oaes & NOF_AEN_CFG_CCR);
}

#define ANSWER_TMO_MS	2000	/* for the answer of a controller, before the next one is asked */
#define POLL_MS		100	/* of the log of a controller without events */
#define POLL_NOTIFIED_MS 1000	/* with events: they are lost when the event queue is full */
#define RETRY_MS	250	/* when no controller can be asked: they come and go */

enum step {
	CCR_ASK,		/* a controller has to be asked */
	CCR_SENT,		/* no completion yet */
	CCR_RUNNING,		/* the log of @source will have the result */
	CCR_SUCCESS,
};

/**
 * struct nof_fence - of one association
 * @entry:	in subsys->fences while something is held
 * @held:	requests, by queuelist; to blk-mq they are in flight
 * @parked:	bios of requests that gave up their tags, see mpath/park.h
 * @name:	the controller's
 * @victim:	identifies the association to other controllers
 * @nr:		number of held requests, kept for the log when the hold ends
 * @needs_query:	the outcome of some is read from the target: these wait for the whole bound, whatever the policy
 * @lost_at:	jiffies; 0 before the loss
 * @ends_at:	jiffies when the last of them are released
 * @end:	enum nof_fence_end
 * @end_logged:	the end of the hold was logged
 * @step:	enum step, of the reset
 * @ccr_outstanding:	CCR commands outstanding
 * @source:	controller asked last, with a reference; changed by reset_work only
 * @refused, @busy: controllers not to be asked, ever or for now: bit of their number modulo 64
 * @bound_work:	ends the hold at the bound; on a queue whose works never wait for held requests
 * @reset_work:	everything else; waits for commands
 */
struct nof_fence {
	struct list_head	entry;
	struct list_head	held;
	struct list_head	parked;
	struct nof_subsys	*subsys;
	char			name[NVMEOF_NAME_MAX + 1];
	struct ccr_instance	victim;
	u32			nr;
	bool			needs_query;
	unsigned long		lost_at;
	unsigned long		ends_at;
	unsigned long		ended_at;
	u8			end;
	bool			end_logged;
	u8			step;
	u32			ccr_outstanding;
	struct nof_ctrl		*source;
	u64			refused;
	u64			busy;
	struct delayed_work	bound_work;
	struct delayed_work	reset_work;
};

static atomic_t nr_started = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(none_started);

static bool fence_holds(const struct nof_fence *f)
{
	return !list_empty(&f->held) || !list_empty(&f->parked);
}

static u64 bit_of(const struct nof_ctrl *ctrl)
{
	return BIT_ULL(ctrl->id % 64);
}

/* Runs reset_work now, which also frees an ended fence. Caller holds fence_lock. */
static void fence_kick(struct nof_fence *f)
{
	mod_delayed_work(nof_wq, &f->reset_work, 0);
}

static void request_unhold(struct request *rq)
{
	struct nof_head *head = rq->q->queuedata;

	list_del_init(&rq->queuelist);
	WRITE_ONCE(head->held, head->held - 1);
	atomic_dec(&head->subsys->waiting);
}

/* Released requests, and bios of parked ones */
struct released {
	struct list_head requests;
	struct list_head parked;
};

#define RELEASED(name)	struct released name = { LIST_HEAD_INIT(name.requests), LIST_HEAD_INIT(name.parked) }

/* Ends the hold and moves what was held to @to. Caller holds fence_lock; when it drops it the fence may be freed. */
static void end_hold(struct nof_fence *f, enum nof_fence_end end, struct released *to)
{
	struct request *rq, *next;

	lockdep_assert_held(&f->subsys->fence_lock);
	list_for_each_entry_safe(rq, next, &f->held, queuelist) {
		request_unhold(rq);
		list_add_tail(&rq->queuelist, &to->requests);
	}
	nof_park_move(&f->parked, NULL, &to->parked);
	list_del_init(&f->entry);
	f->end = end;
	f->ended_at = jiffies;
	trace_nof_fence_release(f->name, f->nr, end, jiffies_to_msecs(jiffies - f->lost_at));
	fence_kick(f);
}

static void fence_resubmit(struct released *released)
{
	struct nof_completed done;
	struct request *rq, *next;

	nof_completed_init(&done, NULL);
	list_for_each_entry_safe(rq, next, &released->requests, queuelist) {
		list_del_init(&rq->queuelist);
		nof_request_redispatch(blk_mq_rq_to_pdu(rq), &done);
	}
	nof_park_wait(&released->parked, NULL, &done.bios);
	nof_completed_end(&done);
}

/* Releases the requests that only the policy holds; returns how many. Caller holds fence_lock. */
static u32 release_plain(struct nof_fence *f, struct released *to)
{
	struct request *rq, *next;
	u32 nr = f->nr;

	lockdep_assert_held(&f->subsys->fence_lock);
	f->nr = 0;
	list_for_each_entry_safe(rq, next, &f->held, queuelist) {
		if (nof_request_needs_query(rq)) {
			f->nr++;
			continue;
		}
		request_unhold(rq);
		list_add_tail(&rq->queuelist, &to->requests);
	}
	/* a request whose outcome is read from the target is never parked */
	nof_park_move(&f->parked, NULL, &to->parked);
	nr -= f->nr;
	if (nr)
		trace_nof_fence_release(f->name, nr, NOF_FENCE_BOUND, jiffies_to_msecs(jiffies - f->lost_at));
	return nr;
}

static void bound_work(struct work_struct *work)
{
	struct nof_fence *f = container_of(to_delayed_work(work), struct nof_fence, bound_work);
	unsigned long now = jiffies;
	bool early = time_before(now, f->ends_at);
	u32 nr = 0, left = 0;
	RELEASED(released);

	spin_lock_irq(&f->subsys->fence_lock);
	if (f->end == NOF_FENCE_HOLDS) {
		if (early)
			nr = release_plain(f, &released);
		left = f->nr;
		if (early && fence_holds(f))
			queue_delayed_work(nof_recovery_wq, &f->bound_work, f->ends_at - now);
		else
			end_hold(f, NOF_FENCE_BOUND, &released);
	}
	spin_unlock_irq(&f->subsys->fence_lock);
	/* f is valid: free_fence() waits for this work */
	if (nr)
		dev_info(&f->subsys->dev, "%s: lost association: released %u requests after %u ms, %u still held\n",
			 f->name, nr, jiffies_to_msecs(now - f->lost_at), left);
	fence_resubmit(&released);
}

/* The next controller to ask for a reset, with a reference. When all were busy, the next try asks them again. */
static struct nof_ctrl *fence_pick(struct nof_fence *f)
{
	struct nof_subsys *s = f->subsys;
	struct nof_ctrl *ctrl, *found = NULL;
	u64 skip;

	spin_lock_irq(&s->fence_lock);
	skip = f->refused | f->busy;
	spin_unlock_irq(&s->fence_lock);
	mutex_lock(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (!found && !(skip & bit_of(ctrl)) && ccr_can(ctrl, &f->victim))
			found = nof_ctrl_get(ctrl);
	mutex_unlock(&s->lock);
	if (!found) {
		spin_lock_irq(&s->fence_lock);
		f->busy = 0;
		spin_unlock_irq(&s->fence_lock);
	}
	return found;
}

/* The answer of the controller asked last, by completion, log or failure to send. Caller holds fence_lock. */
static void take_answer(struct nof_fence *f, enum nof_ccr_result answer)
{
	f->step = answer == NOF_CCR_RUNNING ? CCR_RUNNING : CCR_ASK;
	if (answer == NOF_CCR_REFUSED)
		f->refused |= bit_of(f->source);
	if (answer == NOF_CCR_BUSY)
		f->busy |= bit_of(f->source);
	fence_kick(f);
}

/* Any context. If another controller was asked since, only success counts. */
static void ccr_take_answer(struct nof_fence *f, struct nof_ctrl *source, enum nof_ccr_result answer)
{
	struct nof_subsys *s = f->subsys;
	unsigned long flags;

	spin_lock_irqsave(&s->fence_lock, flags);
	f->ccr_outstanding--;
	if (answer == NOF_CCR_DONE)
		f->step = CCR_SUCCESS;
	else if (f->step == CCR_SENT && f->source == source)
		take_answer(f, answer);
	if (f->end != NOF_FENCE_HOLDS || answer == NOF_CCR_DONE)
		fence_kick(f);
	spin_unlock_irqrestore(&s->fence_lock, flags);
}

/* One outstanding command; @source stays allocated, as its queue has the command */
struct ccr_cmd {
	struct nof_cmd		cmd;
	struct nof_ctrl		*source;
	struct nof_fence	*fence;
};

/* Any context, no later than with the loss of the source's association */
static void ccr_done(struct nof_cmd *cmd)
{
	struct ccr_cmd *c = container_of(cmd, struct ccr_cmd, cmd);

	nof_admin_leave(c->source, NOF_ADMIN_DRIVER);
	ccr_take_answer(c->fence, c->source, nof_ccr_result(cmd->status, le32_to_cpu(cmd->result.u32)));
	kfree(c);
}

/*
 * Asks a controller to reset the fence's victim. A controller that does not answer keeps its association: its I/O may
 * work. Does not wait for memory. Context: process, does not wait. Returns 0 or a negative errno.
 */
static int ccr_send(struct nof_fence *f, struct nof_ctrl *source)
{
	struct ccr_cmd *c = kzalloc(sizeof(*c), GFP_NOWAIT | __GFP_NOWARN);
	const struct ccr_instance *victim = &f->victim;
	int ret;

	if (!c)
		return -ENOMEM;
	c->source = source;
	c->fence = f;
	c->cmd.done = ccr_done;
	c->cmd.sqe.common.opcode = OPC_CROSS_CTRL_RESET;
	c->cmd.sqe.common.cdw10 = cpu_to_le32(victim->cntlid | (u32)victim->ciu << 16);
	c->cmd.sqe.common.cdw12 = cpu_to_le32(lower_32_bits(victim->cirn));
	c->cmd.sqe.common.cdw13 = cpu_to_le32(upper_32_bits(victim->cirn));
	ret = nof_admin_send(source, &c->cmd);
	if (ret)
		kfree(c);
	return ret;
}

static void ccr_ask(struct nof_fence *f, struct nof_ctrl *source)
{
	struct nof_subsys *s = f->subsys;
	struct nof_ctrl *old;

	spin_lock_irq(&s->fence_lock);
	old = f->source;
	f->source = source;
	f->step = CCR_SENT;
	f->ccr_outstanding++;
	spin_unlock_irq(&s->fence_lock);
	if (old)
		nof_ctrl_put(old);
	dev_info_ratelimited(&source->dev,
			     "asked by Cross-Controller Reset to end the lost association of %s\n", f->name);
	if (ccr_send(f, source)) {
		spin_lock_irq(&s->fence_lock);
		f->ccr_outstanding--;
		take_answer(f, NOF_CCR_BUSY);
		spin_unlock_irq(&s->fence_lock);
	}
}

/**
 * struct ccr_log_read - context of a walk through the CCR log of a controller
 * @source:	the controller
 * @released:	receives the requests that are no longer held
 */
struct ccr_log_read {
	struct nof_ctrl		*source;
	struct released		*released;
};

static void fence_over(void *arg, u16 cntlid, u8 ciu, bool done)
{
	struct ccr_log_read *log = arg;
	struct nof_subsys *s = log->source->subsys;
	struct nof_fence *f, *next;

	spin_lock_irq(&s->fence_lock);
	list_for_each_entry_safe(f, next, &s->fences, entry) {
		if (!f->lost_at || f->victim.cntlid != cntlid || f->victim.ciu != ciu)
			continue;
		if (done)
			end_hold(f, NOF_FENCE_RESET, log->released);
		else if (f->source == log->source && f->step == CCR_RUNNING)
			take_answer(f, NOF_CCR_REFUSED);
	}
	spin_unlock_irq(&s->fence_lock);
}

/*
 * Reads the log of @source, which removes finished resets from it: all fences of the subsystem are looked at. Context:
 * process, sleeps. Returns 0, an NVMe status or a negative errno.
 */
static int fence_read_log(struct nof_ctrl *source)
{
	void *buf = kzalloc(NOF_LOG_CCR_BYTES, GFP_NOIO | __GFP_NOWARN);
	RELEASED(released);
	struct ccr_log_read log = { .source = source, .released = &released };
	const char *why;
	int ret;

	if (!buf)
		return -ENOMEM;
	ret = nof_get_log(source, NOF_LOG_CCR, NOF_LOG_CCR_REMOVE, 0, buf, NOF_LOG_CCR_BYTES);
	if (!ret) {
		why = nof_ccr_parse(buf, NOF_LOG_CCR_BYTES, fence_over, &log);
		if (why) {
			nof_ctrl_note(source, -EPROTO, 0, "%s", why);
			ret = -EPROTO;
		}
	}
	kfree(buf);
	fence_resubmit(&released);
	return ret;
}

void nof_fence_notice(struct nof_ctrl *ctrl)
{
	fence_read_log(ctrl);
}

static void set_step(struct nof_fence *f, enum step from, enum step to, u64 refused)
{
	spin_lock_irq(&f->subsys->fence_lock);
	f->refused |= refused;
	if (f->step == from)
		f->step = to;
	spin_unlock_irq(&f->subsys->fence_lock);
}

/* Takes the reset one step further. Returns the delay until the next step, ms. */
static u32 ccr_advance(struct nof_fence *f, enum step step)
{
	struct nof_ctrl *source;
	int ret;

	if (step == CCR_RUNNING) {
		/* fence_over() handles the entries */
		ret = fence_read_log(f->source);
		if (!ret)
			return ccr_notifies(f->source) ? POLL_NOTIFIED_MS : POLL_MS;
		if (ret != -ENOMEM) /* the log was not requested */
			set_step(f, CCR_RUNNING, CCR_ASK, bit_of(f->source));
		return POLL_MS;
	}
	/* the controller asked last did not answer in time */
	if (step == CCR_SENT)
		set_step(f, CCR_SENT, CCR_ASK, bit_of(f->source));
	source = fence_pick(f);
	if (!source)
		return RETRY_MS;
	ccr_ask(f, source);
	return ANSWER_TMO_MS;
}

static const char *fence_end_text(enum nof_fence_end end)
{
	switch (end) {
	case NOF_FENCE_RESET:
		return "another controller has reset it";
	case NOF_FENCE_BOUND:
		return "the time bound has passed";
	default:
		return "their disks are removed";
	}
}

static void fence_log_end(struct nof_fence *f)
{
	/* bound_work() has logged the requests that it released */
	if (f->end_logged || !f->nr)
		return;
	f->end_logged = true;
	dev_info(&f->subsys->dev, "%s: lost association: released %u requests after %u ms: %s\n", f->name, f->nr,
		 jiffies_to_msecs(f->ended_at - f->lost_at), fence_end_text(f->end));
}

/* Called by reset_work, which may have been queued again while it runs. Nothing queues it any more. */
static void free_fence(struct nof_fence *f)
{
	cancel_delayed_work_sync(&f->bound_work);
	cancel_delayed_work(&f->reset_work);
	if (f->source)
		nof_ctrl_put(f->source);
	nof_subsys_put(f->subsys);
	kfree(f);
	if (atomic_dec_and_test(&nr_started))
		wake_up_all(&none_started);
}

static void reset_work(struct work_struct *work)
{
	struct nof_fence *f = container_of(to_delayed_work(work), struct nof_fence, reset_work);
	struct nof_subsys *s = f->subsys;
	RELEASED(released);
	bool ended, last;
	enum step step;

	spin_lock_irq(&s->fence_lock);
	step = f->step;
	if (step == CCR_SUCCESS && f->end == NOF_FENCE_HOLDS)
		end_hold(f, NOF_FENCE_RESET, &released);
	ended = f->end != NOF_FENCE_HOLDS;
	last = ended && !f->ccr_outstanding;
	spin_unlock_irq(&s->fence_lock);
	fence_resubmit(&released);
	if (!ended)
		/* not mod_delayed_work(): an answer may have queued it for an earlier time */
		queue_delayed_work(nof_wq, &f->reset_work, msecs_to_jiffies(ccr_advance(f, step)));
	else
		fence_log_end(f);
	if (last)
		free_fence(f);
}

/*
 * ms until the target has ended a silent association and the commands that it executes for it (TP4129). The target may
 * check its timer only once per keep-alive timeout, so it may find the expiry only at the second check; with traffic
 * based keep-alive a command covers the whole period that it falls into, which adds one more. Then the Command Quiesce
 * Time: if the target does not report one (0, NVMe Base 2.1, 5.1.13.2.1), quiesce_tmo of the policy replaces it under
 * fencing=safe. Without keep-alive no time is promised: three default timeouts are assumed.
 */
static u32 bound_ms(const struct nof_ctrl *ctrl)
{
	u32 kato = nof_ka_timeout_ms(ctrl) ?: NOF_DEF_KATO_MS;
	u32 times = test_bit(NOF_CTRL_TBKAS, &ctrl->flags) || !ctrl->ka.tmo_ms ? 3 : 2;
	const struct nof_policy *policy = &ctrl->subsys->policy;
	u32 quiesce = ctrl->ident.cqt_ms;

	if (!quiesce && READ_ONCE(policy->fencing) == NVMEOF_FENCING_SAFE)
		quiesce = READ_ONCE(policy->quiesce_tmo) * MSEC_PER_SEC;
	return min(kato, U32_MAX / 8) * times + quiesce;
}

int nof_fence_arm(struct nof_ctrl *ctrl)
{
	struct nof_fence *f = ctrl->fence ?: kzalloc(sizeof(*f), GFP_NOIO);

	if (!f)
		return -ENOMEM;
	if (!ctrl->fence) {
		INIT_LIST_HEAD(&f->entry);
		INIT_LIST_HEAD(&f->held);
		INIT_LIST_HEAD(&f->parked);
		INIT_DELAYED_WORK(&f->bound_work, bound_work);
		INIT_DELAYED_WORK(&f->reset_work, reset_work);
		f->subsys = ctrl->subsys;
		strscpy(f->name, nof_ctrl_name(ctrl), sizeof(f->name));
	}
	f->victim = (struct ccr_instance){ .cntlid = ctrl->cntlid, .ciu = ctrl->ident.ciu, .cirn = ctrl->ident.cirn };
	spin_lock_irq(&ctrl->subsys->fence_lock);
	ctrl->fence = f;
	spin_unlock_irq(&ctrl->subsys->fence_lock);
	return 0;
}

void nof_fence_disarm(struct nof_ctrl *ctrl)
{
	if (!ctrl->fence)
		return;
	WARN_ON_ONCE(fence_holds(ctrl->fence));
	kfree(ctrl->fence);
	ctrl->fence = NULL;
}

/*
 * fencing=auto, as other hosts do: 0 when the peer has closed the connection, is notified that this host closes it, or
 * was silent for the keep-alive timeout. After a network failure, or if the peer was cut off: what is left of that
 * timeout, ms.
 */
static u32 left_ms(const struct nof_ctrl *ctrl)
{
	u32 kato = nof_ka_timeout_ms(ctrl) ?: NOF_DEF_KATO_MS;

	switch (ctrl->end.cause) {
	case NOF_CAUSE_LOCAL:
		if (!ctrl->end.cut_off)
			return 0;
		fallthrough;
	case NOF_CAUSE_NETWORK:
		return kato > ctrl->end.quiet_ms ? kato - ctrl->end.quiet_ms : 0;
	default:
		return 0;
	}
}

/*
 * How long the policy holds requests that the association may still execute, at most, ms; 0: not at all. A planned
 * exchange of the transport's module is fenced: it must not be riskier than a failure.
 */
static u32 hold_ms(const struct nof_ctrl *ctrl)
{
	switch (READ_ONCE(ctrl->subsys->policy.fencing)) {
	case NVMEOF_FENCING_IMMEDIATE:
		return 0;
	case NVMEOF_FENCING_SAFE:
		return bound_ms(ctrl);
	default:
		return test_bit(NOF_CTRL_EXCHANGE, &ctrl->flags) ? bound_ms(ctrl) : left_ms(ctrl);
	}
}

static bool must_wait(const struct nof_ctrl *ctrl, const struct nof_request *req, struct request *rq)
{
	/* concurrent requests have no order: a read may see either data, and a flush covers completed writes only */
	if (!req->cmd.maybe_executed || nof_request_repeat(rq) == NOF_REPEAT_FREELY)
		return false;
	return nof_request_needs_query(rq) || hold_ms(ctrl);
}

bool nof_fence_hold(struct nof_ctrl *ctrl, struct nof_request *req, struct nof_completed *done)
{
	struct request *rq = nof_cmd_rq(&req->cmd);
	struct nof_head *head = rq->q->queuedata;
	struct nof_subsys *s = ctrl->subsys;
	struct nof_fence *f;
	bool hold, needs_query = nof_request_needs_query(rq);
	LIST_HEAD(parked);
	unsigned long flags;

	if (!must_wait(ctrl, req, rq))
		return false;
	trace_nof_fence_hold(ctrl, rq);
	if (nof_park(rq, &parked))
		rq = NULL;
	spin_lock_irqsave(&s->fence_lock, flags);
	f = ctrl->fence;
	hold = !test_bit(NOF_HEAD_NO_HOLD, &head->flags) && !WARN_ON_ONCE(!f);
	if (hold) {
		list_splice_tail_init(&parked, &f->parked);
		if (rq) {
			list_add_tail(&rq->queuelist, &f->held);
			atomic_inc(&s->waiting);
		}
		WRITE_ONCE(head->held, head->held + 1);
		f->nr++;
		f->needs_query |= needs_query;
		if (list_empty(&f->entry))
			list_add_tail(&f->entry, &s->fences);
	}
	spin_unlock_irqrestore(&s->fence_lock, flags);
	/* the disk is being removed: fails as in nof_fence_drop() */
	list_splice_tail(&parked, &done->bios);
	if (!hold && rq)
		nof_request_fail(req, done);
	return true;
}

void nof_fence_start(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_fence *f;
	u32 nr = 0, ms = 0, plain_ms;

	spin_lock_irq(&s->fence_lock);
	f = ctrl->fence;
	if (f && fence_holds(f)) {
		ctrl->fence = NULL;
		f->subsys = nof_subsys_get(s);	/* from now on the controller may be freed first */
		atomic_inc(&nr_started);
		nr = f->nr;
		plain_ms = hold_ms(ctrl);
		ms = f->needs_query ? bound_ms(ctrl) : plain_ms;
		f->lost_at = jiffies ?: 1;
		/* one more, as the current jiffy has partly passed */
		f->ends_at = f->lost_at + msecs_to_jiffies(ms) + 1;
		queue_delayed_work(nof_recovery_wq, &f->bound_work, msecs_to_jiffies(plain_ms) + 1);
		fence_kick(f);
	}
	spin_unlock_irq(&s->fence_lock);
	if (nr)
		dev_info(&ctrl->dev, "holding %u requests that the target may still execute, for at most %u ms\n", nr,
			 ms);
}

/* Moves the held requests of @head to @to. Caller holds fence_lock. */
static void drop_from(struct nof_fence *f, struct nof_head *head, struct released *to)
{
	struct request *rq, *next;
	u32 nr = 0;

	list_for_each_entry_safe(rq, next, &f->held, queuelist)
		if (rq->q->queuedata == head) {
			request_unhold(rq);
			nr++;
			list_add_tail(&rq->queuelist, &to->requests);
		}
	nr += nof_park_move(&f->parked, head, &to->parked);
	if (fence_holds(f)) {
		f->nr -= nr;
		return;
	}
	if (f->lost_at) {
		end_hold(f, NOF_FENCE_DROPPED, to);
	} else {
		/* its association is still being cancelled, and more requests may come */
		list_del_init(&f->entry);
		f->nr = 0;
		f->needs_query = false;
	}
}

void nof_fence_drop(struct nof_head *head)
{
	struct nof_subsys *s = head->subsys;
	struct nof_fence *f, *next_fence;
	struct nof_completed done;
	struct request *rq, *next;
	RELEASED(released);

	nof_completed_init(&done, NULL);
	spin_lock_irq(&s->fence_lock);
	set_bit(NOF_HEAD_NO_HOLD, &head->flags);
	list_for_each_entry_safe(f, next_fence, &s->fences, entry)
		drop_from(f, head, &released);
	spin_unlock_irq(&s->fence_lock);
	list_for_each_entry_safe(rq, next, &released.requests, queuelist) {
		list_del_init(&rq->queuelist);
		nof_request_fail(blk_mq_rq_to_pdu(rq), &done);
	}
	list_splice_tail(&released.parked, &done.bios);
	nof_completed_end(&done);
}

u32 nof_fence_held(const struct nof_head *head)
{
	return READ_ONCE(head->held);
}

/* Caller holds fence_lock */
static void fence_describe(const struct nof_fence *f, struct nof_hold *hold)
{
	strscpy(hold->of, f->name, sizeof(hold->of));
	strscpy(hold->resetter, f->step == CCR_SENT || f->step == CCR_RUNNING ? nof_ctrl_name(f->source) : "",
		sizeof(hold->resetter));
	hold->left_ms = time_after(f->ends_at, jiffies) ? jiffies_to_msecs(f->ends_at - jiffies) : 0;
}

bool nof_fence_last(struct nof_subsys *s, struct nof_hold *hold)
{
	struct nof_fence *f, *last = NULL;

	spin_lock_irq(&s->fence_lock);
	list_for_each_entry(f, &s->fences, entry)
		if (f->lost_at && (!last || time_after(f->ends_at, last->ends_at)))
			last = f;
	if (last)
		fence_describe(last, hold);
	spin_unlock_irq(&s->fence_lock);
	return last;
}

void nof_fence_exit(void)
{
	wait_event(none_started, !atomic_read(&nr_started));
}
