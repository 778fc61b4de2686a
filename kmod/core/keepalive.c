// SPDX-License-Identifier: GPL-2.0-only
/* Keep Alive: its timeout, and the commands that tell the target that this host is alive, and the reverse. */
#include <linux/random.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/work.h"

/* The task that sets NOF_CTRL_KA_OUT owns ka.cmd */
int nof_ka_send(struct nof_ctrl *ctrl)
{
	struct nof_cmd *cmd = ctrl->ka.cmd;
	int err;

	if (test_and_set_bit_lock(NOF_CTRL_KA_OUT, &ctrl->flags))
		return 0;
	memset(&cmd->sqe, 0, sizeof(cmd->sqe));
	cmd->sqe.common.opcode = nvme_admin_keep_alive;
	WRITE_ONCE(ctrl->ka.sent_at, jiffies);
	err = nof_admin_submit(ctrl, cmd);
	if (err)
		clear_bit_unlock(NOF_CTRL_KA_OUT, &ctrl->flags);
	return err;
}

/*
 * Half the timeout, so that a second command is in time if the first is lost. With traffic based keep-alive any
 * completion since the last run replaces the command: a quarter, as that command may have been sent before that run.
 */
static unsigned long ka_period(const struct nof_ctrl *ctrl)
{
	u32 part = ctrl->ka.tmo_ms / (test_bit(NOF_CTRL_TBKAS, &ctrl->flags) ? 4 : 2);

	/* jitter: hosts that connected at the same time must not stay in step */
	return max(msecs_to_jiffies(part - get_random_u32_below(part / 8 + 1)), 1UL);
}

static void ka_done(struct nof_cmd *cmd)
{
	struct nof_ctrl *ctrl = cmd->ctx;

	/* without a keep-alive timeout the command is a probe, for which any response will do */
	if (cmd->status && cmd->status != NVME_SC_HOST_ABORTED_CMD && ctrl->ka.tmo_ms)
		nof_ctrl_note(ctrl, -EIO, cmd->status, "keep-alive failed");
	clear_bit_unlock(NOF_CTRL_KA_OUT, &ctrl->flags);
}

u32 nof_ka_timeout_ms(const struct nof_ctrl *ctrl)
{
	u32 unit = ctrl->ident.kas * 100;

	/* a passthrough command may have set any value */
	return unit ? min_t(u64, DIV_ROUND_UP_ULL(ctrl->ka.tmo_ms, unit) * unit, U32_MAX) : ctrl->ka.tmo_ms;
}

/*
 * True if a Keep Alive has been outstanding for the timeout: a peer that is unreachable for less keeps its connection.
 * Twice the timeout where the watch runs: it decides first, as it can tell a busy host from a silent peer.
 */
static bool ka_overdue(const struct nof_ctrl *ctrl)
{
	bool watched = READ_ONCE(ctrl->opts.stall_tmo_ms) && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;
	u32 ms = min(nof_ka_timeout_ms(ctrl), U32_MAX / 2) * (watched ? 2 : 1);

	return test_bit(NOF_CTRL_KA_OUT, &ctrl->flags) &&
	       time_after(jiffies, READ_ONCE(ctrl->ka.sent_at) + msecs_to_jiffies(ms));
}

/*
 * True if no Keep Alive could be sent for the timeout, as the queue had no slot, the host no memory, or the send queue
 * of an RDMA device no room. Nothing else limits that: the device may retry the commands of a silent peer without end.
 */
static bool ka_blocked(struct nof_ctrl *ctrl, int err)
{
	struct nof_keep_alive *ka = &ctrl->ka;

	if (!err)
		ka->blocked_at = 0;
	else if (!ka->blocked_at)
		ka->blocked_at = jiffies ?: 1;
	return err && time_after(jiffies, ka->blocked_at + msecs_to_jiffies(nof_ka_timeout_ms(ctrl)));
}

static void ka_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ka.work);
	bool busy = nof_queues_progressed(ctrl, NOF_WATCH_KEEP_ALIVE);
	int err = 0;

	/* a passthrough command disabled keep-alive for this association */
	if (!READ_ONCE(ctrl->ka.tmo_ms))
		return;

	/* any other completion also shows that the controller is alive */
	if (!busy && ka_overdue(ctrl)) {
		nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no answer to keep-alive");
		nof_ctrl_error(ctrl, NOF_CAUSE_EXPIRED);
		return;
	}
	if (!busy || !test_bit(NOF_CTRL_TBKAS, &ctrl->flags))
		err = nof_ka_send(ctrl);
	if (err == -ENOTCONN)
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	if (ka_blocked(ctrl, err)) {
		nof_ctrl_note(ctrl, err, 0, "no Keep Alive could be sent for the keep-alive timeout");
		nof_ctrl_error(ctrl, NOF_CAUSE_EXPIRED);
		return;
	}
	queue_delayed_work(nof_recovery_wq, &ctrl->ka.work, err ? ka_period(ctrl) / 8 + 1 : ka_period(ctrl));
}

u32 nof_ka_change_begin(struct nof_ctrl *ctrl, u32 ms)
{
	u32 before = READ_ONCE(ctrl->ka.tmo_ms);

	if (ms > before)
		WRITE_ONCE(ctrl->ka.tmo_ms, ms);
	return before;
}

/* Reschedules the next Keep Alive by the current timeout */
static void ka_reschedule(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	/* a task that leaves this state does so under the lock, and stops the work afterwards */
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (READ_ONCE(ctrl->ka.tmo_ms) && ctrl->state == NVMEOF_CTRL_LIVE)
		mod_delayed_work(nof_recovery_wq, &ctrl->ka.work, ka_period(ctrl));
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

void nof_ka_change_failed(struct nof_ctrl *ctrl, u32 ms, u32 before)
{
	if (ms <= before)
		return;
	cmpxchg(&ctrl->ka.tmo_ms, ms, before);
	ka_reschedule(ctrl);
}

/* Reads back the timeout, which a Set Features command may have changed */
static int ka_read(struct nof_ctrl *ctrl)
{
	u32 ms, most = max3(NOF_MAX_KATO_MS, ctrl->opts.kato_ms, ctrl->ka.tmo_ms);
	int ret = nof_get_features(ctrl, NVME_FEAT_KATO, &ms);

	/* without a value the last one stays; a value above every one that was requested is not trusted */
	if (!ret && ms)
		WRITE_ONCE(ctrl->ka.tmo_ms, clamp(ms, NOF_MIN_KATO_MS, most));
	return min(ret, 0);
}

void nof_ka_change_done(struct nof_ctrl *ctrl, bool off)
{
	if (off)
		WRITE_ONCE(ctrl->ka.tmo_ms, 0);
	else
		ka_read(ctrl);
	ka_reschedule(ctrl);
}

/* Requests a shorter timeout: fencing holds requests for a multiple of it, see mpath/fence.c. */
static int ka_request_short(struct nof_ctrl *ctrl)
{
	int ret;

	if (ctrl->opts.kato_given || ctrl->discovery || !ctrl->ident.kas || ctrl->ident.kas * 100 > NOF_SHORT_KATO_MS)
		return 0;
	ret = nof_set_features(ctrl, NVME_FEAT_KATO, NOF_SHORT_KATO_MS, NULL);
	if (!ret)
		WRITE_ONCE(ctrl->ka.tmo_ms, NOF_SHORT_KATO_MS);
	return min(ret, 0);
}

int nof_ka_negotiate(struct nof_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->ka.tmo_ms, ctrl->opts.kato_ms);
	if (!ctrl->ka.tmo_ms)
		return 0;
	return ka_request_short(ctrl) ?: ka_read(ctrl);
}

int nof_ka_init(struct nof_ctrl *ctrl)
{
	INIT_DELAYED_WORK(&ctrl->ka.work, ka_work);
	ctrl->ka.cmd = kzalloc(sizeof(*ctrl->ka.cmd), GFP_KERNEL);
	if (!ctrl->ka.cmd)
		return -ENOMEM;
	ctrl->ka.cmd->done = ka_done;
	ctrl->ka.cmd->ctx = ctrl;
	return 0;
}

void nof_ka_start(struct nof_ctrl *ctrl)
{
	ctrl->ka.blocked_at = 0;
	if (ctrl->ka.tmo_ms)
		queue_delayed_work(nof_recovery_wq, &ctrl->ka.work, ka_period(ctrl));
}

/* An outstanding command is cancelled with the queue. */
void nof_ka_stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->ka.work);
}
