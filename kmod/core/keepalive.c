// SPDX-License-Identifier: GPL-2.0-only
/* Keep-alive (NVMe Base 2.0, 3.9): tells the target that we live, and finds out whether it does. */
#include <linux/random.h>
#include <linux/slab.h>
#include "core/lifecycle.h"

/*
 * Half the timeout, so that one command may be lost in time. With traffic based keep-alive any completion since the
 * last look stands for the command.
 */
static unsigned long period(const struct nof_ctrl *ctrl)
{
	u32 half = ctrl->opts.kato_ms / 2;

	/* hosts that connected together shall not keep in step (TRAP 31) */
	return max(msecs_to_jiffies(half - get_random_u32_below(half / 8 + 1)), 1UL);
}

static void ka_done(struct nof_cmd *cmd)
{
	struct nof_ctrl *ctrl = cmd->ctx;

	if (cmd->status && cmd->status != NVME_SC_HOST_ABORTED_CMD)
		nof_ctrl_note(ctrl, -EIO, cmd->status, "keep-alive failed");
	smp_store_release(&ctrl->ka_pending, false);
}

static void send(struct nof_ctrl *ctrl)
{
	struct nof_cmd *cmd = ctrl->ka_cmd;

	memset(&cmd->sqe, 0, sizeof(cmd->sqe));
	cmd->sqe.common.opcode = nvme_admin_keep_alive;
	ctrl->ka_pending = true;
	if (nof_admin_submit(ctrl, cmd)) {
		ctrl->ka_pending = false;
		nof_ctrl_error(ctrl);
	}
}

static void ka_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ka_work);
	bool busy = nof_queues_were_busy(ctrl, NOF_WATCH_KEEP_ALIVE);

	if (smp_load_acquire(&ctrl->ka_pending)) {
		/* sent half a timeout ago and still no answer: other completions count as life, silence does not */
		if (!busy) {
			nof_ctrl_note(ctrl, -ETIMEDOUT, 0, "no answer to keep-alive");
			nof_ctrl_error(ctrl);
			return;
		}
	} else if (!busy || !test_bit(NOF_CTRL_TBKAS, &ctrl->flags)) {
		send(ctrl);
	}
	queue_delayed_work(nof_wq, &ctrl->ka_work, period(ctrl));
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
	if (ctrl->opts.kato_ms)
		queue_delayed_work(nof_wq, &ctrl->ka_work, period(ctrl));
}

/* A command under way is cancelled with the queue. */
void nof_ka_stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->ka_work);
}
