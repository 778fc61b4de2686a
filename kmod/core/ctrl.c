// SPDX-License-Identifier: GPL-2.0-only
/* The controller object: made, found, its state changed, let go. */
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "core/above.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/orphans.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/transport.h"
#include "core/watch.h"
#include "wire/status.h"

bool nof_ctrl_set_state(struct nof_ctrl *ctrl, enum nvmeof_ctrl_state to)
{
	unsigned long flags;
	u8 from;
	bool ok;

	spin_lock_irqsave(&ctrl->state_lock, flags);
	from = ctrl->state;
	ok = nof_state_may(from, to);
	/* a queue that failed after its part of the attempt was done */
	if (to == NVMEOF_CTRL_LIVE && test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags))
		ok = false;
	if (ok && to == NVMEOF_CTRL_DELETING)
		ctrl->deleted_from = from;
	/* before anybody can start to count anew */
	if (ok && to == NVMEOF_CTRL_LIVE) {
		ctrl->attempts = 0;
		WRITE_ONCE(ctrl->scans, 0);
		ctrl->live_at = jiffies;
		if (test_and_set_bit(NOF_CTRL_EVER_LIVE, &ctrl->flags))
			ctrl->reconnects++;
		/* one that is running finds the state */
		cancel_delayed_work(&ctrl->fail_fast_work);
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
 * Attempts fail one after the other: the 1st, 2nd, 4th, 8th ... is logged, and one with another reason, unless that
 * keeps changing.
 */
static bool worth_a_line(struct nof_ctrl *ctrl, u32 attempt, int err)
{
	u32 gap = attempt - min(attempt, ctrl->logged_attempt);

	lockdep_assert_held(&ctrl->error_lock);
	return !gap || is_power_of_2(attempt) || (err != ctrl->logged_err && gap > attempt / 8);
}

/* Under error_lock. Of those not logged the line says, in @tail, how many they are. */
static bool take_line(struct nof_ctrl *ctrl, int err, char *tail, size_t size)
{
	u32 attempt = nof_state_connects(nof_ctrl_state(ctrl)) ? READ_ONCE(ctrl->attempts) : 0;
	bool log = worth_a_line(ctrl, attempt, err);

	*tail = '\0';
	if (!log)
		return false;
	if (attempt > ctrl->logged_attempt + 1)
		scnprintf(tail, size, "; attempt %u, %u before it not logged", attempt,
			  attempt - ctrl->logged_attempt - 1);
	ctrl->logged_attempt = attempt;
	ctrl->logged_err = err;
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
	spin_lock_irqsave(&ctrl->error_lock, flags);
	strscpy(ctrl->last_error, text, sizeof(ctrl->last_error));
	ctrl->last_errno = -err;
	ctrl->last_status = status & NVME_SCT_SC_MASK;
	WRITE_ONCE(ctrl->notes, ctrl->notes + 1);
	log = take_line(ctrl, err, tail, sizeof(tail));
	spin_unlock_irqrestore(&ctrl->error_lock, flags);
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

static void ctrl_release(struct device *dev)
{
	struct nof_ctrl *ctrl = to_nof_ctrl(dev);

	nof_mpath.ctrl_exit(ctrl);
	nof_control.ctrl_release(ctrl);
	if (ctrl->subsys) {
		ida_free(&ctrl->subsys->ctrl_ids, ctrl->id);
		nof_subsys_put(ctrl->subsys);
	}
	kfree(ctrl->ka_cmd);
	kfree(ctrl->aen_cmd);
	kfree(ctrl);
}

static struct nof_ctrl *ctrl_alloc(const struct nof_opts *opts)
{
	struct nof_ctrl *ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);

	if (!ctrl)
		return NULL;
	device_initialize(&ctrl->dev);
	ctrl->dev.release = ctrl_release;
	ctrl->opts = *opts;
	ctrl->kato_ms = opts->kato_ms;
	ctrl->state = NVMEOF_CTRL_NEW;
	spin_lock_init(&ctrl->state_lock);
	spin_lock_init(&ctrl->error_lock);
	init_waitqueue_head(&ctrl->state_wq);
	mutex_init(&ctrl->stop_lock);
	mutex_init(&ctrl->queues_lock);
	mutex_init(&ctrl->scan_lock);
	init_completion(&ctrl->deleted);
	INIT_WORK(&ctrl->connect_work, nof_connect_work);
	INIT_DELAYED_WORK(&ctrl->reconnect_work, nof_reconnect_work);
	INIT_WORK(&ctrl->recovery_work, nof_recovery_work);
	INIT_WORK(&ctrl->abort_work, nof_abort_work);
	INIT_DELAYED_WORK(&ctrl->leave_watch, nof_leave_watch);
	INIT_WORK(&ctrl->delete_work, nof_delete_work);
	INIT_DELAYED_WORK(&ctrl->fail_fast_work, nof_fail_fast_work);
	INIT_WORK(&ctrl->lost_work, nof_lost_work);
	INIT_DELAYED_WORK(&ctrl->scan_work, nof_scan_work);
	ctrl->next_scan = jiffies;
	nof_watch_init(ctrl);
	nof_mpath.ctrl_init(ctrl);
	if (nof_admin_init(ctrl) || nof_ka_init(ctrl) || nof_aer_init(ctrl)) {
		put_device(&ctrl->dev);
		return NULL;
	}
	return ctrl;
}

int nof_ctrl_take_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	const struct nof_transport *t = ctrl->transport;
	int ret;

	if (ctrl->opts.given & ~t->options) {
		NL_SET_ERR_MSG(extack, "an option was given that this transport does not have");
		return -EOPNOTSUPP;
	}
	ret = t->ctrl_init(ctrl, extack);
	ctrl->tp_ready = !ret;
	return ret;
}

static int attach_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	struct nof_transport *t = nof_transport_get(ctrl->opts.transport);

	if (!t) {
		NL_SET_ERR_MSG(extack, "unknown transport, or its module is only being loaded: try again");
		return -EPROTONOSUPPORT;
	}
	ctrl->transport = t;
	return nof_ctrl_take_transport(ctrl, extack);
}

void nof_ctrl_drop_transport(struct nof_ctrl *ctrl)
{
	if (ctrl->tp_ready)
		ctrl->transport->ctrl_exit(ctrl);
	ctrl->tp_ready = false;
}

/* Before the reference on its module goes: that of create, or the implicit one of unregister */
void nof_ctrl_detach_transport(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;

	/* without one it has got no transport */
	if (s) {
		mutex_lock(&s->lock);
		nof_ctrl_drop_transport(ctrl);
		mutex_unlock(&s->lock);
	}
	nof_orphan_end(ctrl);
	put_net(ctrl->opts.net);
	ctrl->opts.net = NULL;
}

static bool same_words(const struct nof_opts *a, const struct nof_opts *b)
{
	return !strcmp(a->transport, b->transport) && !strcmp(a->traddr, b->traddr) &&
	       !strcmp(a->trsvcid, b->trsvcid) && !strcmp(a->host_traddr, b->host_traddr) &&
	       !strcmp(a->host_iface, b->host_iface);
}

/* One that waits for its transport has nobody to compare addresses */
static bool same_way(const struct nof_ctrl *ctrl, const struct nof_ctrl *other)
{
	if (!other->transport)
		return same_words(&ctrl->opts, &other->opts);
	return other->transport == ctrl->transport && ctrl->transport->same_addr(ctrl, other);
}

bool nof_ctrl_transient(const struct nof_ctrl *ctrl)
{
	return ctrl->opts.duplicate_connect && !ctrl->opts.kato_ms;
}

static struct nof_ctrl *same_address(struct nof_subsys *s, struct nof_ctrl *ctrl)
{
	struct nof_ctrl *other;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(other, &s->ctrls, entry) {
		/* read one discovery log, and go: they are no second path */
		if (nof_ctrl_transient(other))
			continue;
		if (!nof_state_ends(nof_ctrl_state(other)) && same_way(ctrl, other))
			return other;
	}
	return NULL;
}

/* Under the subsystem's lock: the check for a duplicate and the entry in the list are one step (TRAP 20) */
static int enlist(struct nof_ctrl *ctrl, char *found, struct netlink_ext_ack *extack)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_ctrl *other;
	int ret = 0;

	mutex_lock(&s->lock);
	other = ctrl->opts.duplicate_connect ? NULL : same_address(s, ctrl);
	if (other) {
		strscpy(found, nof_ctrl_name(other), NVMEOF_NAME_MAX + 1);
		if (nof_ctrl_state(other) == NVMEOF_CTRL_LOST) {
			NL_SET_ERR_MSG(extack, "a lost controller has this address; it is tried again now");
			nof_reconnect_now(other);
		} else {
			NL_SET_ERR_MSG(extack, "already connected to this subsystem at this address");
		}
		ret = -EALREADY;
	} else {
		ctrl->nr = nof_topology_changed();
		list_add_tail(&ctrl->entry, &s->ctrls);
		s->nr_ctrls++;
	}
	mutex_unlock(&s->lock);
	return ret;
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

static int join_subsys(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	struct nof_subsys *s;
	int id;

	s = nof_subsys_join(ctrl->opts.subsysnqn, ctrl->opts.hostnqn, ctrl->opts.hostid, extack);
	if (IS_ERR(s))
		return PTR_ERR(s);
	id = ida_alloc_min(&s->ctrl_ids, 1, GFP_KERNEL);
	if (id < 0) {
		nof_subsys_leave(s);
		return id;
	}
	ctrl->subsys = nof_subsys_get(s);
	ctrl->id = id;
	return dev_set_name(&ctrl->dev, "%sc%u", nof_subsys_name(s), ctrl->id);
}

struct nof_ctrl *nof_ctrl_create(const struct nof_opts *opts, char *found, struct netlink_ext_ack *extack)
{
	struct nof_ctrl *ctrl = ctrl_alloc(opts);
	int ret;

	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	get_net(ctrl->opts.net);
	ret = join_subsys(ctrl, extack);
	if (!ret)
		ret = attach_transport(ctrl, extack);
	if (!ret)
		ret = enlist(ctrl, found, extack);
	if (ret)
		goto put;
	nof_ctrl_set_state(ctrl, NVMEOF_CTRL_CONNECTING);
	ret = nof_control.ctrl_add(ctrl);
	if (ret) {
		NL_SET_ERR_MSG(extack, "cannot create the controller's device node");
		nof_ctrl_delist(ctrl);
		goto put;
	}
	nof_ctrl_event(ctrl, NVMEOF_EVENT_ADDED, NVMEOF_CTRL_NEW);
	/* the reference of device_initialize() is the lifecycle's, dropped at the end of nof_delete_work() */
	nof_ctrl_get(ctrl);
	queue_work(nof_wq, &ctrl->connect_work);
	/* last: from here on it may be deleted by request */
	smp_mb__before_atomic();
	set_bit(NOF_CTRL_ADDED, &ctrl->flags);
	/*
	 * From here on unregistering the transport finds the controller in the list and deletes it: no reference needed
	 */
	nof_transport_put(ctrl->transport);
	return ctrl;
put:
	nof_ctrl_detach_transport(ctrl);
	if (ctrl->transport)
		nof_transport_put(ctrl->transport);
	if (ctrl->subsys)
		nof_subsys_leave(ctrl->subsys);
	nof_ctrl_put(ctrl);
	return ERR_PTR(ret);
}

struct nof_ctrl *nof_ctrl_search(bool (*is)(struct nof_ctrl *ctrl, const void *arg), const void *arg)
{
	struct nof_ctrl *ctrl, *found = NULL;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (!found && is(ctrl, arg))
				found = nof_ctrl_get(ctrl);
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	return found;
}

static bool has_name(struct nof_ctrl *ctrl, const void *name)
{
	return !strcmp(nof_ctrl_name(ctrl), name);
}

struct nof_ctrl *nof_ctrl_find(const char *name)
{
	return nof_ctrl_search(has_name, name);
}

int nof_ctrl_reset(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LOST) {
		nof_reconnect_now(ctrl);
		return 0;
	}
	if (!nof_ctrl_error_live(ctrl, true)) {
		NL_SET_ERR_MSG(extack, "the controller is not live; it connects again by itself");
		return -EBUSY;
	}
	return 0;
}

/* "NVMe", which starts an NVM Subsystem Reset (NVMe Base 2.0, 3.1.3.7) */
#define NSSR_RESET	0x4e564d65

int nof_ctrl_reset_subsys(struct nof_ctrl *ctrl)
{
	u32 association = READ_ONCE(ctrl->association);
	int ret;

	if (!NVME_CAP_NSSRC(ctrl->cap))
		return -ENOTTY;
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return -EBUSY;
	ret = nof_property_set(ctrl, NVME_REG_NSSR, NSSR_RESET);
	/* there may be no answer: the connection goes with the controller */
	if (ret && ret != NVME_SC_HOST_ABORTED_CMD)
		return ret;
	if (READ_ONCE(ctrl->association) == association)
		nof_ctrl_error_live(ctrl, true);
	return 0;
}

int nof_ctrl_rescan(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	int ret;

	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE) {
		NL_SET_ERR_MSG(extack, "the controller is not live; it scans when it is");
		return -ENOTCONN;
	}
	ret = nof_scan(ctrl);
	if (ret == -ENOMEM) {
		NL_SET_ERR_MSG(extack, "out of memory: the scan did not complete; tried again");
	} else if (ret == -EAGAIN) {
		NL_SET_ERR_MSG(extack, "a namespace cannot be used yet, see the controller's last error; tried again");
	} else if (ret) {
		NL_SET_ERR_MSG(extack, "the scan did not complete; see the controller's last error");
	}
	/* who asks again and again does not outrun the back-off */
	if ((ret == -EAGAIN || ret == -ENOMEM) && !delayed_work_pending(&ctrl->scan_work))
		nof_scan_start(ctrl);
	return ret > 0 ? -EIO : ret;
}

const struct nof_effects *nof_ctrl_effects(const struct nof_ctrl *ctrl, u8 csi)
{
	u32 i;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (csi == NVME_CSI_NVM)
		return &ctrl->nvm_effects;
	if (csi == NVME_CSI_ZNS)
		return &ctrl->zns_effects;
	for (i = 0; i < NOF_OTHER_SETS; i++)
		if (ctrl->other_effects[i].csi == csi)
			return &ctrl->other_effects[i].of;
	return NULL;
}

void nof_ctrl_set_effects(struct nof_ctrl *ctrl, u8 csi, const struct nvme_effects_log *log)
{
	u32 i = 0;

	lockdep_assert_held(&ctrl->subsys->lock);
	while (i < NOF_OTHER_SETS && ctrl->other_effects[i].csi && ctrl->other_effects[i].csi != csi)
		i++;
	if (i == NOF_OTHER_SETS)
		return;
	ctrl->other_effects[i].csi = csi;
	nof_effects_io(log, csi, &ctrl->other_effects[i].of);
}

bool nof_ctrl_owes_paths(const struct nof_ctrl *ctrl)
{
	return !ctrl->discovery && !nof_state_ends(nof_ctrl_state(ctrl)) &&
	       test_bit(NOF_CTRL_MISSED, &ctrl->flags) && !test_bit(NOF_CTRL_EVER_SCANNED, &ctrl->flags);
}

u32 nof_ctrl_inflight(struct nof_ctrl *ctrl)
{
	return nof_queues_inflight(ctrl, true);
}
