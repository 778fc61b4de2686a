// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of transports, and the controllers of a transport whose module is unloaded: they are deleted, or kept
 * without a transport, as orphans, until the module is loaded again. An orphan is CONNECTING or LOST; requests wait for
 * it as for any controller that reconnects, with the same timeouts.
 */
#include <linux/delay.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"

static LIST_HEAD(transports);
static DEFINE_MUTEX(transports_lock);

static struct nof_transport *registry_find(const char *name)
{
	struct nof_transport *t;

	lockdep_assert_held(&transports_lock);
	list_for_each_entry(t, &transports, entry)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

/* Maximum time from nof_transport_keep() to unloading the module */
#define KEEP_TMO	(10 * HZ)

int nof_transport_keep(const char *name)
{
	struct nof_transport *t;

	mutex_lock(&transports_lock);
	t = registry_find(name);
	if (t) {
		t->kept = true;
		t->kept_until = jiffies + KEEP_TMO;
	}
	mutex_unlock(&transports_lock);
	return t ? 0 : -ENOENT;
}

/* Returns the transport of this name with a reference on its module, or NULL */
static struct nof_transport *transport_find(const char *name)
{
	struct nof_transport *t;

	mutex_lock(&transports_lock);
	t = registry_find(name);
	if (t && !try_module_get(t->owner))
		t = NULL;
	mutex_unlock(&transports_lock);
	return t;
}

struct nof_transport *nof_transport_get(const char *name)
{
	struct nof_transport *t = transport_find(name);

	if (t)
		return t;
	/* does not wait: the caller, a netlink handler, holds a lock that modules need to register a family */
	request_module_nowait("nvmeof-%s", name);
	return NULL;
}

void nof_transport_put(struct nof_transport *t)
{
	module_put(t->owner);
}

int nof_transport_for_each(int (*fn)(const struct nof_transport *t, void *arg), void *arg)
{
	struct nof_transport *t;
	int ret = 0;

	mutex_lock(&transports_lock);
	list_for_each_entry(t, &transports, entry) {
		ret = fn(t, arg);
		if (ret)
			break;
	}
	mutex_unlock(&transports_lock);
	return ret;
}

/* How long to wait for outstanding requests, so that they need not be retried */
#define DRAIN_MS	1000
/* Polling interval: short at first, because most requests complete quickly */
#define DRAIN_MIN_US	200
#define DRAIN_MAX_US	6400
/*
 * How long to wait for outstanding writes: a write must not be retried while the target may still execute the first
 * copy. As long as the time limit of a request; the fence holds the writes that take longer.
 */
#define WRITES_MS	30000

/*
 * Calls @act for each controller of a transport, under subsys->lock, until it returns true. Returns that controller
 * with a reference, or NULL.
 */
static struct nof_ctrl *for_each_ctrl_until(const struct nof_transport *t, bool (*act)(struct nof_ctrl *ctrl))
{
	struct nof_ctrl *ctrl, *found = NULL;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (!found && ctrl->transport == t && act(ctrl))
				found = nof_ctrl_get(ctrl);
	}
	return found;
}

static bool match_any(struct nof_ctrl *ctrl)
{
	return true;
}

static bool start_delete(struct nof_ctrl *ctrl)
{
	set_bit(NOF_CTRL_EXPLICIT_DELETE, &ctrl->flags);
	nof_ctrl_delete_start(ctrl);
	return false;
}

/*
 * Afterwards @t has no controller, and gets none: it is not registered any more, and a controller that is being created
 * holds a reference on the module. Waits for commands in flight, for a bounded time, not for the peer.
 */
static void transport_delete_ctrls(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;

	for_each_ctrl_until(t, start_delete);
	while ((ctrl = for_each_ctrl_until(t, match_any))) {
		wait_for_completion(&ctrl->deletion.done);
		nof_ctrl_put(ctrl);
	}
	/* delete_work() still runs after it has completed deletion.done */
	flush_workqueue(nof_delete_wq);
}

/* From here on the controller gets no new request and makes no connect attempt */
static bool yield_transport(struct nof_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->subsys->lock);
	set_bit(NOF_CTRL_EXCHANGE, &ctrl->flags);
	nof_mpath.publish(ctrl);
	return false;
}

static bool has_io(struct nof_ctrl *ctrl)
{
	return nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_queues_inflight(ctrl, true);
}

static bool has_writes(struct nof_ctrl *ctrl)
{
	return nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_queues_count(ctrl, nof_slot_writes);
}

static void transport_drain(const struct nof_transport *t, bool (*is_busy)(struct nof_ctrl *ctrl), u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	u32 rest_us = DRAIN_MIN_US;
	struct nof_ctrl *ctrl;

	/* each iteration takes subsys->lock of all subsystems, and goes through the slots of all queues */
	while ((ctrl = for_each_ctrl_until(t, is_busy))) {
		nof_ctrl_put(ctrl);
		if (time_after(jiffies, end))
			return;
		usleep_range(rest_us, 2 * rest_us);
		rest_us = min_t(u32, 2 * rest_us, DRAIN_MAX_US);
	}
}

/* Also fails a connect attempt that began before NOF_CTRL_EXCHANGE was set, so that it cannot become LIVE */
static bool end_association(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_error_live(ctrl, true))
		nof_ctrl_error(ctrl, NOF_CAUSE_LOCAL);
	return false;
}

static bool not_deleting(struct nof_ctrl *ctrl)
{
	return !nof_state_ends(nof_ctrl_state(ctrl));
}

/*
 * Waits for works that use the transport; those that start later see NOF_CTRL_EXCHANGE. If a deletion starts meanwhile,
 * it finds the transport gone, or releases it itself.
 */
static void release_transport(struct nof_ctrl *ctrl)
{
	flush_work(&ctrl->recovery.connect_work);
	flush_work(&ctrl->recovery.work);
	cancel_delayed_work_sync(&ctrl->recovery.reconnect_work);
	mutex_lock(&ctrl->subsys->lock);
	if (nof_state_connects(nof_ctrl_state(ctrl)) && ctrl->tp_ready) {
		nof_ctrl_drop_transport(ctrl);
		ctrl->transport = NULL;
		/* the transport module depends on this one, and has kept it loaded so far; now the orphan does */
		__module_get(THIS_MODULE);
	}
	mutex_unlock(&ctrl->subsys->lock);
	/* the attempt fails and records why, so that CTRL_GET shows what the controller waits for */
	nof_reconnect_now(ctrl);
}

static void transport_orphan_ctrls(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;

	for_each_ctrl_until(t, yield_transport);
	transport_drain(t, has_io, DRAIN_MS);
	transport_drain(t, has_writes, WRITES_MS);
	for_each_ctrl_until(t, end_association);
	while ((ctrl = for_each_ctrl_until(t, not_deleting))) {
		release_transport(ctrl);
		nof_ctrl_put(ctrl);
	}
	transport_delete_ctrls(t);
}

static void orphans_reconnect(const char *name)
{
	struct nof_ctrl *ctrl;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (nof_ctrl_is_orphan(ctrl) && !strcmp(ctrl->opts.transport, name))
				nof_reconnect_now(ctrl);
	}
}

static int take_new_transport(struct nof_ctrl *ctrl, struct nof_transport *t)
{
	struct netlink_ext_ack extack = {};
	int ret;

	mutex_lock(&ctrl->subsys->lock);
	ctrl->transport = t;
	ret = nof_ctrl_take_transport(ctrl, &extack);
	if (ret)
		ctrl->transport = NULL;
	else
		clear_bit(NOF_CTRL_EXCHANGE, &ctrl->flags);
	mutex_unlock(&ctrl->subsys->lock);
	if (ret)
		nof_ctrl_note(ctrl, ret, 0, "the new transport module rejects this controller: %s", extack._msg ?: "");
	return ret;
}

int nof_ctrl_reattach_transport(struct nof_ctrl *ctrl)
{
	struct nof_transport *t;
	int ret;

	if (!test_bit(NOF_CTRL_EXCHANGE, &ctrl->flags))
		return 0;
	/* release_transport() has not released the old one yet */
	if (!nof_ctrl_is_orphan(ctrl))
		return -ECANCELED;
	t = transport_find(ctrl->opts.transport);
	if (!t) {
		nof_ctrl_note(ctrl, -ENODEV, 0, "waits for the module of its transport, nvmeof_%s",
			      ctrl->opts.transport);
		return -ENODEV;
	}
	ret = take_new_transport(ctrl, t);
	/* no reference is needed: unregistering the transport finds the controller, as in nof_ctrl_create() */
	nof_transport_put(t);
	if (!ret)
		module_put(THIS_MODULE);
	return ret;
}

int nof_transport_register(struct nof_transport *t)
{
	int ret = 0;

	if (t->api != NOF_TRANSPORT_API) {
		pr_err("nvmeof: transport %s is of another version: install both modules from one build\n", t->name);
		return -EINVAL;
	}
	if (WARN_ON_ONCE((t->options & NOF_OPT_POLL_QUEUES) && !t->poll))
		return -EINVAL;
	mutex_lock(&transports_lock);
	if (registry_find(t->name))
		ret = -EEXIST;
	else
		list_add_tail(&t->entry, &transports);
	mutex_unlock(&transports_lock);
	if (!ret)
		orphans_reconnect(t->name);
	return ret;
}
EXPORT_SYMBOL_GPL(nof_transport_register);

void nof_transport_unregister(struct nof_transport *t)
{
	bool keep;

	mutex_lock(&transports_lock);
	list_del(&t->entry);
	keep = t->kept && time_before(jiffies, t->kept_until);
	mutex_unlock(&transports_lock);
	if (keep)
		transport_orphan_ctrls(t);
	else
		transport_delete_ctrls(t);
}
EXPORT_SYMBOL_GPL(nof_transport_unregister);
