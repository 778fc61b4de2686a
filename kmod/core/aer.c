// SPDX-License-Identifier: GPL-2.0-only
/* Asynchronous events (NVMe Base 2.0, 5.2). One request is outstanding while the controller is live. */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "wire/ccr_log.h"

/* Event types to enable, if the controller supports them (OAES) */
#define WANTED	(NVME_AEN_CFG_NS_ATTR | NVME_AEN_CFG_FW_ACT | NVME_AEN_CFG_ANA_CHANGE | NVME_AEN_CFG_DISC_CHANGE | \
		 NOF_AEN_CFG_CCR)

/* TP8028: Cross-Controller Reset Completed */
#define NOTICE_CCR	0xf4

#define NO_MEMORY_MS	100

/* Delay before a refused request is sent again; doubled with each refusal, REFUSED_MOST times at most */
#define REFUSED_MS	1000
#define REFUSED_MOST	6

/* After this many events within one second, the next request is sent only at the end of that second */
#define BURST		64

static void aen_submit(struct nof_ctrl *ctrl)
{
	struct nof_cmd *cmd = ctrl->aen.cmd;
	u32 reconnects;
	int err;

	/*
	 * Recovery and deletion change the state before they take the queues down. A request that is submitted after
	 * the state check is therefore cancelled with its queue. If a whole reconnect completes before
	 * NOF_CTRL_AEN_OUT is cleared below, its nof_aer_start() saw the bit set and submitted nothing: try again.
	 */
	do {
		reconnects = READ_ONCE(ctrl->recovery.reconnects);
		if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || test_and_set_bit(NOF_CTRL_AEN_OUT, &ctrl->flags))
			return;
		memset(&cmd->sqe, 0, sizeof(cmd->sqe));
		cmd->sqe.common.opcode = nvme_admin_async_event;
		err = nof_admin_submit(ctrl, cmd);
		if (!err)
			return;
		clear_bit(NOF_CTRL_AEN_OUT, &ctrl->flags);
		smp_mb__after_atomic();
	} while (READ_ONCE(ctrl->recovery.reconnects) != reconnects);
	/* no slot, no memory, or no room in the send queue of an RDMA device */
	if (err != -ENOTCONN)
		queue_delayed_work(nof_wq, &ctrl->aen.arm_work,
				   msecs_to_jiffies(NO_MEMORY_MS + get_random_u32_below(NO_MEMORY_MS)));
}

/* In jiffies. Jitter: a target that lacks a resource may refuse the requests of all its hosts at once. */
static unsigned long aen_refused_delay(struct nof_ctrl *ctrl)
{
	u32 step = REFUSED_MS << ctrl->aen.refused;

	ctrl->aen.refused = min(ctrl->aen.refused + 1, REFUSED_MOST);
	return msecs_to_jiffies(step - get_random_u32_below(step / 2));
}

/*
 * Completion handler. aen_work() processes the event before the next request is sent, so the host paces a flood of
 * events. A refused request is sent again after a delay; the controller keeps its events pending meanwhile.
 */
static void aen_done(struct nof_cmd *cmd)
{
	struct nof_ctrl *ctrl = cmd->ctx;

	clear_bit(NOF_CTRL_AEN_OUT, &ctrl->flags);
	if (cmd->status == NVME_SC_HOST_ABORTED_CMD)
		return;
	if (cmd->status) {
		ctrl->aen.status = cmd->status;
		queue_delayed_work(nof_wq, &ctrl->aen.arm_work, aen_refused_delay(ctrl));
		return;
	}
	ctrl->aen.refused = 0;
	ctrl->aen.result = le32_to_cpu(cmd->result.u32);
	queue_work(nof_wq, &ctrl->aen.work);
}

static void arm_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, aen.arm_work);

	if (ctrl->aen.refused == 1 && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		nof_ctrl_note(ctrl, -EIO, ctrl->aen.status, "target refused the asynchronous event request, retrying");
	aen_submit(ctrl);
}

static void aen_handle_notice(struct nof_ctrl *ctrl, u8 info)
{
	switch (info) {
	case NVME_AER_NOTICE_NS_CHANGED:
		nof_scan_start(ctrl);
		break;
	case NVME_AER_NOTICE_ANA:
		queue_work(nof_wq, &ctrl->ana.work);
		break;
	case NOTICE_CCR:
		nof_mpath.ccr_notice(ctrl);
		break;
	default:
		break;
	}
}

/* Reservation Notification log page (NVMe Base 2.0, 5.16.1.24): one notification per read; type 0: none is left */
struct resv_notice {
	__le64	count;
	u8	type;
	u8	left;
	u8	rsvd10[2];
	__le32	nsid;
	u8	rsvd16[48];
};
static_assert(sizeof(struct resv_notice) == 64);

/* Bounds the reads: no controller keeps more notifications */
#define MOST_NOTICES	256

static const char *resv_notice_text(u8 type)
{
	switch (type) {
	case 1:
		return "registration of this host was preempted by another host";
	case 2:
		return "the reservation was released";
	case 3:
		return "another host has preempted the reservation";
	default:
		return "unknown reservation notification";
	}
}

/* Returns 0, or an NVMe status or negative errno if the log was not read. */
static int resv_log_notices(struct nof_ctrl *ctrl)
{
	struct resv_notice *notice = kmalloc(sizeof(*notice), GFP_NOIO);
	int ret = notice ? 0 : -ENOMEM, nr;

	for (nr = 0; !ret && nr < MOST_NOTICES; nr++) {
		/* the deletion waits for this, and each read may take seconds */
		if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_DELETING) {
			ret = -ECANCELED;
			break;
		}
		ret = nof_get_log(ctrl, NVME_LOG_RESERVATION, 0, 0, notice, sizeof(*notice));
		if (ret || !notice->type)
			break;
		dev_notice_ratelimited(&ctrl->dev, "namespace %u: %s\n", le32_to_cpu(notice->nsid),
				       resv_notice_text(notice->type));
	}
	kfree(notice);
	return ret;
}

static int clear_log(struct nof_ctrl *ctrl, u8 log_page)
{
	u32 len = log_page == NVME_LOG_ERROR ? 64 : 512;
	void *buf;
	int ret;

	if (log_page == NVME_LOG_RESERVATION)
		return resv_log_notices(ctrl);
	buf = kmalloc(len, GFP_NOIO);
	if (!buf)
		return -ENOMEM;
	ret = nof_get_log(ctrl, log_page, 0, 0, buf, len);
	kfree(buf);
	return ret;
}

/*
 * The controller reports an event type again only after the host has read the log page named in the event (NVMe Base
 * 2.0, 5.2.1). Retry on lack of memory: giving up would disable the event type.
 */
static void clear_event(struct nof_ctrl *ctrl, u8 log_page)
{
	if (log_page != NVME_LOG_ERROR && log_page != NVME_LOG_SMART && log_page != NVME_LOG_FW_SLOT &&
	    log_page != NVME_LOG_RESERVATION)
		return;
	while (clear_log(ctrl, log_page) == -ENOMEM && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		msleep(NO_MEMORY_MS);
}

/* Delay before the next request, in jiffies: after BURST events the rest of the second, with jitter between hosts */
static unsigned long aen_burst_delay(struct nof_ctrl *ctrl)
{
	unsigned long now = jiffies;

	if (time_after_eq(now, ctrl->aen.since + HZ)) {
		ctrl->aen.since = now;
		ctrl->aen.nr = 0;
	}
	if (++ctrl->aen.nr < BURST)
		return 0;
	return ctrl->aen.since + HZ - now + get_random_u32_below(HZ / 4);
}

/* Interval of reading CSTS.PP, and the time limit if the controller reports no MTFA */
#define FW_POLL_MS	100
#define FW_DEF_MS	60000
/* Longest time that a deletion waits for firmware */
#define FW_DELETE_MS	60000

static void fw_set_paused(struct nof_ctrl *ctrl, bool on)
{
	mutex_lock(&ctrl->subsys->lock);
	assign_bit(NOF_CTRL_PAUSED, &ctrl->flags, on);
	nof_mpath.publish(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
}

u32 nof_aer_pause_left_ms(const struct nof_ctrl *ctrl)
{
	long left = READ_ONCE(ctrl->fw.deadline) - jiffies;

	return left > 0 ? jiffies_to_msecs(left) : 0;
}

/* The log page is read only now: the controller processed no commands before */
static void fw_activation_end(struct nof_ctrl *ctrl)
{
	fw_set_paused(ctrl, false);
	dev_info_ratelimited(&ctrl->dev, "firmware activated: I/O resumes\n");
	clear_event(ctrl, NVME_LOG_FW_SLOT);
	queue_delayed_work(nof_wq, &ctrl->aen.arm_work, aen_burst_delay(ctrl));
}

/* The end of the association also ends the pause: see nof_aer_stop() */
static bool fw_is_paused(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_PAUSED, &ctrl->flags) && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;
}

static void fw_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, fw.work);
	u64 csts;
	int ret;

	if (!fw_is_paused(ctrl))
		return;
	ret = nof_property_get(ctrl, NVME_REG_CSTS, false, &csts);
	if (!fw_is_paused(ctrl))
		return;
	if (!ret && !(csts & NVME_CSTS_PP)) {
		fw_activation_end(ctrl);
	} else if (time_after(jiffies, ctrl->fw.deadline)) {
		nof_ctrl_note(ctrl, -ETIMEDOUT, max(ret, 0), "firmware was not active in time (MTFA)");
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	} else {
		queue_delayed_work(nof_wq, &ctrl->fw.work, msecs_to_jiffies(FW_POLL_MS));
	}
}

/*
 * The controller processes no commands while it activates firmware (NVMe Base 2.0, 3.11): its paths take no new I/O
 * until CSTS.PP is clear.
 */
static void fw_activation_begin(struct nof_ctrl *ctrl)
{
	u32 ms = ctrl->ident.mtfa * 100 ?: FW_DEF_MS;

	WRITE_ONCE(ctrl->fw.deadline, jiffies + msecs_to_jiffies(ms));
	fw_set_paused(ctrl, true);
	/* pairs with nof_aer_stop(), which clears the bit after the state has changed: one of the two clears it last */
	smp_mb();
	if (!fw_is_paused(ctrl)) {
		fw_set_paused(ctrl, false);
		return;
	}
	dev_info_ratelimited(&ctrl->dev, "firmware activation started: no new I/O for up to %u ms\n", ms);
	queue_delayed_work(nof_wq, &ctrl->fw.work, 0);
}

static void aen_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, aen.work);
	u32 result = ctrl->aen.result;
	u8 type = result & 0x7, info = result >> 8, log_page = result >> 16;

	nof_events->aen(ctrl, type, info, log_page);
	if (type == NVME_AER_ERROR && info == NVME_AER_ERROR_PERSIST_INT_ERR) {
		nof_ctrl_note(ctrl, -EIO, 0, "controller reports a persistent internal error");
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
		return;
	}
	if (type == NVME_AER_NOTICE && info == NVME_AER_NOTICE_FW_ACT_STARTING) {
		/* fw_activation_end() sends the next request */
		fw_activation_begin(ctrl);
		return;
	}
	if (type == NVME_AER_NOTICE)
		aen_handle_notice(ctrl, info);
	clear_event(ctrl, log_page);
	queue_delayed_work(nof_wq, &ctrl->aen.arm_work, aen_burst_delay(ctrl));
}

int nof_aer_init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->aen.work, aen_work);
	INIT_DELAYED_WORK(&ctrl->aen.arm_work, arm_work);
	INIT_DELAYED_WORK(&ctrl->fw.work, fw_work);
	ctrl->aen.since = jiffies;
	ctrl->aen.cmd = kzalloc(sizeof(*ctrl->aen.cmd), GFP_KERNEL);
	if (!ctrl->aen.cmd)
		return -ENOMEM;
	ctrl->aen.cmd->done = aen_done;
	ctrl->aen.cmd->ctx = ctrl;
	return 0;
}

/* A controller that refuses the feature is used without events; this is logged. */
int nof_aer_configure(struct nof_ctrl *ctrl)
{
	u32 mask = ctrl->ident.oaes & WANTED;
	int ret;

	clear_bit(NOF_CTRL_AEN, &ctrl->flags);
	if (!mask)
		return 0;
	ret = nof_set_features(ctrl, NVME_FEAT_ASYNC_EVENT, mask, NULL);
	if (ret < 0)
		return ret;
	if (ret)
		nof_ctrl_note(ctrl, -EOPNOTSUPP, ret,
			      "target refused asynchronous events: changes of namespaces are only seen by a rescan");
	else
		set_bit(NOF_CTRL_AEN, &ctrl->flags);
	return 0;
}

void nof_aer_start(struct nof_ctrl *ctrl)
{
	/* aen_work() of the previous association may have queued it after nof_aer_stop() */
	cancel_delayed_work(&ctrl->aen.arm_work);
	if (test_bit(NOF_CTRL_AEN, &ctrl->flags))
		aen_submit(ctrl);
}

/*
 * Call after the state has left LIVE and nof_queues_cancel() has returned: no request can be submitted or complete any
 * more, so nothing queues aen.work. A running aen_work() may sleep and is not waited for: see nof_aer_start().
 */
void nof_aer_stop(struct nof_ctrl *ctrl)
{
	cancel_work(&ctrl->aen.work);
	cancel_delayed_work(&ctrl->aen.arm_work);
	cancel_delayed_work(&ctrl->fw.work);
	clear_bit(NOF_CTRL_PAUSED, &ctrl->flags);
	ctrl->aen.refused = 0;
}

/* The controller reports that the activation has ended, or its connection is lost */
static bool fw_has_ended(struct nof_ctrl *ctrl)
{
	u64 csts;
	int ret = nof_property_get(ctrl, NVME_REG_CSTS, false, &csts);

	return ret == -ENOTCONN || ret == -ECONNRESET || (!ret && !(csts & NVME_CSTS_PP));
}

void nof_aer_end(struct nof_ctrl *ctrl)
{
	unsigned long end = jiffies + msecs_to_jiffies(FW_DELETE_MS);
	bool ended = false;

	cancel_work_sync(&ctrl->aen.work);
	cancel_delayed_work_sync(&ctrl->fw.work);
	cancel_delayed_work_sync(&ctrl->aen.arm_work);
	/* a disk that is removed with its only path writes back its data first */
	while (nof_ctrl_is_paused(ctrl) && time_before(jiffies, end) && !nof_mpath.all_have_other_path(ctrl)) {
		ended = fw_has_ended(ctrl);
		if (ended)
			break;
		msleep(FW_POLL_MS);
	}
	/* disks that have another path continue to use only that one */
	if (ended || !nof_mpath.all_have_other_path(ctrl))
		clear_bit(NOF_CTRL_PAUSED, &ctrl->flags);
}
