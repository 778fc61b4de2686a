// SPDX-License-Identifier: GPL-2.0-only
/* From nothing to LIVE: one attempt, the first connect, and every reconnect. */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core/backoff.h"
#include "core/lifecycle.h"
#include "core/status.h"
#include "core/subsys.h"
#include "mpath/ana.h"
#include "mpath/fence.h"

#define NVME_CTRL_PAGE_SHIFT	12	/* what 0 in MPSMIN stands for */

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
	/* CC.MPS, which has to be MPSMIN at least, means nothing to a host on fabrics, but MDTS is counted in it */
	if (NVME_CAP_MPSMIN(ctrl->cap) > PAGE_SHIFT - NVME_CTRL_PAGE_SHIFT) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "CAP.MPSMIN is %u: memory pages larger than the host's",
			      (u32)NVME_CAP_MPSMIN(ctrl->cap));
		return -EPROTO;
	}
	ctrl->sqsize = min_t(u32, ctrl->opts.queue_size, NVME_CAP_MQES(ctrl->cap) + 1);
	/* CAP.TO counts 500 ms; a controller that says 0 still gets a moment */
	ctrl->ready_tmo_ms = (NVME_CAP_TIMEOUT(ctrl->cap) + 1) * 500;
	return 0;
}

static const char *same_subsystem(struct nof_ctrl *ctrl, const struct nof_ctrl_id *id)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_ctrl *other;
	const char *why = NULL;

	/* That is the name of all discovery services: their controllers have nothing in common */
	if (!strcmp(s->nqn, NVME_DISC_SUBSYS_NAME))
		return id->cntrltype == NVME_CTRL_DISC ? NULL : "not a discovery controller, by whose name it goes";

	mutex_lock(&s->lock);
	if (s->identified && strcmp(s->serial, id->serial))
		why = "serial number differs from the subsystem's other controllers";
	list_for_each_entry(other, &s->ctrls, entry)
		if (other != ctrl && nof_ctrl_state(other) == NVMEOF_CTRL_LIVE && other->cntlid == ctrl->cntlid)
			why = "controller ID is that of another live controller";
	if (!why && !s->identified) {
		memcpy(s->serial, id->serial, sizeof(s->serial));
		memcpy(s->model, id->model, sizeof(s->model));
		memcpy(s->firmware, id->firmware, sizeof(s->firmware));
		s->identified = true;
	}
	mutex_unlock(&s->lock);
	return why;
}

static void take_identity(struct nof_ctrl *ctrl, const struct nof_ctrl_id *id)
{
	memcpy(ctrl->serial, id->serial, sizeof(ctrl->serial));
	memcpy(ctrl->model, id->model, sizeof(ctrl->model));
	memcpy(ctrl->firmware, id->firmware, sizeof(ctrl->firmware));
	ctrl->oncs = id->oncs;
	ctrl->oaes = id->oaes;
	ctrl->ctratt = id->ctratt;
	ctrl->cmic = id->cmic;
	ctrl->vwc = id->vwc;
	ctrl->acl = id->acl;
	ctrl->max_transfer = id->max_transfer;
	ctrl->ioccsz = id->ioccsz;
	ctrl->icdoff = id->icdoff;
	ctrl->maxcmd = id->maxcmd;
	ctrl->nn = id->nn;
	ctrl->mnan = id->mnan;
	ctrl->anagrpmax = id->anagrpmax;
	ctrl->nanagrpid = id->nanagrpid;
	ctrl->anatt = id->anatt;
	ctrl->kas = id->kas;
	ctrl->cqt_ms = id->cqt_ms;
	ctrl->ciu = id->ciu;
	ctrl->cirn = id->cirn;
	ctrl->ccrl = id->ccrl;
	ctrl->discovery = id->cntrltype == NVME_CTRL_DISC;
	/* RTD3E, microseconds; as long as a host is expected to wait for an orderly shutdown, within reason */
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
	/* before NVMe 1.4 controllers did not tell their type */
	if (!id->cntrltype && !strcmp(ctrl->opts.subsysnqn, NVME_DISC_SUBSYS_NAME))
		id->cntrltype = NVME_CTRL_DISC;
	why = nof_identify_ctrl(id, NVME_CAP_MPSMIN(ctrl->cap), &decoded);
	if (!why && le16_to_cpu(id->cntlid) != ctrl->cntlid)
		why = "controller ID is not the one that Connect returned";
	/* the block layer wants a page to fit, and pages may be larger than MPSMIN */
	if (!why && decoded.max_transfer < PAGE_SIZE && decoded.cntrltype != NVME_CTRL_DISC)
		why = "MDTS is less than a page of this machine";
	/* without I/O queues its paths would carry nothing, and not be lost either */
	if (!why && test_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags) &&
	    ctrl->discovery != (decoded.cntrltype == NVME_CTRL_DISC))
		why = "controller is of another type than it was";
	if (!why)
		why = same_subsystem(ctrl, &decoded);
	if (why) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "Identify Controller refused: %s", why);
		ret = -EPROTO;
		goto free;
	}
	take_identity(ctrl, &decoded);
free:
	kfree(id);
	return ret;
}

static int connect_io(struct nof_ctrl *ctrl, unsigned long deadline)
{
	int ret = nof_fence_arm(ctrl);

	if (!ret)
		ret = nof_queues_start_io(ctrl, deadline);
	if (!ret)
		ret = nof_queues_map(ctrl);
	if (!ret)
		ret = nof_ana_read(ctrl);
	/* last, as near to the first I/O as may be */
	if (!ret)
		ret = nof_scan_confirm(ctrl);
	return ret;
}

static int attempt(struct nof_ctrl *ctrl)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(ctrl->opts.connect_tmo_ms);
	int ret;

	/* One left over from an earlier attempt may not end this one; what ends it from here on leaves the mark */
	spin_lock_irq(&ctrl->state_lock);
	clear_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	spin_unlock_irq(&ctrl->state_lock);
	cancel_work_sync(&ctrl->abort_work);
	WRITE_ONCE(ctrl->association, ctrl->association + 1);
	ret = nof_queues_start_admin(ctrl, deadline);
	if (!ret)
		ret = read_properties(ctrl);
	if (!ret)
		ret = nof_ctrl_enable(ctrl);
	if (!ret)
		ret = identify_ctrl(ctrl);
	if (ret)
		return ret;
	nof_ka_start(ctrl);
	ret = nof_aer_configure(ctrl);
	if (!ret && !ctrl->discovery)
		ret = connect_io(ctrl, jiffies + msecs_to_jiffies(ctrl->opts.connect_tmo_ms));
	return ret;
}

static void undo_attempt(struct nof_ctrl *ctrl)
{
	set_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	nof_ka_stop(ctrl);
	nof_queues_kill(ctrl);
	cancel_work_sync(&ctrl->abort_work);
	nof_queues_free(ctrl);
}

/* Said once: it is so at each reconnect, and no reason to give anything up */
static void note_poll_queues(struct nof_ctrl *ctrl)
{
	u32 wanted = ctrl->opts.nr_poll_queues, most = ctrl->subsys->nr_poll;

	if (ctrl->discovery || ctrl->nr_poll >= wanted)
		return;
	if (ctrl->nr_granted >= ctrl->opts.nr_io_queues + wanted)
		nof_ctrl_note(ctrl, -ENOSPC, 0,
			      "%u of %u poll queues: the subsystem has %u since its first controller connected",
			      ctrl->nr_poll, wanted, most);
	else
		nof_ctrl_note(ctrl, -ENOSPC, 0, "%u of %u poll queues: the target grants %u I/O queues in all",
			      ctrl->nr_poll, wanted, ctrl->nr_granted);
}

static void became_live(struct nof_ctrl *ctrl)
{
	if (!ctrl->reconnects)
		note_poll_queues(ctrl);
	dev_info(&ctrl->dev, "live: %s %s, %u I/O queues (%u polled) of %u\n", ctrl->opts.transport, ctrl->opts.traddr,
		 ctrl->nr_io, ctrl->nr_poll, ctrl->sqsize);
	nof_ctrl_publish(ctrl);
	nof_ctrl_event(ctrl, NVMEOF_EVENT_STATE, NVMEOF_CTRL_CONNECTING);
	nof_aer_start(ctrl);
	nof_scan_start(ctrl);
}

/* True when live, or when somebody else has taken over (deletion) */
static bool connect_once(struct nof_ctrl *ctrl)
{
	/* what memory is short for may be writeback to our own disks (TRAP 13) */
	unsigned int noio = memalloc_noio_save();
	u32 notes = READ_ONCE(ctrl->notes);
	int ret = attempt(ctrl);

	memalloc_noio_restore(noio);
	/* what ended it otherwise, lack of memory most likely, has not been told by anybody */
	if (ret && ret != -ECANCELED && READ_ONCE(ctrl->notes) == notes)
		nof_ctrl_note(ctrl, ret, 0, ret == -ENOMEM ? "out of memory" : "cannot connect");
	/* before the state changes: from then on these belong to the next loss, and who sees it live does I/O */
	if (!ret)
		nof_fail_fast_stop(ctrl);
	if (!ret && nof_ctrl_set_state(ctrl, NVMEOF_CTRL_LIVE)) {
		became_live(ctrl);
		return true;
	}
	undo_attempt(ctrl);
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_CONNECTING)
		return true;
	nof_ctrl_event(ctrl, NVMEOF_EVENT_CONNECT_FAILED, NVMEOF_CTRL_CONNECTING);
	return false;
}

/*
 * The first connect is somebody's request: when it fails the controller goes, and the requester decides, unless that
 * one has asked for more attempts.
 */
void nof_connect_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, connect_work);

	ctrl->lost_at = jiffies;
	if (connect_once(ctrl))
		return;
	if (ctrl->opts.first_connect_tmo_ms)
		nof_reconnect_later(ctrl);
	else
		nof_ctrl_delete_start(ctrl);
}

void nof_reconnect_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, reconnect_work);

	/* asked for once more while the attempt that succeeded was running */
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_CONNECTING)
		return;
	if (!connect_once(ctrl))
		nof_reconnect_later(ctrl);
}
