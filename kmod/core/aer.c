// SPDX-License-Identifier: GPL-2.0-only
/* Asynchronous events (NVMe Base 2.0, 5.2): one request is kept at the controller while it is live. */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/above.h"
#include "core/ccr_log.h"
#include "core/event.h"
#include "core/lifecycle.h"

/* Those we act on or pass on, as far as the controller offers them */
#define WANTED	(NVME_AEN_CFG_NS_ATTR | NVME_AEN_CFG_FW_ACT | NVME_AEN_CFG_ANA_CHANGE | NVME_AEN_CFG_DISC_CHANGE | \
		 NOF_AEN_CFG_CCR)

/* TP8028: Cross-Controller Reset Completed */
#define NOTICE_CCR	0xf4

#define NO_MEMORY_MS	100

/* Before the request is sent again that was refused; doubled each time, so many times */
#define REFUSED_MS	1000
#define REFUSED_MOST	6

/* So many in a second are taken as they come. Of the next the controller is asked when the second is over. */
#define BURST		64

static void arm(struct nof_ctrl *ctrl)
{
	struct nof_cmd *cmd = ctrl->aen_cmd;
	u32 reconnects;

	/*
	 * TRAP 14: recovery and deletion stop this work after the state has changed, and cancel a request that slipped
	 * through. Should a whole reconnect go by before the mark is cleared, its own start has found it set.
	 */
	do {
		reconnects = READ_ONCE(ctrl->reconnects);
		if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || test_and_set_bit(NOF_CTRL_AEN_OUT, &ctrl->flags))
			return;
		memset(&cmd->sqe, 0, sizeof(cmd->sqe));
		cmd->sqe.common.opcode = nvme_admin_async_event;
		if (!nof_admin_submit(ctrl, cmd))
			return;
		clear_bit(NOF_CTRL_AEN_OUT, &ctrl->flags);
		smp_mb__after_atomic();
	} while (READ_ONCE(ctrl->reconnects) != reconnects);
}

/* A target that is short of something may refuse those of all its hosts (TRAP 31) */
static unsigned long refused_rest(struct nof_ctrl *ctrl)
{
	u32 step = REFUSED_MS << ctrl->aen_refused;

	ctrl->aen_refused = min(ctrl->aen_refused + 1, REFUSED_MOST);
	return msecs_to_jiffies(step - get_random_u32_below(step / 2));
}

/*
 * Only the command is handed on; it is armed again once the event was looked at, so a flood of events is paced by us.
 * One that was refused is sent again after a rest: what happens meanwhile the controller keeps to itself until then.
 */
static void aen_done(struct nof_cmd *cmd)
{
	struct nof_ctrl *ctrl = cmd->ctx;

	clear_bit(NOF_CTRL_AEN_OUT, &ctrl->flags);
	if (cmd->status == NVME_SC_HOST_ABORTED_CMD)
		return;
	if (cmd->status) {
		ctrl->aen_status = cmd->status;
		queue_delayed_work(nof_wq, &ctrl->arm_work, refused_rest(ctrl));
		return;
	}
	ctrl->aen_refused = 0;
	ctrl->aen_result = le32_to_cpu(cmd->result.u32);
	queue_work(nof_wq, &ctrl->aen_work);
}

static void arm_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, arm_work);

	if (ctrl->aen_refused == 1 && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		nof_ctrl_note(ctrl, -EIO, ctrl->aen_status, "asynchronous event request refused, sent again");
	arm(ctrl);
}

static void notice(struct nof_ctrl *ctrl, u8 info)
{
	switch (info) {
	case NVME_AER_NOTICE_NS_CHANGED:
		nof_scan_start(ctrl);
		break;
	case NVME_AER_NOTICE_ANA:
		queue_work(nof_wq, &ctrl->ana_work);
		break;
	case NOTICE_CCR:
		nof_mpath.reset_told(ctrl);
		break;
	default:
		break;
	}
}

/*
 * The log page named in the event has to be read for the controller to report this type again (5.2.1). A lack of memory
 * is waited out: it is no reason to hear no more of it.
 */
static void clear_event(struct nof_ctrl *ctrl, u8 log_page)
{
	u32 len = log_page == NVME_LOG_ERROR ? 64 : 512;
	void *buf;
	int ret;

	if (log_page != NVME_LOG_ERROR && log_page != NVME_LOG_SMART && log_page != NVME_LOG_FW_SLOT)
		return;
	for (;;) {
		ret = -ENOMEM;
		buf = kmalloc(len, GFP_NOIO);
		if (buf)
			ret = nof_get_log(ctrl, log_page, 0, 0, buf, len);
		kfree(buf);
		if (ret != -ENOMEM || nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
			return;
		msleep(NO_MEMORY_MS);
	}
}

/* None, but for one that never ends to report what is left of the second; not the same for all its hosts (TRAP 31) */
static unsigned long burst_rest(struct nof_ctrl *ctrl)
{
	unsigned long now = jiffies;

	if (time_after_eq(now, ctrl->aen_since + HZ)) {
		ctrl->aen_since = now;
		ctrl->aen_nr = 0;
	}
	if (++ctrl->aen_nr < BURST)
		return 0;
	return ctrl->aen_since + HZ - now + get_random_u32_below(HZ / 4);
}

static void aen_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, aen_work);
	u32 result = ctrl->aen_result;
	u8 type = result & 0x7, info = result >> 8, log_page = result >> 16;

	nof_events->aen(ctrl, type, info, log_page);
	if (type == NVME_AER_ERROR && info == NVME_AER_ERROR_PERSIST_INT_ERR) {
		nof_ctrl_note(ctrl, -EIO, 0, "controller reports a persistent internal error");
		nof_ctrl_error(ctrl);
		return;
	}
	if (type == NVME_AER_NOTICE)
		notice(ctrl, info);
	clear_event(ctrl, log_page);
	queue_delayed_work(nof_wq, &ctrl->arm_work, burst_rest(ctrl));
}

int nof_aer_init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->aen_work, aen_work);
	INIT_DELAYED_WORK(&ctrl->arm_work, arm_work);
	ctrl->aen_since = jiffies;
	ctrl->aen_cmd = kzalloc(sizeof(*ctrl->aen_cmd), GFP_KERNEL);
	if (!ctrl->aen_cmd)
		return -ENOMEM;
	ctrl->aen_cmd->done = aen_done;
	ctrl->aen_cmd->ctx = ctrl;
	return 0;
}

/* A controller that refuses the feature is used without events: that is noted, not fatal. */
int nof_aer_configure(struct nof_ctrl *ctrl)
{
	u32 mask = ctrl->oaes & WANTED;
	int ret;

	clear_bit(NOF_CTRL_AEN, &ctrl->flags);
	if (!mask)
		return 0;
	ret = nof_set_features(ctrl, NVME_FEAT_ASYNC_EVENT, mask, NULL);
	if (ret < 0)
		return ret;
	if (ret)
		nof_ctrl_note(ctrl, -EOPNOTSUPP, ret, "no asynchronous events");
	else
		set_bit(NOF_CTRL_AEN, &ctrl->flags);
	return 0;
}

void nof_aer_start(struct nof_ctrl *ctrl)
{
	/* what the event work of the last association may have queued after nof_aer_stop() */
	cancel_delayed_work(&ctrl->arm_work);
	if (test_bit(NOF_CTRL_AEN, &ctrl->flags))
		arm(ctrl);
}

/*
 * The state is no longer LIVE and the queues are killed: nothing is sent, and nothing completes that would queue
 * aen_work. One that runs is not waited for, as it may wait itself: see nof_aer_start().
 */
void nof_aer_stop(struct nof_ctrl *ctrl)
{
	cancel_work(&ctrl->aen_work);
	cancel_delayed_work(&ctrl->arm_work);
	ctrl->aen_refused = 0;
}

void nof_aer_end(struct nof_ctrl *ctrl)
{
	cancel_work_sync(&ctrl->aen_work);
	cancel_delayed_work_sync(&ctrl->arm_work);
}
