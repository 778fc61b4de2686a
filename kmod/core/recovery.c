// SPDX-License-Identifier: GPL-2.0-only
/* What happens when a connection is lost: requests move, queues go, and attempts to come back are scheduled. */
#include <linux/random.h>
#include "core/above.h"
#include "core/backoff.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/watch.h"

/* The longest time from one attempt to the next for a controller that is lost; a step that is far beyond it */
#define LOST_DELAY_MS	60000U
#define LAST_STEP	31

/* False: it was not live, and this is for a live one only */
static bool error(struct nof_ctrl *ctrl, enum nof_cause cause, bool live_only, bool reset)
{
	unsigned long flags;
	bool was_live;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	was_live = ctrl->state == NVMEOF_CTRL_LIVE;
	if (!was_live && live_only) {
		spin_unlock_irqrestore(&ctrl->state_lock, flags);
		return false;
	}
	/* the first error of an association is its cause, later ones follow from it */
	if (was_live || (ctrl->state != NVMEOF_CTRL_RECOVERING && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags)))
		ctrl->cause = cause;
	if (was_live) {
		if (reset)
			set_bit(NOF_CTRL_RESET, &ctrl->flags);
		trace_nof_ctrl_state(ctrl, NVMEOF_CTRL_LIVE, NVMEOF_CTRL_RECOVERING);
		WRITE_ONCE(ctrl->state, NVMEOF_CTRL_RECOVERING);
	} else {
		set_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	}
	/* under the lock: nothing is queued any more for a controller that is DEAD, and will be freed */
	if (ctrl->state != NVMEOF_CTRL_DEAD)
		queue_work(nof_recovery_wq, was_live ? &ctrl->recovery_work : &ctrl->abort_work);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	if (was_live)
		wake_up_all(&ctrl->state_wq);
	return true;
}

void nof_ctrl_error(struct nof_ctrl *ctrl, enum nof_cause cause)
{
	error(ctrl, cause, false, false);
}

bool nof_ctrl_error_live(struct nof_ctrl *ctrl, bool reset)
{
	return error(ctrl, NOF_CAUSE_HERE, true, reset);
}

/*
 * During a connect attempt, or deletion: whoever brings the queues up or down is waiting for an answer that will not
 * come, and gets on when the queues are gone.
 */
void nof_abort_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, abort_work);

	nof_ctrl_publish(ctrl);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_DELETING)
		nof_paths.unhold(ctrl);
	nof_queues_kill(ctrl);
}

void nof_fail_fast_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, fail_fast_work);
	unsigned long flags;
	bool live;

	/* the lock: who becomes live clears it */
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
	cancel_delayed_work_sync(&ctrl->fail_fast_work);
	if (test_and_clear_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags))
		nof_ctrl_publish(ctrl);
}

/* What is left of a bound counted from the loss of the connection */
static unsigned long left_of(const struct nof_ctrl *ctrl, s32 tmo_ms)
{
	unsigned long end = ctrl->lost_at + msecs_to_jiffies(tmo_ms);

	return time_after(end, jiffies) ? end - jiffies : 0;
}

/*
 * From the loss on, whatever number of attempts fail; again after an attempt that was nearly good. One that is pending
 * may be left of an earlier loss.
 */
static void fail_fast_start(struct nof_ctrl *ctrl)
{
	s32 tmo = READ_ONCE(ctrl->opts.fast_io_fail_tmo_ms);

	if (tmo >= 0 && !test_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags))
		mod_delayed_work(nof_recovery_wq, &ctrl->fail_fast_work, left_of(ctrl, tmo));
}

static void count_flap(struct nof_ctrl *ctrl)
{
	u32 live_ms = jiffies_to_msecs(jiffies - ctrl->live_at);

	if (test_and_clear_bit(NOF_CTRL_RESET, &ctrl->flags)) {
		nof_ctrl_note(ctrl, -ECONNRESET, 0, test_bit(NOF_CTRL_YIELDS, &ctrl->flags) ?
			      "the module of its transport is exchanged" : "reset by request");
		return;
	}
	ctrl->flaps = nof_backoff_flaps(ctrl->flaps, live_ms);
	if (ctrl->flaps > 1)
		dev_warn_ratelimited(&ctrl->dev, "lost %u ms after it became live, %u times in a row: damped\n",
				     live_ms, ctrl->flaps);
}

void nof_recovery_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, recovery_work);

	ctrl->lost_at = jiffies;
	ctrl->attempts = 0;
	nof_mpath.lost(ctrl);
	count_flap(ctrl);
	fail_fast_start(ctrl);
	/* First no request may choose this path any more, then those on it are cancelled and choose again */
	nof_ctrl_publish(ctrl);
	nof_ka_stop(ctrl);
	nof_watch_stop(ctrl);
	nof_queues_kill(ctrl);
	/* told when nothing waits for it any more */
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_LIVE);
	nof_aer_stop(ctrl);
	nof_queues_free(ctrl);
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_CONNECTING))
		return;
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_RECOVERING);
	nof_reconnect_later(ctrl);
}

void nof_reconnect_now(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	/* the lock: as in error() */
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (nof_state_connects(ctrl->state)) {
		if (ctrl->state == NVMEOF_CTRL_CONNECTING && test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
			fail_fast_start(ctrl);
		mod_delayed_work(nof_wq, &ctrl->reconnect_work, 0);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

/* One that was never live is not lost: how long its first connect goes on. */
static s32 patience_ms(const struct nof_ctrl *ctrl)
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
	return jiffies_to_msecs(left_of(ctrl, tmo));
}

static bool patience_ends(const struct nof_ctrl *ctrl)
{
	s32 tmo = patience_ms(ctrl);

	return tmo >= 0 && time_after_eq(jiffies, ctrl->lost_at + msecs_to_jiffies(tmo));
}

/* New bounds apply to a loss that is going on, too */
void nof_ctrl_timers_changed(struct nof_ctrl *ctrl)
{
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		nof_ctrl_publish(ctrl);	/* requests may wait for an ANA state that allows them */
	if (!nof_state_connects(nof_ctrl_state(ctrl)) || !test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
		return;
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST && !patience_ends(ctrl) &&
	    nof_ctrl_set_state(ctrl, NVMEOF_CTRL_CONNECTING)) {
		/* paths that have not been removed yet are worth waiting for again */
		nof_ctrl_publish(ctrl);
		nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_LOST);
	}
	nof_fail_fast_stop(ctrl);
	/* when it fails, all bounds are looked at again */
	nof_reconnect_now(ctrl);
}

/* Not beyond the end, which is looked at when an attempt has failed */
static u32 longest_delay(const struct nof_ctrl *ctrl)
{
	u32 delay = READ_ONCE(ctrl->opts.reconnect_delay_ms);
	s32 tmo = patience_ms(ctrl);

	return tmo < 0 ? delay : min(delay, jiffies_to_msecs(left_of(ctrl, tmo)));
}

/* A controller that was live is expected until it is disconnected, unless it was made to read one discovery log. */
static bool outlives_loss(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) && !(ctrl->discovery && nof_ctrl_transient(ctrl));
}

/* Its paths go as with a deletion, and with a disk's last path the disk */
static void become_lost(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_LOST))
		return;
	dev_warn(&ctrl->dev, "ctrl_loss_tmo of %d ms passed after %u attempts: lost, its paths are removed; "
		 "attempts go on each 30 to 60 s until it is disconnected\n",
		 patience_ms(ctrl), ctrl->attempts - 1);
	nof_ctrl_publish(ctrl);
	nof_mpath.paths_lost(ctrl);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_CONNECTING);
	queue_work(nof_delete_wq, &ctrl->lost_work);
}

void nof_lost_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, lost_work);

	mutex_lock(&ctrl->scan_lock);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST)
		nof_paths.remove(ctrl, false);
	mutex_unlock(&ctrl->scan_lock);
}

/*
 * The next attempt. When ctrl_loss_tmo has passed, or of a first connect first_connect_tmo, the controller is lost, or
 * goes. Back-off with jitter keeps 1,000 hosts from coming back in step.
 */
void nof_reconnect_later(struct nof_ctrl *ctrl)
{
	/* the first step is that of a first loss, or of the first in a row of flaps */
	u32 step = ctrl->attempts++ + max(ctrl->flaps, 1U) - 1;
	bool over = patience_ends(ctrl);
	u32 delay = nof_backoff_ms(over ? LAST_STEP : step, over ? LOST_DELAY_MS : longest_delay(ctrl),
				   get_random_u32());

	set_bit(NOF_CTRL_MISSED, &ctrl->flags);
	nof_mpath.expected(ctrl);
	if (over && !outlives_loss(ctrl)) {
		dev_warn(&ctrl->dev, "%s of %d ms passed after %u attempts: giving up\n",
			 test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) ? "ctrl_loss_tmo" : "first_connect_tmo",
			 patience_ms(ctrl), ctrl->attempts - 1);
		nof_ctrl_delete_start(ctrl);
		return;
	}
	if (over)
		become_lost(ctrl);
	else if (test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
		fail_fast_start(ctrl);
	queue_delayed_work(nof_wq, &ctrl->reconnect_work, msecs_to_jiffies(delay));
}
