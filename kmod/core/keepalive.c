// SPDX-License-Identifier: GPL-2.0-only
/* Keep-alive (NVMe Base 2.0, 3.9): tells the target that we live, and finds out whether it does. */
#include <linux/random.h>
#include <linux/slab.h>
#include "core/lifecycle.h"
#include "core/watch.h"

/*
 * Half the timeout, so that one command may be lost in time. With traffic based keep-alive any completion since the
 * last look stands for the command: a quarter, as what has completed may have been sent before the look ahead of that.
 */
static unsigned long period(const struct nof_ctrl *ctrl)
{
	u32 part = ctrl->kato_ms / (test_bit(NOF_CTRL_TBKAS, &ctrl->flags) ? 4 : 2);

	/* hosts that connected together shall not keep in step (TRAP 31) */
	return max(msecs_to_jiffies(part - get_random_u32_below(part / 8 + 1)), 1UL);
}

static void ka_done(struct nof_cmd *cmd)
{
	struct nof_ctrl *ctrl = cmd->ctx;

	/* to a probe without a timeout any answer is good */
	if (cmd->status && cmd->status != NVME_SC_HOST_ABORTED_CMD && ctrl->kato_ms)
		nof_ctrl_note(ctrl, -EIO, cmd->status, "keep-alive failed");
	clear_bit_unlock(NOF_CTRL_KA_OUT, &ctrl->flags);
}

/* Whoever sets KA_OUT owns the command. False when there is no queue to send it on. */
static bool keepalive_send(struct nof_ctrl *ctrl)
{
	struct nof_cmd *cmd = ctrl->ka_cmd;

	if (test_and_set_bit_lock(NOF_CTRL_KA_OUT, &ctrl->flags))
		return true;
	memset(&cmd->sqe, 0, sizeof(cmd->sqe));
	cmd->sqe.common.opcode = nvme_admin_keep_alive;
	WRITE_ONCE(ctrl->ka_sent, jiffies);
	if (!nof_admin_submit(ctrl, cmd))
		return true;
	clear_bit_unlock(NOF_CTRL_KA_OUT, &ctrl->flags);
	return false;
}

void nof_ka_probe(struct nof_ctrl *ctrl)
{
	keepalive_send(ctrl);
}

u32 nof_ka_timeout_ms(const struct nof_ctrl *ctrl)
{
	u32 unit = ctrl->kas * 100;

	return unit ? DIV_ROUND_UP(ctrl->kato_ms, unit) * unit : ctrl->kato_ms;
}

/*
 * Not answered for the timeout itself: a peer that is cut off for less goes on with the same connection. The watch
 * decides first where it runs, as it tells a machine that is busy from a peer that is silent.
 */
static bool overdue(const struct nof_ctrl *ctrl)
{
	bool watched = READ_ONCE(ctrl->opts.stall_tmo_ms) && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;
	u32 ms = min(nof_ka_timeout_ms(ctrl), U32_MAX / 2) * (watched ? 2 : 1);

	return test_bit(NOF_CTRL_KA_OUT, &ctrl->flags) &&
	       time_after(jiffies, READ_ONCE(ctrl->ka_sent) + msecs_to_jiffies(ms));
}

static void ka_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ka_work);
	bool busy = nof_queues_were_busy(ctrl, NOF_WATCH_KEEP_ALIVE);

	/* ended by passthrough, for this association */
	if (!READ_ONCE(ctrl->kato_ms))
		return;

	/* other completions count as life, silence does not */
	if (!busy && overdue(ctrl)) {
		nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no answer to keep-alive");
		nof_ctrl_error(ctrl, NOF_CAUSE_EXPIRED);
		return;
	}
	if ((!busy || !test_bit(NOF_CTRL_TBKAS, &ctrl->flags)) && !keepalive_send(ctrl))
		nof_ctrl_error(ctrl, NOF_CAUSE_HERE);
	queue_delayed_work(nof_recovery_wq, &ctrl->ka_work, period(ctrl));
}

u32 nof_ka_expect(struct nof_ctrl *ctrl, u32 ms)
{
	u32 before = READ_ONCE(ctrl->kato_ms);

	if (ms > before)
		WRITE_ONCE(ctrl->kato_ms, ms);
	return before;
}

/* The next Keep Alive is due by the timeout that there is now */
static void ka_again(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	/* who leaves this state under the lock stops the work after that */
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (READ_ONCE(ctrl->kato_ms) && ctrl->state == NVMEOF_CTRL_LIVE)
		mod_delayed_work(nof_recovery_wq, &ctrl->ka_work, period(ctrl));
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

void nof_ka_refused(struct nof_ctrl *ctrl, u32 ms, u32 before)
{
	if (ms <= before)
		return;
	cmpxchg(&ctrl->kato_ms, ms, before);
	ka_again(ctrl);
}

void nof_ka_changed(struct nof_ctrl *ctrl, bool off)
{
	if (off)
		WRITE_ONCE(ctrl->kato_ms, 0);
	else
		nof_ka_read(ctrl);
	ka_again(ctrl);
}

int nof_ka_read(struct nof_ctrl *ctrl)
{
	u32 ms, most = max3(NOF_MAX_KATO_MS, ctrl->opts.kato_ms, ctrl->kato_ms);
	int ret = nof_get_features(ctrl, NVME_FEAT_KATO, &ms);

	/* one that does not tell keeps what it was told; more than anybody has asked for is not believed */
	if (!ret && ms)
		WRITE_ONCE(ctrl->kato_ms, clamp(ms, NOF_MIN_KATO_MS, most));
	return min(ret, 0);
}

/* The bound of fencing is a multiple of it: see mpath/fence.c */
static int ask_for_less(struct nof_ctrl *ctrl)
{
	int ret;

	if (ctrl->opts.kato_given || ctrl->discovery || !ctrl->kas || ctrl->kas * 100 > NOF_SHORT_KATO_MS)
		return 0;
	ret = nof_set_features(ctrl, NVME_FEAT_KATO, NOF_SHORT_KATO_MS, NULL);
	if (!ret)
		WRITE_ONCE(ctrl->kato_ms, NOF_SHORT_KATO_MS);
	return min(ret, 0);
}

int nof_ka_agree(struct nof_ctrl *ctrl)
{
	WRITE_ONCE(ctrl->kato_ms, ctrl->opts.kato_ms);
	if (!ctrl->kato_ms)
		return 0;
	return ask_for_less(ctrl) ?: nof_ka_read(ctrl);
}

int nof_ka_init(struct nof_ctrl *ctrl)
{
	INIT_DELAYED_WORK(&ctrl->ka_work, ka_work);
	ctrl->ka_cmd = kzalloc(sizeof(*ctrl->ka_cmd), GFP_KERNEL);
	if (!ctrl->ka_cmd)
		return -ENOMEM;
	ctrl->ka_cmd->done = ka_done;
	ctrl->ka_cmd->ctx = ctrl;
	return 0;
}

void nof_ka_start(struct nof_ctrl *ctrl)
{
	if (ctrl->kato_ms)
		queue_delayed_work(nof_recovery_wq, &ctrl->ka_work, period(ctrl));
}

/* A command under way is cancelled with the queue. */
void nof_ka_stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->ka_work);
}
