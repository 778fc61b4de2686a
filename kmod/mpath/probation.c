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
#include "mpath/notice.h"
#include "mpath/path.h"
#include "mpath/probation.h"
#include "mpath/request.h"

#define LOSSES		3
#define SOON		(60 * HZ)		/* after it became live */
#define RELAPSE		(600 * HZ)		/* lost so soon after its probation: that goes on */
#define READS		4			/* before the first write is risked */
#define TRIALS		8
#define WAIT_FOR_READ	HZ			/* then a write goes without */
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
	p->losses = soon || p->on || relapse ? p->losses + 1 : 1;
	if (p->losses == 1)
		p->since = jiffies;
	if (!p->on && !relapse && p->losses < LOSSES)
		return;
	p->gap_ms = p->on || relapse ? min(2 * p->gap_ms, MAX_GAP_MS) : FIRST_GAP_MS;
	if (relapse && !p->on)
		dev_warn(&ctrl->dev, "lost %u s after its probation: on probation again\n",
			 jiffies_to_msecs(jiffies - p->since) / 1000);
	else if (!p->on)
		dev_warn(&ctrl->dev, "lost %u times in %u s: on probation, where there are other paths\n", p->losses,
			 jiffies_to_msecs(jiffies - p->since) / 1000);
	p->since = p->at = jiffies;
	atomic_set(&p->good, 0);
	WRITE_ONCE(p->on, true);
}

bool nof_probation_takes(struct nof_ctrl *ctrl, struct request *rq)
{
	const struct nof_request *req = blk_mq_rq_to_pdu(rq);
	struct nof_probation *p = &ctrl->probation;
	unsigned long at = READ_ONCE(p->at);
	bool read = req_op(rq) == REQ_OP_READ;

	if (time_before(jiffies, at) || req->retries || req->losses)
		return false;
	if (!read && (req_op(rq) != REQ_OP_WRITE ||
		      (atomic_read(&p->good) < READS && time_before(jiffies, at + WAIT_FOR_READ))))
		return false;
	return cmpxchg(&p->at, at, jiffies + msecs_to_jiffies(max(READ_ONCE(p->gap_ms), TRIAL_MS))) == at;
}

void nof_probation_tried(struct nof_ctrl *ctrl, bool good)
{
	struct nof_probation *p = &ctrl->probation;

	WRITE_ONCE(p->at, jiffies + msecs_to_jiffies(READ_ONCE(p->gap_ms)));
	if (!good)
		atomic_set(&p->good, 0);
	else if (atomic_inc_return(&p->good) == TRIALS)
		mod_delayed_work(nof_wq, &ctrl->subsys->health_work, 0);
}

static void release(struct nof_ctrl *ctrl)
{
	struct nof_probation *p = &ctrl->probation;

	struct nof_head *head;
	struct nof_path *path;

	p->since = jiffies;
	p->losses = 0;
	WRITE_ONCE(p->on, false);
	dev_info(&ctrl->dev, "has answered %u requests on probation: used again\n", TRIALS);
	nof_paths_publish(ctrl);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			nof_news_path(path, NVMEOF_EVENT_RESTORED);
}

void nof_probation_review(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->probation.on && atomic_read(&ctrl->probation.good) >= TRIALS)
			release(ctrl);
}
