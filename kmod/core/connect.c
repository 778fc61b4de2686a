// SPDX-License-Identifier: GPL-2.0-only
/* Connect attempts, the first connect and reconnects, up to LIVE. */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "wire/effects.h"
#include "wire/identify.h"

#define NVME_CTRL_PAGE_SHIFT	12	/* page size for MPSMIN 0: 4 KiB */

static int read_properties(struct nof_ctrl *ctrl)
{
	u64 vs;
	int ret = nof_property_get(ctrl, NVME_REG_CAP, true, &ctrl->cap);

	if (!ret)
		ret = nof_property_get(ctrl, NVME_REG_VS, false, &vs);
	if (ret) {
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "cannot read the controller's properties");
		return ret > 0 ? -EIO : ret;
	}
	ctrl->vs = vs;
	/* MQES is zero based and 1 at least (NVMe Base 2.0, figure 36) */
	if (!NVME_CAP_MQES(ctrl->cap)) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "CAP.MQES is 0: no usable queue size");
		return -EPROTO;
	}
	/* CC.MPS must be MPSMIN at least. A fabrics host does not use it, but MDTS is in units of MPSMIN */
	if (NVME_CAP_MPSMIN(ctrl->cap) > PAGE_SHIFT - NVME_CTRL_PAGE_SHIFT) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "CAP.MPSMIN is %u: memory pages larger than the host's",
			      (u32)NVME_CAP_MPSMIN(ctrl->cap));
		return -EPROTO;
	}
	ctrl->sqsize = min_t(u32, ctrl->opts.queue_size, NVME_CAP_MQES(ctrl->cap) + 1);
	/* CAP.TO is in units of 500 ms; one more, so that 0 is not an immediate timeout */
	ctrl->ready_tmo_ms = (NVME_CAP_TIMEOUT(ctrl->cap) + 1) * 500;
	return 0;
}

/* The well-known NQN of all discovery services: their controllers have nothing in common */
static bool of_discovery(const struct nof_subsys *s)
{
	return !strcmp(s->nqn, NVME_DISC_SUBSYS_NAME);
}

/*
 * Returns why the identity of a controller conflicts with live controllers of the subsystem, or NULL. If no other one
 * is live there is no conflict: a target that restarts may have another serial number or controller ID.
 */
static const char *identity_conflict(const struct nof_ctrl *ctrl)
{
	struct nof_ctrl *other;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (of_discovery(ctrl->subsys))
		return NULL;
	list_for_each_entry(other, &ctrl->subsys->ctrls, entry) {
		if (other == ctrl || nof_ctrl_state(other) != NVMEOF_CTRL_LIVE)
			continue;
		if (other->cntlid == ctrl->cntlid)
			return "controller ID is that of another live controller";
		if (strcmp(other->ident.serial, ctrl->ident.serial))
			return "serial number differs from that of the subsystem's live controllers";
	}
	return NULL;
}

static const char *same_subsystem(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	const char *why;

	if (of_discovery(s) && !ctrl->discovery)
		return "not a discovery controller, although its NQN is the discovery NQN";
	mutex_lock(&s->lock);
	why = identity_conflict(ctrl);
	mutex_unlock(&s->lock);
	return why;
}

/*
 * Takes the identity of the last controller that became LIVE: firmware updates go one by one. True if it has changed.
 */
static bool subsys_identity_set(const struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	bool changed = s->identified && (strcmp(s->serial, ctrl->ident.serial) || strcmp(s->model, ctrl->ident.model) ||
					 strcmp(s->firmware, ctrl->ident.firmware));

	lockdep_assert_held(&s->lock);
	if (of_discovery(s) && s->identified)
		return false;
	if (changed)
		dev_warn(&s->dev, "identity has changed: serial number, model, firmware %s, %s, %s (were %s, %s, %s)\n",
			 ctrl->ident.serial, ctrl->ident.model, ctrl->ident.firmware, s->serial, s->model, s->firmware);
	memcpy(s->serial, ctrl->ident.serial, sizeof(s->serial));
	memcpy(s->model, ctrl->ident.model, sizeof(s->model));
	memcpy(s->firmware, ctrl->ident.firmware, sizeof(s->firmware));
	s->identified = true;
	return changed;
}

static void ctrl_identity_set(struct nof_ctrl *ctrl, const struct nof_ctrl_id *id)
{
	ctrl->ident = *id;
	ctrl->discovery = id->cntrltype == NVME_CTRL_DISC;
	/* RTD3E is in microseconds: how long a host should wait for a normal shutdown; bounded */
	ctrl->shutdown_tmo_ms = clamp(id->rtd3e_us / 1000, 2000U, 20000U);
	if (id->ctratt & NVME_CTRL_ATTR_TBKAS)
		set_bit(NOF_CTRL_TBKAS, &ctrl->flags);
	else
		clear_bit(NOF_CTRL_TBKAS, &ctrl->flags);
}

static int identify_ctrl(struct nof_ctrl *ctrl)
{
	struct nvme_id_ctrl *id = kmalloc(sizeof(*id), GFP_KERNEL);
	struct nof_ctrl_id decoded;
	const char *why;
	int ret;

	if (!id)
		return -ENOMEM;
	ret = nof_identify(ctrl, NVME_ID_CNS_CTRL, 0, id);
	if (ret) {
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "Identify Controller failed");
		ret = ret > 0 ? -EIO : ret;
		goto free;
	}
	/* controllers before NVMe 1.4 do not report CNTRLTYPE */
	if (!id->cntrltype && !strcmp(ctrl->opts.subsysnqn, NVME_DISC_SUBSYS_NAME))
		id->cntrltype = NVME_CTRL_DISC;
	why = nof_identify_ctrl(id, NVME_CAP_MPSMIN(ctrl->cap), &decoded);
	if (!why && le16_to_cpu(id->cntlid) != ctrl->cntlid)
		why = "controller ID is not the one that Connect returned";
	/* the block layer requires a limit of one page at least, and pages may be larger than MPSMIN */
	if (!why && decoded.max_transfer < PAGE_SIZE && decoded.cntrltype != NVME_CTRL_DISC)
		why = "MDTS is less than a page of this machine";
	/* without I/O queues existing paths would carry no I/O, but would not be removed either */
	if (!why && test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) &&
	    ctrl->discovery != (decoded.cntrltype == NVME_CTRL_DISC))
		why = "controller type has changed since the first connect";
	if (!why) {
		ctrl_identity_set(ctrl, &decoded);
		why = same_subsystem(ctrl);
	}
	if (why) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "Identify Controller refused: %s", why);
		ret = -EPROTO;
	}
free:
	kfree(id);
	return ret;
}

/*
 * Limits of commands without data. Controllers before NVMe 2.0 do not report them and reject the command: then they do
 * not apply. Returns a negative errno if no answer came.
 */
static int identify_nvm(struct nof_ctrl *ctrl)
{
	struct nvme_id_ctrl_nvm *id = kzalloc(sizeof(*id), GFP_KERNEL);
	int ret;

	if (!id)
		return -ENOMEM;
	ret = nof_identify(ctrl, NVME_ID_CNS_CS_CTRL, 0, id);
	if (ret > 0)
		memset(id, 0, sizeof(*id));
	nof_identify_nvm(id, NVME_CAP_MPSMIN(ctrl->cap), &ctrl->nvm);
	kfree(id);
	return min(ret, 0);
}

/* Without the log, or if it is rejected, only the known effects apply. Returns a negative errno if no answer came. */
static int effects_read(struct nof_ctrl *ctrl)
{
	struct nvme_effects_log *log;
	int nvm = 1, zns = 1;

	log = kzalloc(sizeof(*log), GFP_KERNEL);
	if (!log)
		return -ENOMEM;
	if (ctrl->ident.lpa & NVME_CTRL_LPA_CMD_EFFECTS_LOG)
		nvm = nof_get_effects(ctrl, NVME_CSI_NVM, log);
	nof_effects_admin(nvm ? NULL : log, &ctrl->effects.admin);
	nof_effects_io(nvm ? NULL : log, NVME_CSI_NVM, &ctrl->effects.nvm);
	if (!nvm && NVME_CAP_CSS(ctrl->cap) & NVME_CAP_CSS_CSI)
		zns = nof_get_effects(ctrl, NVME_CSI_ZNS, log);
	nof_effects_io(zns ? NULL : log, NVME_CSI_ZNS, &ctrl->effects.zns);
	kfree(log);
	return nvm < 0 ? nvm : min(zns, 0);
}

static int connect_io(struct nof_ctrl *ctrl, unsigned long deadline)
{
	int ret = nof_mpath.association_begin(ctrl);

	ctrl->transport->limits(ctrl, &ctrl->limits);
	if (!ret)
		ret = nof_queues_start_io(ctrl, deadline);
	if (!ret)
		ret = nof_queues_map(ctrl);
	if (!ret)
		ret = nof_mpath.read_ana(ctrl);
	/* last, as close to the first I/O as possible */
	if (!ret)
		ret = nof_scan_confirm(ctrl);
	return ret;
}

static int association_begin(struct nof_ctrl *ctrl)
{
	/* a teardown_work() left from an earlier attempt must not end this one; later errors set the flag again */
	spin_lock_irq(&ctrl->state_lock);
	clear_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	ctrl->end.cause = NOF_CAUSE_LOCAL;
	ctrl->end.cut_off = false;
	ctrl->end.quiet_ms = 0;
	spin_unlock_irq(&ctrl->state_lock);
	cancel_work_sync(&ctrl->recovery.teardown_work);
	WRITE_ONCE(ctrl->connection, ctrl->connection + 1);
	/* the lock, because nof_paths_suspend() raises it as well */
	mutex_lock(&ctrl->subsys->lock);
	WRITE_ONCE(ctrl->association, ctrl->association + 1);
	mutex_unlock(&ctrl->subsys->lock);
	return nof_ctrl_reattach_transport(ctrl);
}

/* Without connections afterwards. The caller has cleared what depends on the association. */
static void association_drop(struct nof_ctrl *ctrl)
{
	set_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	nof_queues_cancel(ctrl);
	cancel_work_sync(&ctrl->recovery.teardown_work);
	nof_queues_free(ctrl);
}

/*
 * With secure channel concatenation, a first association in plain text authenticates host and controller, which
 * generates a key for TLS, and does nothing else (NVMe Base 2.1, 8.3.4.5.9). Each attempt generates a new one.
 */
static int start_admin(struct nof_ctrl *ctrl)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(ctrl->opts.connect_tmo_ms);
	int ret;

	nof_tls_key_forget(ctrl);
	ret = association_begin(ctrl) ?: nof_queues_start_admin(ctrl, deadline);
	if (ret || !ctrl->opts.concat)
		return ret;
	if (!nof_tls_key_set(ctrl)) {
		nof_ctrl_note(ctrl, -EKEYREJECTED, 0, "the authentication has generated no TLS key");
		return -EKEYREJECTED;
	}
	association_drop(ctrl);
	return association_begin(ctrl) ?: nof_queues_start_admin(ctrl, deadline);
}

static int connect_attempt(struct nof_ctrl *ctrl)
{
	int ret = start_admin(ctrl);

	if (!ret)
		ret = read_properties(ctrl);
	if (!ret)
		ret = nof_ctrl_enable(ctrl);
	if (!ret)
		ret = identify_ctrl(ctrl);
	if (ret)
		return ret;
	ret = nof_ka_negotiate(ctrl);
	if (ret)
		return ret;
	nof_ka_start(ctrl);
	ret = nof_set_host_behavior(ctrl);
	if (!ret)
		ret = nof_aer_configure(ctrl);
	if (!ret && !ctrl->discovery)
		ret = identify_nvm(ctrl) ?: effects_read(ctrl);
	if (!ret && !ctrl->discovery)
		ret = connect_io(ctrl, jiffies + msecs_to_jiffies(ctrl->opts.connect_tmo_ms));
	return ret;
}

static void undo_attempt(struct nof_ctrl *ctrl)
{
	set_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	WRITE_ONCE(ctrl->auth.at, 0);
	WRITE_ONCE(ctrl->tls.cipher, 0);
	nof_ka_stop(ctrl);
	association_drop(ctrl);
	nof_tls_key_forget(ctrl);
}

/* Each reconnect requests all queues again */
static void note_missing_queues(struct nof_ctrl *ctrl)
{
	if (!ctrl->discovery && ctrl->queues.nr_missing)
		nof_ctrl_note(ctrl, -ENOSPC, 0, "connected with %u of %u I/O queues: the others did not start",
			      ctrl->queues.nr_io, ctrl->queues.nr_io + ctrl->queues.nr_missing);
}

/* Called for the first connect only: reconnects would repeat the message */
static void note_poll_queues(struct nof_ctrl *ctrl)
{
	u32 wanted = ctrl->opts.nr_poll_queues, most = ctrl->subsys->nr_poll;

	if (ctrl->discovery || ctrl->queues.nr_poll >= wanted)
		return;
	if (ctrl->queues.nr_poll == most)
		nof_ctrl_note(ctrl, -ENOSPC, 0,
			      "%u of %u poll queues: the first connect to the subsystem requested %u",
			      ctrl->queues.nr_poll, wanted, most);
	else
		nof_ctrl_note(ctrl, -ENOSPC, 0, "%u of %u poll queues: the target grants %u I/O queues in all",
			      ctrl->queues.nr_poll, wanted, ctrl->queues.nr_granted);
}

/*
 * All in one section of subsys->lock: two controllers that connect at the same time compare identities one after the
 * other, and listings show LIVE only when requests may take the paths. A task that sees LIVE without the lock finds
 * path sets whose requests wait for this controller.
 */
static bool go_live(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	bool live = false, changed = false;
	const char *why;

	mutex_lock(&s->lock);
	if (test_and_clear_bit(NOF_CTRL_FAIL_FAST, &ctrl->flags))
		nof_mpath.publish(ctrl);
	why = identity_conflict(ctrl);
	if (!why)
		live = nof_ctrl_set_state(ctrl, NVMEOF_CTRL_LIVE);
	if (live) {
		changed = subsys_identity_set(ctrl);
		nof_mpath.publish(ctrl);
	}
	mutex_unlock(&s->lock);
	if (why)
		nof_ctrl_note(ctrl, -EPROTO, 0, "refused: %s", why);
	if (changed)
		nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
	return live;
}

static void became_live(struct nof_ctrl *ctrl, enum nvmeof_ctrl_state from)
{
	note_missing_queues(ctrl);
	if (!ctrl->recovery.reconnects && !ctrl->queues.nr_missing)
		note_poll_queues(ctrl);
	dev_info(&ctrl->dev, "live: %s %s, %u I/O queues of %u entries, %u of them polled\n", ctrl->opts.transport,
		 ctrl->opts.traddr, ctrl->queues.nr_io, ctrl->sqsize, ctrl->queues.nr_poll);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, from);
	nof_aer_start(ctrl);
	nof_auth_start(ctrl);
	nof_scan_start(ctrl);
}

/* Returns true if the controller is LIVE, or is being deleted and needs no further attempt */
static bool connect_once(struct nof_ctrl *ctrl)
{
	/* memory reclaim may write to our own disks, which wait for this connect */
	unsigned int noio = memalloc_noio_save();
	enum nvmeof_ctrl_state from = nof_ctrl_state(ctrl);
	u32 notes = READ_ONCE(ctrl->error.notes);
	int ret = connect_attempt(ctrl);

	memalloc_noio_restore(noio);
	/* the error, most likely lack of memory, was not recorded yet */
	if (ret && ret != -ECANCELED && READ_ONCE(ctrl->error.notes) == notes)
		nof_ctrl_note(ctrl, ret, 0, ret == -ENOMEM ? "out of memory" : "cannot connect");
	/* before the state changes: then flag and timer belong to the next loss, and a task that sees LIVE does I/O */
	if (!ret)
		nof_fail_fast_stop(ctrl);
	if (!ret && go_live(ctrl)) {
		became_live(ctrl, from);
		return true;
	}
	undo_attempt(ctrl);
	if (!nof_state_connects(nof_ctrl_state(ctrl)))
		return true;
	nof_ctrl_event(ctrl, NVMEOF_EVENT_CONNECT_FAILED, from);
	return false;
}

/*
 * If the first connect fails, the controller is deleted, so that the caller of CTRL_NEW decides, unless it has asked
 * for more attempts (first_connect_tmo_ms).
 */
static void connect_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, recovery.connect_work);

	ctrl->recovery.lost_at = jiffies;
	if (connect_once(ctrl))
		return;
	if (ctrl->opts.first_connect_tmo_ms)
		nof_reconnect_later(ctrl);
	else
		nof_ctrl_delete_start(ctrl);
}

static void reconnect_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, recovery.reconnect_work);

	/* queued again while the attempt that succeeded was running */
	if (!nof_state_connects(nof_ctrl_state(ctrl)))
		return;
	if (!connect_once(ctrl))
		nof_reconnect_later(ctrl);
}

void nof_connect_init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->recovery.connect_work, connect_work);
	INIT_DELAYED_WORK(&ctrl->recovery.reconnect_work, reconnect_work);
}
