// SPDX-License-Identifier: GPL-2.0-only
/* Controllers: state changes, error reporting, lookup, holding the transport. */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <net/net_namespace.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "wire/effects.h"

bool nof_ctrl_set_state(struct nof_ctrl *ctrl, enum nvmeof_ctrl_state to)
{
	unsigned long flags;
	u8 from;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	from = ctrl->state;
	ok = nof_state_may(from, to);
	/* a queue failed after its start had succeeded */
	if (to == NVMEOF_CTRL_LIVE && test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags))
		ok = false;
	if (ok && to == NVMEOF_CTRL_DELETING)
		ctrl->deletion.from = from;
	/* before LIVE is visible: recovery and scans count from 0 again */
	if (ok && to == NVMEOF_CTRL_LIVE) {
		ctrl->recovery.attempts = 0;
		WRITE_ONCE(ctrl->scan.done, 0);
		ctrl->recovery.live_at = jiffies;
		if (test_and_set_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
			ctrl->recovery.reconnects++;
		/* a running fail_fast_work() takes state_lock and then sees LIVE */
		cancel_delayed_work(&ctrl->recovery.fail_fast_work);
		clear_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags);
	}
	if (ok)
		WRITE_ONCE(ctrl->state, to);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	if (!ok)
		return false;
	trace_nof_ctrl_state(ctrl, from, to);
	wake_up_all(&ctrl->state_wq);
	return true;
}

/*
 * Limits the log lines of failed attempts: logs attempts 1, 2, 4, 8, ..., and an attempt that fails with a different
 * error, unless the error keeps changing.
 */
static bool error_should_log(struct nof_ctrl *ctrl, u32 attempt, int err)
{
	u32 gap = attempt - min(attempt, ctrl->error.logged_attempt);

	lockdep_assert_held(&ctrl->error.lock);
	return !gap || is_power_of_2(attempt) || (err != ctrl->error.logged_err && gap > attempt / 8);
}

/* True if the error is to be logged; @tail then says how many attempts before were not. Caller holds error.lock. */
static bool error_log_claim(struct nof_ctrl *ctrl, int err, char *tail, size_t size)
{
	u32 attempt = nof_state_connects(nof_ctrl_state(ctrl)) ? READ_ONCE(ctrl->recovery.attempts) : 0;
	bool log = error_should_log(ctrl, attempt, err);

	*tail = '\0';
	if (!log)
		return false;
	if (attempt > ctrl->error.logged_attempt + 1)
		scnprintf(tail, size, "; attempt %u, %u before it not logged", attempt,
			  attempt - ctrl->error.logged_attempt - 1);
	ctrl->error.logged_attempt = attempt;
	ctrl->error.logged_err = err;
	return true;
}

void nof_ctrl_note(struct nof_ctrl *ctrl, int err, u16 status, const char *fmt, ...)
{
	char text[NOF_ERROR_TEXT], tail[48];
	unsigned long flags;
	va_list args;
	bool log;

	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	spin_lock_irqsave(&ctrl->error.lock, flags);
	strscpy(ctrl->error.text, text, sizeof(ctrl->error.text));
	ctrl->error.err = -err;
	ctrl->error.status = status & NVME_SCT_SC_MASK;
	WRITE_ONCE(ctrl->error.notes, ctrl->error.notes + 1);
	log = error_log_claim(ctrl, err, tail, sizeof(tail));
	spin_unlock_irqrestore(&ctrl->error.lock, flags);
	if (log && status)
		dev_warn_ratelimited(&ctrl->dev, "%s (status 0x%03x)%s\n", text, status & NVME_SCT_SC_MASK, tail);
	else if (log)
		dev_warn_ratelimited(&ctrl->dev, "%s (%pe)%s\n", text, ERR_PTR(err), tail);
}

void nof_ctrl_event(struct nof_ctrl *ctrl, enum nvmeof_event ev, enum nvmeof_ctrl_state old)
{
	nof_events->ctrl(ctrl, ev, old);
}

void nof_ctrl_publish(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->subsys->lock);
	nof_mpath.publish(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
}

int nof_ctrl_take_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	const struct nof_transport *t = ctrl->transport;
	int ret;

	if (ctrl->opts.given & ~t->options) {
		NL_SET_ERR_MSG(extack, "an option of another transport: tcp has digests and TLS, rdma ACK_TMO");
		return -EOPNOTSUPP;
	}
	ret = t->ctrl_init(ctrl, extack);
	ctrl->tp_ready = !ret;
	return ret;
}

void nof_ctrl_drop_transport(struct nof_ctrl *ctrl)
{
	if (ctrl->tp_ready)
		ctrl->transport->ctrl_exit(ctrl);
	ctrl->tp_ready = false;
}

bool nof_ctrl_is_orphan(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_EXCHANGE, &ctrl->flags) && !READ_ONCE(ctrl->transport);
}

static void orphan_end(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_is_orphan(ctrl))
		return;
	clear_bit(NOF_CTRL_EXCHANGE, &ctrl->flags);
	/* safe inside this module: its exit waits for the work that runs this */
	module_put(THIS_MODULE);
}

/*
 * Called while the transport module stays: by its reference in nof_ctrl_create(), or as unregister waits for deletions.
 */
void nof_ctrl_detach_transport(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;

	/* a controller without a subsystem has no transport yet */
	if (s) {
		mutex_lock(&s->lock);
		nof_ctrl_drop_transport(ctrl);
		mutex_unlock(&s->lock);
	}
	orphan_end(ctrl);
	put_net(ctrl->opts.net);
	ctrl->opts.net = NULL;
}

bool nof_ctrl_transient(const struct nof_ctrl *ctrl)
{
	return ctrl->opts.duplicate_connect && !ctrl->opts.kato_ms;
}

void nof_ctrl_delist(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;

	mutex_lock(&s->lock);
	list_del_init(&ctrl->entry);
	s->nr_ctrls--;
	nof_topology_changed();
	mutex_unlock(&s->lock);
}

struct nof_ctrl *nof_ctrl_find(const char *name)
{
	struct nof_ctrl *ctrl, *found = NULL;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (!found && !strcmp(nof_ctrl_name(ctrl), name))
				found = nof_ctrl_get(ctrl);
	}
	return found;
}

const struct nof_effects *nof_ctrl_effects(const struct nof_ctrl *ctrl, u8 csi)
{
	u32 i;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (csi == NVME_CSI_NVM)
		return &ctrl->effects.nvm;
	if (csi == NVME_CSI_ZNS)
		return &ctrl->effects.zns;
	for (i = 0; i < NOF_OTHER_SETS; i++)
		if (ctrl->effects.other[i].csi == csi)
			return &ctrl->effects.other[i].of;
	return NULL;
}

/* Returns the entry of @csi, else a free entry, else NULL */
static struct nof_other_effects *other_effects(struct nof_ctrl *ctrl, u8 csi)
{
	u32 i = 0;

	lockdep_assert_held(&ctrl->subsys->lock);
	while (i < NOF_OTHER_SETS && ctrl->effects.other[i].csi && ctrl->effects.other[i].csi != csi)
		i++;
	return i < NOF_OTHER_SETS ? &ctrl->effects.other[i] : NULL;
}

bool nof_ctrl_effects_due(struct nof_ctrl *ctrl, u8 csi, u32 association)
{
	const struct nof_other_effects *other = other_effects(ctrl, csi);

	return other && (!other->csi || other->association != association);
}

void nof_ctrl_set_effects(struct nof_ctrl *ctrl, u8 csi, u32 association, const struct nvme_effects_log *log)
{
	struct nof_other_effects *other = other_effects(ctrl, csi);

	if (!other)
		return;
	other->csi = csi;
	other->association = association;
	nof_effects_io(log, csi, &other->of);
}

bool nof_ctrl_paths_overdue(const struct nof_ctrl *ctrl)
{
	return !ctrl->discovery && !nof_state_ends(nof_ctrl_state(ctrl)) &&
	       test_bit(NOF_CTRL_PATHS_OVERDUE, &ctrl->flags) && !test_bit(NOF_CTRL_EVER_SCANNED, &ctrl->flags);
}

/* Returns false and does nothing if @live_only is set and the controller is not LIVE */
static bool ctrl_error(struct nof_ctrl *ctrl, enum nof_cause cause, bool live_only, bool reset)
{
	unsigned long flags;
	bool was_live;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	was_live = ctrl->state == NVMEOF_CTRL_LIVE;
	if (!was_live && live_only) {
		spin_unlock_irqrestore(&ctrl->state_lock, flags);
		return false;
	}
	/* the first error of an association is its cause; later ones are consequences */
	if (was_live || (ctrl->state != NVMEOF_CTRL_RECOVERING && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags)))
		ctrl->end.cause = cause;
	if (was_live) {
		if (reset)
			set_bit(NOF_CTRL_RESET, &ctrl->flags);
		trace_nof_ctrl_state(ctrl, NVMEOF_CTRL_LIVE, NVMEOF_CTRL_RECOVERING);
		WRITE_ONCE(ctrl->state, NVMEOF_CTRL_RECOVERING);
	} else {
		set_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	}
	/* under state_lock: nothing is queued for a DEAD controller, which is about to be freed */
	if (ctrl->state != NVMEOF_CTRL_DEAD)
		queue_work(nof_recovery_wq, was_live ? &ctrl->recovery.work : &ctrl->recovery.teardown_work);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
	if (was_live)
		wake_up_all(&ctrl->state_wq);
	return true;
}

void nof_ctrl_error(struct nof_ctrl *ctrl, enum nof_cause cause)
{
	ctrl_error(ctrl, cause, false, false);
}

bool nof_ctrl_error_live(struct nof_ctrl *ctrl, bool reset)
{
	return ctrl_error(ctrl, NOF_CAUSE_LOCAL, true, reset);
}

unsigned long nof_ctrl_left_of(const struct nof_ctrl *ctrl, s32 tmo_ms)
{
	/* lost_at may be almost a jiffy old: without one more jiffy the timeout would end early */
	unsigned long end = ctrl->recovery.lost_at + msecs_to_jiffies(tmo_ms) + !!tmo_ms;

	return time_after(end, jiffies) ? end - jiffies : 0;
}

/*
 * The timeout counts from the loss, however many attempts fail; it is started again after an attempt that had stopped
 * it. A pending work may be left from an earlier loss.
 */
void nof_fail_fast_start(struct nof_ctrl *ctrl)
{
	s32 tmo = READ_ONCE(ctrl->opts.fast_io_fail_tmo_ms);

	if (tmo >= 0 && !test_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags))
		mod_delayed_work(nof_recovery_wq, &ctrl->recovery.fail_fast_work, nof_ctrl_left_of(ctrl, tmo));
}

void nof_reconnect_now(struct nof_ctrl *ctrl)
{
	unsigned long flags;

	/* under state_lock, as in ctrl_error() */
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (nof_state_connects(ctrl->state)) {
		if (ctrl->state == NVMEOF_CTRL_CONNECTING && test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
			nof_fail_fast_start(ctrl);
		mod_delayed_work(nof_wq, &ctrl->recovery.reconnect_work, 0);
	}
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}

bool nof_ctrl_delete_start(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_set_state(ctrl, NVMEOF_CTRL_DELETING))
		return false;
	queue_work(nof_delete_wq, &ctrl->deletion.work);
	return true;
}

/* Under state_lock and only if LIVE: deletion cancels it after the state has changed. Becoming LIVE starts a scan. */
void nof_scan_start(struct nof_ctrl *ctrl)
{
	unsigned long now = jiffies, next = READ_ONCE(ctrl->scan.not_before), delay = 0, flags;

	if (time_before(now, next))
		delay = next - now + msecs_to_jiffies(get_random_u32_below(NOF_SCAN_SPACING_MS));
	spin_lock_irqsave(&ctrl->state_lock, flags);
	if (ctrl->state == NVMEOF_CTRL_LIVE)
		mod_delayed_work(nof_wq, &ctrl->scan.work, delay);
	spin_unlock_irqrestore(&ctrl->state_lock, flags);
}
