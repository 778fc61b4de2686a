// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller that is lost again and again soon after it has become live may be reached by a network that lets short
 * packets through and drops long ones: Connect, Keep Alive and small requests work. Each time it costs what was sent
 * there. So after some losses it is on probation: while another path works it gets single requests, reads first, then
 * writes, at a distance that grows with each further loss. It has to answer all of them to be used as before.
 */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/nvme.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/probation.h"
#include "mpath/request.h"

#define LOSSES		3
#define SOON		(60 * HZ)		/* after it became live */
#define RELAPSE		(600 * HZ)		/* lost so soon after its probation: that goes on */
#define READS		4			/* before the first write is risked */
#define TRIALS		8
#define WAIT		HZ			/* for a request of the kind that is due */
#define TRIAL_MS	2000U			/* one at a time, as long as it does not take longer */
#define FIRST_GAP_MS	1000U
#define MAX_GAP_MS	30000U

static bool counts(const struct nof_ctrl *ctrl)
{
	/* one that closes its connections, or was reset, shows nothing about the way to it */
	return ctrl->cause != NOF_CAUSE_PEER && !test_bit(NOF_CTRL_RESET, &ctrl->flags);
}

void nof_probation_lost(struct nof_ctrl *ctrl)
{
	struct nof_probation *p = &ctrl->probation;
	bool soon = time_before(jiffies, ctrl->live_at + SOON);
	bool relapse = p->gap_ms && time_before(jiffies, p->since + RELAPSE);

	lockdep_assert_held(&ctrl->subsys->lock);
	if (!counts(ctrl))
		return;
	if (!p->on && !relapse)
		p->gap_ms = 0;
	p->losses = soon || p->on || relapse ? p->losses + 1 : 1;
	if (p->losses == 1)
		p->since = jiffies;
	if (!p->on && !relapse && p->losses < LOSSES)
		return;
	WRITE_ONCE(p->gap_ms, p->gap_ms ? min(2 * p->gap_ms, MAX_GAP_MS) : FIRST_GAP_MS);
	if (relapse && !p->on)
		dev_warn(&ctrl->dev, "lost %u s after its probation: on probation again\n",
			 jiffies_to_msecs(jiffies - p->since) / 1000);
	else if (!p->on)
		dev_warn(&ctrl->dev, "lost %u times in %u s: on probation, where there are other paths\n", p->losses,
			 jiffies_to_msecs(jiffies - p->since) / 1000);
	p->since = jiffies;
	WRITE_ONCE(p->at, jiffies);
	atomic_set(&p->good, 0);
	if (p->on)
		return;
	WRITE_ONCE(p->on, true);
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_DEGRADED);
}

/*
 * Reads come first, then writes. One that is due and does not come is waited for for a moment; then the other will do,
 * so that loads of one kind are tried by that.
 */
static bool is_next(const struct nof_probation *p, enum req_op op, unsigned long at)
{
	bool reads = atomic_read(&p->good) < READS;

	if (op != REQ_OP_READ && op != REQ_OP_WRITE && op != REQ_OP_ZONE_APPEND)
		return false;
	return reads == (op == REQ_OP_READ) || time_after(jiffies, at + WAIT);
}

bool nof_probation_takes(struct nof_ctrl *ctrl, struct request *rq)
{
	const struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_probation *p = &ctrl->probation;
	unsigned long at = READ_ONCE(p->at);

	if (time_before(jiffies, at) || req->retries || req->losses || !is_next(p, req_op(rq), at))
		return false;
	return cmpxchg(&p->at, at, jiffies + msecs_to_jiffies(max(READ_ONCE(p->gap_ms), TRIAL_MS))) == at;
}

void nof_probation_tried(struct nof_ctrl *ctrl, bool answered)
{
	struct nof_probation *p = &ctrl->probation;

	/* one that was lost again has still some requests that end */
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return;
	WRITE_ONCE(p->at, jiffies + msecs_to_jiffies(READ_ONCE(p->gap_ms)));
	if (!answered)
		atomic_set(&p->good, 0);
	else if (atomic_inc_return(&p->good) == TRIALS)
		mod_delayed_work(nof_wq, &ctrl->subsys->health_work, 0);
}

static void release(struct nof_ctrl *ctrl)
{
	struct nof_probation *p = &ctrl->probation;

	p->since = jiffies;
	p->losses = 0;
	WRITE_ONCE(p->on, false);
	dev_info(&ctrl->dev, "has answered %u requests on probation: used again\n", TRIALS);
	nof_paths_publish(ctrl);
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_RESTORED);
}

void nof_probation_review(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->probation.on && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE &&
		    atomic_read(&ctrl->probation.good) >= TRIALS)
			release(ctrl);
}
