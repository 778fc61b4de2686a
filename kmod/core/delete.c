// SPDX-License-Identifier: GPL-2.0-only
/* The end of a controller, from whatever state, without waiting for the network. */
#include <linux/netlink.h>
#include "core/above.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "core/watch.h"

/* While a controller is left in good order something has to complete in this time, or it is left in bad order */
#define STALL_MS	2000
/* While the admin queue alone is silent, disks may still write back */
#define STALL_ADMIN_MS	4000

bool nof_ctrl_delete_start(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_DELETING))
		return false;
	queue_work(nof_delete_wq, &ctrl->delete_work);
	return true;
}

int nof_ctrl_delete(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	if (!test_bit(NOF_CTRL_ADDED, &ctrl->flags)) {
		NL_SET_ERR_MSG(extack, "the controller is just being made; try again");
		return -EAGAIN;
	}
	set_bit(NOF_CTRL_UNWANTED, &ctrl->flags);
	nof_ctrl_delete_start(ctrl);
	return 0;
}

/* IDLE: a disk that goes may have much to write back, and that is no hang */
int nof_ctrl_wait_deleted(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	wait_for_completion_state(&ctrl->deleted, TASK_IDLE);
	return 0;
}

static void stop_works(struct nof_ctrl *ctrl)
{
	cancel_work_sync(&ctrl->connect_work);
	cancel_work_sync(&ctrl->recovery_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
	cancel_delayed_work_sync(&ctrl->fail_fast_work);
	/* after those that queue it */
	cancel_work_sync(&ctrl->lost_work);
	nof_aer_end(ctrl);
	cancel_work_sync(&ctrl->ana_work);
	cancel_delayed_work_sync(&ctrl->scan_work);
	cancel_delayed_work_sync(&ctrl->doubt_work);
	cancel_delayed_work_sync(&ctrl->anatt_work);
	cancel_delayed_work_sync(&ctrl->leave_watch);
	nof_watch_stop(ctrl);
	nof_ka_stop(ctrl);
}

/* However much there is to write back, it may take its time; a target that answers nothing any more may not. */
void nof_leave_watch(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, leave_watch);

	if ((nof_queues_inflight(ctrl, true) && !nof_queues_were_busy(ctrl, NOF_WATCH_LEAVE)) ||
	    nof_admin_stuck(ctrl, STALL_ADMIN_MS)) {
		nof_ctrl_note(ctrl, -ETIMEDOUT, 0,
			      "no progress while disconnecting: outstanding commands are cancelled");
		nof_ctrl_error(ctrl, NOF_CAUSE_HERE);
		return;
	}
	queue_delayed_work(nof_recovery_wq, &ctrl->leave_watch, msecs_to_jiffies(STALL_MS));
}

/*
 * In good order: the state keeps new events and scans from starting, what runs can finish because the queues still
 * work; disks that go away can write back; then the controller is told.
 */
static void leave(struct nof_ctrl *ctrl)
{
	nof_queues_were_busy(ctrl, NOF_WATCH_LEAVE);
	queue_delayed_work(nof_recovery_wq, &ctrl->leave_watch, msecs_to_jiffies(STALL_MS));
	nof_aer_end(ctrl);
	cancel_work_sync(&ctrl->ana_work);
	/* what waits for the ANA log waits no longer; the scan may wait for it */
	nof_ctrl_publish(ctrl);
	cancel_delayed_work_sync(&ctrl->scan_work);
	/* a scan by request ends when it sees the state, or with its commands */
	mutex_lock(&ctrl->scan_lock);
	nof_paths.remove(ctrl, true);
	mutex_unlock(&ctrl->scan_lock);
	if (!test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags))
		nof_ctrl_shutdown(ctrl);
}

/* Not connected: whoever waits for the network is cut short first, then requests that wait for this path alone fail. */
static void abandon(struct nof_ctrl *ctrl)
{
	nof_ctrl_publish(ctrl);
	nof_queues_kill(ctrl);
	stop_works(ctrl);
	mutex_lock(&ctrl->scan_lock);
	nof_paths.remove(ctrl, false);
	mutex_unlock(&ctrl->scan_lock);
}

void nof_delete_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, delete_work);

	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, ctrl->deleted_from);
	if (ctrl->deleted_from == NVMEOF_CTRL_LIVE)
		leave(ctrl);
	else
		abandon(ctrl);
	/* completions queue works: first none can come any more. From DEAD on nof_ctrl_error() queues none either. */
	nof_queues_kill(ctrl);
	nof_ctrl_set_state(ctrl, NVMEOF_CTRL_DEAD);
	stop_works(ctrl);
	cancel_work_sync(&ctrl->abort_work);
	nof_queues_free(ctrl);
	nof_control.ctrl_del(ctrl);
	nof_ctrl_delist(ctrl);
	/* disks that it never had a path to may have been told that one is missing */
	nof_mpath.expected(ctrl);
	nof_ctrl_detach_transport(ctrl);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REMOVED, NVMEOF_CTRL_DELETING);
	nof_subsys_leave(ctrl->subsys);
	complete_all(&ctrl->deleted);
	nof_ctrl_put(ctrl);
}
