// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/module.h>
#include "core/above.h"
#include "core/lifecycle.h"
#include "core/orphans.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/transport.h"

/* How long to wait for outstanding requests, so that they need not be sent again */
#define DRAIN_MS	1000
/* Between two looks: short at first, as most requests take little time */
#define DRAIN_MIN_US	200
#define DRAIN_MAX_US	6400
/*
 * How long to wait for outstanding writes: a write must not be sent again while the target may still execute the first
 * copy. As long as the time limit of a request; the fence holds the writes that take longer.
 */
#define WRITES_MS	30000

/* @act says whether it is the one, too */
struct search {
	const struct nof_transport *t;
	bool (*act)(struct nof_ctrl *ctrl);
};

static bool search_act(struct nof_ctrl *ctrl, const void *arg)
{
	const struct search *s = arg;

	return ctrl->transport == s->t && s->act(ctrl);
}

/* Each controller of a transport, under the lock of its subsystem, up to the one that @act says yes to */
static struct nof_ctrl *find_ctrl(const struct nof_transport *t, bool (*act)(struct nof_ctrl *ctrl))
{
	const struct search s = { .t = t, .act = act };

	return nof_ctrl_search(search_act, &s);
}

static bool any(struct nof_ctrl *ctrl)
{
	return true;
}

static bool delete(struct nof_ctrl *ctrl)
{
	set_bit(NOF_CTRL_UNWANTED, &ctrl->flags);
	nof_ctrl_delete_start(ctrl);
	return false;
}

/* Nobody is creating a controller of this transport: that takes a reference on the module, which is going. */
void nof_orphans_delete(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;

	find_ctrl(t, delete);
	while ((ctrl = find_ctrl(t, any))) {
		wait_for_completion(&ctrl->deleted);
		nof_ctrl_put(ctrl);
	}
	/* the rest of each deletion's work */
	flush_workqueue(nof_delete_wq);
}

/* No new request from here on, nor any attempt to connect */
static bool yield_transport(struct nof_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->subsys->lock);
	set_bit(NOF_CTRL_YIELDS, &ctrl->flags);
	nof_mpath.publish(ctrl);
	return false;
}

static bool busy(struct nof_ctrl *ctrl)
{
	return nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_queues_inflight(ctrl, true);
}

static bool writes(struct nof_ctrl *ctrl)
{
	return nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_queues_count(ctrl, nof_slot_writes);
}

static void drain(const struct nof_transport *t, bool (*is_busy)(struct nof_ctrl *ctrl), u32 ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	u32 rest_us = DRAIN_MIN_US;
	struct nof_ctrl *ctrl;

	/* each look takes the locks of the subsystems, and goes through the slots of all queues */
	while ((ctrl = find_ctrl(t, is_busy))) {
		nof_ctrl_put(ctrl);
		if (time_after(jiffies, end))
			return;
		usleep_range(rest_us, 2 * rest_us);
		rest_us = min_t(u32, 2 * rest_us, DRAIN_MAX_US);
	}
}

/* An attempt that is under way ends, too: it saw no YIELDS, and from here on it cannot become live */
static bool disconnect(struct nof_ctrl *ctrl)
{
	if (!nof_ctrl_error_live(ctrl, true))
		nof_ctrl_error(ctrl, NOF_CAUSE_HERE);
	return false;
}

static bool stays(struct nof_ctrl *ctrl)
{
	return !nof_state_ends(nof_ctrl_state(ctrl));
}

/*
 * What its works had to do with the transport is over, and those that begin see YIELDS. One whose deletion begins
 * meanwhile either finds the transport gone, or it is for that to let it go.
 */
static void let_go(struct nof_ctrl *ctrl)
{
	flush_work(&ctrl->connect_work);
	flush_work(&ctrl->recovery_work);
	cancel_delayed_work_sync(&ctrl->reconnect_work);
	mutex_lock(&ctrl->subsys->lock);
	if (nof_state_connects(nof_ctrl_state(ctrl)) && ctrl->tp_ready) {
		nof_ctrl_drop_transport(ctrl);
		ctrl->transport = NULL;
		/* which the transport's module needed, and held, so far; it still does */
		__module_get(THIS_MODULE);
	}
	mutex_unlock(&ctrl->subsys->lock);
	/* in vain at first: that tells who asks what it waits for, and it is LOST when its time has passed */
	nof_reconnect_now(ctrl);
}

void nof_orphans_keep(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;

	find_ctrl(t, yield_transport);
	drain(t, busy, DRAIN_MS);
	drain(t, writes, WRITES_MS);
	find_ctrl(t, disconnect);
	while ((ctrl = find_ctrl(t, stays))) {
		let_go(ctrl);
		nof_ctrl_put(ctrl);
	}
	nof_orphans_delete(t);
}

static bool is_orphan(const struct nof_ctrl *ctrl)
{
	return test_bit(NOF_CTRL_YIELDS, &ctrl->flags) && !READ_ONCE(ctrl->transport);
}

static bool call(struct nof_ctrl *ctrl, const void *name)
{
	if (is_orphan(ctrl) && !strcmp(ctrl->opts.transport, name))
		nof_reconnect_now(ctrl);
	return false;
}

void nof_orphans_call(const char *name)
{
	nof_ctrl_search(call, name);
}

static int retake(struct nof_ctrl *ctrl, struct nof_transport *t)
{
	struct netlink_ext_ack extack = {};
	int ret;

	mutex_lock(&ctrl->subsys->lock);
	ctrl->transport = t;
	ret = nof_ctrl_take_transport(ctrl, &extack);
	if (ret)
		ctrl->transport = NULL;
	else
		clear_bit(NOF_CTRL_YIELDS, &ctrl->flags);
	mutex_unlock(&ctrl->subsys->lock);
	if (ret)
		nof_ctrl_note(ctrl, ret, 0, "the transport that was loaded refuses it: %s", extack._msg ?: "");
	return ret;
}

int nof_orphan_retake(struct nof_ctrl *ctrl)
{
	struct nof_transport *t;
	int ret;

	if (!test_bit(NOF_CTRL_YIELDS, &ctrl->flags))
		return 0;
	/* it is still being taken away */
	if (!is_orphan(ctrl))
		return -ECANCELED;
	t = nof_transport_find(ctrl->opts.transport);
	if (!t) {
		nof_ctrl_note(ctrl, -ENODEV, 0, "waits for the module of its transport, nvmeof_%s",
			      ctrl->opts.transport);
		return -ENODEV;
	}
	ret = retake(ctrl, t);
	/* from here on its unregistering finds the controller, as with a new one */
	nof_transport_put(t);
	if (!ret)
		module_put(THIS_MODULE);
	return ret;
}

void nof_orphan_end(struct nof_ctrl *ctrl)
{
	if (!is_orphan(ctrl))
		return;
	clear_bit(NOF_CTRL_YIELDS, &ctrl->flags);
	/* not the last of it: unloading waits for the work that this is part of */
	module_put(THIS_MODULE);
}
