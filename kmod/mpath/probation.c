// SPDX-License-Identifier: GPL-2.0-only
/*
 * A controller that is lost again and again soon after it has become live may be reached by a network that lets short
 * packets through and drops long ones: Connect, Keep Alive and small requests work. Each time it costs what was sent
 * there. So after some losses it is on probation: while another path works it gets single requests, reads first, then
 * writes, at a distance that grows with each further loss. It has to answer all of them to be used as before.
 *
 * The rules are in core/probation.c.
 */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include "core/ctrl.h"
#include "core/probation.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/path.h"
#include "mpath/probation.h"

static bool counts(const struct nof_ctrl *ctrl)
{
	/* one that closes its connections, or was reset, shows nothing about the way to it */
	return ctrl->end.cause != NOF_CAUSE_PEER && !test_bit(NOF_CTRL_RESET, &ctrl->flags);
}

void nof_probation_lost(struct nof_ctrl *ctrl)
{
	struct nof_probation *p = &ctrl->probation;
	unsigned long since = p->since;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (!counts(ctrl))
		return;
	switch (nof_probation_loss(p, jiffies, ctrl->recovery.live_at)) {
	case NOF_LOSS_BEGINS:
		dev_warn(&ctrl->dev, "lost %u times in %u s: on probation, where there are other paths\n", p->losses,
			 jiffies_to_msecs(jiffies - since) / 1000);
		break;
	case NOF_LOSS_RELAPSE:
		dev_warn(&ctrl->dev, "lost %u s after its probation: on probation again\n",
			 jiffies_to_msecs(jiffies - since) / 1000);
		break;
	default:
		return;
	}
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_DEGRADED);
}

bool nof_probation_takes(struct nof_ctrl *ctrl, const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return nof_probation_take(&ctrl->probation, jiffies, true);
	case REQ_OP_WRITE:
	case REQ_OP_ZONE_APPEND:
		return nof_probation_take(&ctrl->probation, jiffies, false);
	default:
		return false;
	}
}

void nof_probation_tried(struct nof_ctrl *ctrl, bool answered)
{
	/* one that was lost again has still some requests that end */
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_probation_trial(&ctrl->probation, jiffies, answered))
		mod_delayed_work(nof_wq, &ctrl->subsys->health_work, 0);
}

static void release(struct nof_ctrl *ctrl)
{
	nof_probation_end(&ctrl->probation, jiffies);
	dev_info(&ctrl->dev, "has answered %u requests on probation: used again\n", NOF_PROBATION_TRIALS);
	nof_paths_publish(ctrl);
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_RESTORED);
}

void nof_probation_review(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->probation.on && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE &&
		    atomic_read(&ctrl->probation.good) >= NOF_PROBATION_TRIALS)
			release(ctrl);
}
