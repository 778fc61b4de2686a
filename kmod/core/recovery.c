// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of an association: connection loss, reset, deletion. Requests fail over to other paths, the queues are torn
 * down, and reconnect attempts are scheduled.
 */
#include <linux/netlink.h>
#include <linux/random.h>
#include "core/auth.h"
#include "core/backoff.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/stall_watch.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"

/* Longest delay between the attempts of a LOST controller, and a back-off step that exceeds it */
#define LOST_DELAY_MS	60000U
#define LAST_STEP	31

/*
 * A connection failed during a connect attempt or a deletion. The task that brings the queues up or down may wait for a
 * response that will not come: cancelling the command ends that wait.
 */
static void teardown_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, recovery.teardown_work);

	nof_ctrl_publish(ctrl);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_DELETING)
		nof_paths.drop_held(ctrl);
	nof_queues_cancel(ctrl);
}

static void fail_fast_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, recovery.fail_fast_work);
	unsigned long flags;
	bool live;

	/* state_lock: nof_ctrl_set_state() clears the flag when the controller becomes LIVE */
	spin_lock_irqsave(&ctrl->state_lock, flags);
	live = ctrl->state == NVMEOF_CTRL_LIVE;
	if (!live)
		set_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	if (live)
		return;
	dev_warn(&ctrl->dev, "fast_io_fail_tmo of %d ms passed: I/O no longer waits for this controller\n",
		 ctrl->opts.fast_io_fail_tmo_ms);
	nof_ctrl_publish(ctrl);
}

void nof_fail_fast_stop(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->recovery.fail_fast_work);
	if (test_and_clear_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags))
		nof_ctrl_publish(ctrl);
}

static void recovery_count_flap(struct nof_ctrl *ctrl)
{
	u32 live_ms = jiffies_to_msecs(jiffies - ctrl->recovery.live_at);

	if (test_and_clear_bit(NOF_CTRL_RESET, &ctrl->flags)) {
		nof_ctrl_note(ctrl, -ECONNRESET, 0, test_bit(NOF_CTRL_EXCHANGE, &ctrl->flags) ?
			      "connection ended to exchange the transport module" : "reset by request");
		return;
	}
	ctrl->recovery.flaps = nof_backoff_flaps(ctrl->recovery.flaps, live_ms);
	if (ctrl->recovery.flaps > 1)
		dev_warn_ratelimited(&ctrl->dev,
				     "lost %u ms after it became live, %u times in a row: reconnect delay extended\n",
				     live_ms, ctrl->recovery.flaps);
}

static void recovery_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, recovery.work);

	ctrl->recovery.lost_at = jiffies;
	ctrl->recovery.attempts = 0;
	WRITE_ONCE(ctrl->auth.at, 0);
	WRITE_ONCE(ctrl->tls.cipher, 0);
	nof_mpath.association_lost(ctrl);
	recovery_count_flap(ctrl);
	nof_fail_fast_start(ctrl);
	/* publish path sets without this controller before its requests are cancelled and choose another path */
	nof_ctrl_publish(ctrl);
	nof_ka_stop(ctrl);
	nof_watch_stop(ctrl);
	nof_queues_cancel(ctrl);
	/* only now: sending the event must not delay the failover of the requests */
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_LIVE);
	nof_aer_stop(ctrl);
	nof_queues_free(ctrl);
	nof_tls_key_forget(ctrl);
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_CONNECTING))
		return;
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_RECOVERING);
	nof_reconnect_later(ctrl);
}

/* Time limit of the connect attempts, in ms; negative: none */
static s32 reconnect_limit_ms(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) ? READ_ONCE(ctrl->opts.ctrl_loss_tmo_ms) :
							     ctrl->opts.first_connect_tmo_ms;
}

s64 nof_ctrl_loss_left_ms(const struct nof_ctrl *ctrl)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);
	s32 tmo = READ_ONCE(ctrl->opts.ctrl_loss_tmo_ms);

	if (tmo < 0 || !test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) || state != NVMEOF_CTRL_CONNECTING)
		return -1;
	return min_t(u32, jiffies_to_msecs(nof_ctrl_left_of(ctrl, tmo)), tmo);
}

static bool reconnect_limit_passed(const struct nof_ctrl *ctrl)
{
	s32 tmo = reconnect_limit_ms(ctrl);

	return tmo >= 0 && !nof_ctrl_left_of(ctrl, tmo);
}

/* New time limits also apply to a connection loss that is in progress */
void nof_ctrl_timers_changed(struct nof_ctrl *ctrl)
{
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		nof_ctrl_publish(ctrl);	/* requests may be waiting for another ANA state */
	if (!nof_state_connects(nof_ctrl_state(ctrl)) || !test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
		return;
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST && !reconnect_limit_passed(ctrl) &&
	    nof_ctrl_set_state(ctrl, NVMEOF_CTRL_CONNECTING)) {
		/* requests may wait again for the paths that have not been removed yet */
		nof_ctrl_publish(ctrl);
		nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_LOST);
	}
	nof_fail_fast_stop(ctrl);
	/* if this attempt fails, nof_reconnect_later() applies the new limits */
	nof_reconnect_now(ctrl);
}

/* The time limit is checked only when an attempt has failed, so the delay must not exceed what is left of it */
static u32 reconnect_max_delay(const struct nof_ctrl *ctrl)
{
	u32 delay = READ_ONCE(ctrl->opts.reconnect_delay_ms);
	s32 tmo = reconnect_limit_ms(ctrl);

	return tmo < 0 ? delay : min(delay, jiffies_to_msecs(nof_ctrl_left_of(ctrl, tmo)));
}

/* A controller that was live is kept until it is disconnected, unless it was created to read one discovery log. */
static bool ctrl_is_persistent(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) && !(ctrl->discovery && nof_ctrl_transient(ctrl));
}

/* The paths are removed as in a deletion; a disk is removed with its last path. */
static void become_lost(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_LOST))
		return;
	dev_warn(&ctrl->dev, "ctrl_loss_tmo of %d ms passed after %u attempts: lost, its paths are removed; "
		 "it reconnects every 30 to 60 s until it is disconnected\n",
		 reconnect_limit_ms(ctrl), ctrl->recovery.attempts - 1);
	nof_ctrl_publish(ctrl);
	nof_mpath.paths_lost(ctrl);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_CONNECTING);
	queue_work(nof_delete_wq, &ctrl->recovery.lost_work);
}

static void lost_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, recovery.lost_work);

	mutex_lock(&ctrl->scan.lock);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST)
		nof_paths.remove(ctrl, false);
	mutex_unlock(&ctrl->scan.lock);
}

/*
 * Schedules the next attempt. After ctrl_loss_tmo (first_connect_tmo if it was never live) the controller becomes LOST
 * or is deleted. Back-off with jitter keeps 1,000 hosts from reconnecting in step.
 */
void nof_reconnect_later(struct nof_ctrl *ctrl)
{
	/* the first flap does not lengthen the delay */
	u32 step = ctrl->recovery.attempts++ + max(ctrl->recovery.flaps, 1U) - 1;
	bool over = reconnect_limit_passed(ctrl);
	u32 delay = nof_backoff_ms(over ? LAST_STEP : step, over ? LOST_DELAY_MS : reconnect_max_delay(ctrl),
				   get_random_u32());

	set_bit(NOF_CTRL_PATHS_OVERDUE, &ctrl->flags);
	nof_mpath.update_expected(ctrl);
	if (over && !ctrl_is_persistent(ctrl)) {
		dev_warn(&ctrl->dev, "%s of %d ms passed after %u attempts: giving up\n",
			 test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) ? "ctrl_loss_tmo" : "keep-trying",
			 reconnect_limit_ms(ctrl), ctrl->recovery.attempts - 1);
		nof_ctrl_delete_start(ctrl);
		return;
	}
	if (over)
		become_lost(ctrl);
	else if (test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
		nof_fail_fast_start(ctrl);
	queue_delayed_work(nof_wq, &ctrl->recovery.reconnect_work, msecs_to_jiffies(delay));
}

int nof_ctrl_reset(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST) {
		nof_reconnect_now(ctrl);
		return 0;
	}
	if (!nof_ctrl_error_live(ctrl, true)) {
		NL_SET_ERR_MSG(extack, "the controller is not live; it reconnects without a reset");
		return -EBUSY;
	}
	return 0;
}

/* "NVMe", which starts an NVM Subsystem Reset (NVMe Base 2.0, 3.1.3.7) */
#define NSSR_RESET	0x4e564d65

int nof_ctrl_reset_subsys(struct nof_ctrl *ctrl)
{
	u32 connection = READ_ONCE(ctrl->connection);
	bool sent;
	int ret;

	if (!NVME_CAP_NSSRC(ctrl->cap))
		return -ENOTTY;
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return -EBUSY;
	/* set before sending: the reset may end the connection without a response, which is not a path failure */
	set_bit(NOF_CTRL_RESET, &ctrl->flags);
	ret = nof_property_set(ctrl, NVME_REG_NSSR, NSSR_RESET, &sent);
	if (ret && !(ret == -ECONNRESET && sent)) {
		clear_bit(NOF_CTRL_RESET, &ctrl->flags);
		return ret;
	}
	if (READ_ONCE(ctrl->connection) == connection)
		nof_ctrl_error_live(ctrl, true);
	return 0;
}

/* Orderly deletion: if no I/O completes for this long, all outstanding commands are cancelled */
#define STALL_MS	2000
/* Likewise for the driver's admin commands; longer, because disks may still write back meanwhile */
#define STALL_ADMIN_MS	4000

int nof_ctrl_delete(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	if (!test_bit(NOF_CTRL_ADDED, &ctrl->flags)) {
		NL_SET_ERR_MSG(extack, "the controller is still being created: try again");
		return -EAGAIN;
	}
	set_bit(NOF_CTRL_EXPLICIT_DELETE, &ctrl->flags);
	nof_ctrl_delete_start(ctrl);
	return 0;
}

/* TASK_IDLE: a disk may have much data to write back, which must not trigger the hung task detector */
int nof_ctrl_wait_deleted(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	wait_for_completion_state(&ctrl->deletion.done, TASK_IDLE);
	return 0;
}

static void stop_works(struct nof_ctrl *ctrl)
{
	cancel_work_sync(&ctrl->recovery.connect_work);
	cancel_work_sync(&ctrl->recovery.work);
	cancel_delayed_work_sync(&ctrl->recovery.reconnect_work);
	cancel_delayed_work_sync(&ctrl->recovery.fail_fast_work);
	/* after the works that queue it */
	cancel_work_sync(&ctrl->recovery.lost_work);
	nof_aer_end(ctrl);
	nof_auth_stop(ctrl);
	cancel_work_sync(&ctrl->ana.work);
	cancel_delayed_work_sync(&ctrl->scan.work);
	cancel_delayed_work_sync(&ctrl->ana.backoff_work);
	cancel_delayed_work_sync(&ctrl->ana.anatt_work);
	cancel_delayed_work_sync(&ctrl->deletion.stall_work);
	nof_watch_stop(ctrl);
	nof_ka_stop(ctrl);
}

/*
 * Write-back may take any time while commands complete. A target that completes nothing any more is given up, unless it
 * activates firmware.
 */
static void delete_stall_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, deletion.stall_work);

	if (!nof_ctrl_is_paused(ctrl) &&
	    ((nof_queues_inflight(ctrl, true) && !nof_queues_progressed(ctrl, NOF_WATCH_DELETE)) ||
	     nof_admin_stuck(ctrl, STALL_ADMIN_MS))) {
		nof_ctrl_note(ctrl, -ETIMEDOUT, 0,
			      "no progress while disconnecting: outstanding commands are cancelled");
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
		return;
	}
	queue_delayed_work(nof_recovery_wq, &ctrl->deletion.stall_work, msecs_to_jiffies(STALL_MS));
}

/*
 * Orderly deletion of a live controller. The state keeps new events and scans from starting. Running ones can finish,
 * and disks can write back, because the queues still work. The shutdown comes last.
 */
static void delete_live(struct nof_ctrl *ctrl)
{
	nof_queues_progressed(ctrl, NOF_WATCH_DELETE);
	queue_delayed_work(nof_recovery_wq, &ctrl->deletion.stall_work, msecs_to_jiffies(STALL_MS));
	nof_aer_end(ctrl);
	cancel_work_sync(&ctrl->ana.work);
	/* ends the wait of requests for the ANA log, which the scan may in turn wait for */
	nof_ctrl_publish(ctrl);
	cancel_delayed_work_sync(&ctrl->scan.work);
	/* a scan requested by a user ends when it sees the state, or when its commands are cancelled */
	mutex_lock(&ctrl->scan.lock);
	nof_paths.remove(ctrl, true);
	mutex_unlock(&ctrl->scan.lock);
	if (!test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags))
		nof_ctrl_shutdown(ctrl);
}

/*
 * Deletion of a controller that is not live. Before its paths are removed, works that wait for the network are aborted,
 * and requests that wait for this controller alone fail.
 */
static void delete_not_live(struct nof_ctrl *ctrl)
{
	nof_ctrl_publish(ctrl);
	nof_queues_cancel(ctrl);
	stop_works(ctrl);
	mutex_lock(&ctrl->scan.lock);
	nof_paths.remove(ctrl, false);
	mutex_unlock(&ctrl->scan.lock);
}

static void delete_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, deletion.work);

	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, ctrl->deletion.from);
	if (ctrl->deletion.from == NVMEOF_CTRL_LIVE)
		delete_live(ctrl);
	else
		delete_not_live(ctrl);
	/* completions queue works, so the queues go first. In state DEAD nof_ctrl_error() queues none either. */
	nof_queues_cancel(ctrl);
	nof_ctrl_set_state(ctrl, NVMEOF_CTRL_DEAD);
	stop_works(ctrl);
	cancel_work_sync(&ctrl->recovery.teardown_work);
	nof_queues_free(ctrl);
	nof_tls_key_forget(ctrl);
	nof_control.ctrl_del(ctrl);
	nof_ctrl_delist(ctrl);
	/* disks without a path through this controller may have expected one */
	nof_mpath.update_expected(ctrl);
	nof_ctrl_detach_transport(ctrl);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_REMOVED, NVMEOF_CTRL_DELETING);
	nof_subsys_leave(ctrl->subsys);
	complete_all(&ctrl->deletion.done);
	nof_ctrl_put(ctrl);
}

void nof_recovery_init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->recovery.work, recovery_work);
	INIT_WORK(&ctrl->recovery.teardown_work, teardown_work);
	INIT_WORK(&ctrl->recovery.lost_work, lost_work);
	INIT_DELAYED_WORK(&ctrl->recovery.fail_fast_work, fail_fast_work);
	INIT_WORK(&ctrl->deletion.work, delete_work);
	INIT_DELAYED_WORK(&ctrl->deletion.stall_work, delete_stall_work);
	init_completion(&ctrl->deletion.done);
}
