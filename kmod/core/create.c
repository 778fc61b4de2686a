// SPDX-License-Identifier: GPL-2.0-only
/* Creating a controller: memory, works, subsystem, transport, place in the list. */
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "compat/tls.h"
#include "core/auth.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/stall_watch.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "core/work.h"

static void ctrl_release(struct device *dev)
{
	struct nof_ctrl *ctrl = to_nof_ctrl(dev);

	nof_mpath.ctrl_exit(ctrl);
	nof_control.ctrl_release(ctrl);
	nof_auth_exit(ctrl);
	nof_tls_key_exit(ctrl);
	if (ctrl->subsys) {
		ida_free(&ctrl->subsys->ctrl_ids, ctrl->id);
		nof_subsys_put(ctrl->subsys);
	}
	kfree(ctrl->ka.cmd);
	kfree(ctrl->aen.cmd);
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
	ctrl->ka.tmo_ms = opts->kato_ms;
	ctrl->state = NVMEOF_CTRL_NEW;
	spin_lock_init(&ctrl->state_lock);
	spin_lock_init(&ctrl->error.lock);
	init_waitqueue_head(&ctrl->state_wq);
	mutex_init(&ctrl->queues.stop_lock);
	mutex_init(&ctrl->queues.lock);
	nof_auth_init(ctrl);
	nof_tls_key_init(ctrl);
	nof_connect_init(ctrl);
	nof_recovery_init(ctrl);
	nof_scan_init(ctrl);
	nof_watch_init(ctrl);
	nof_mpath.ctrl_init(ctrl);
	if (nof_admin_init(ctrl) || nof_ka_init(ctrl) || nof_aer_init(ctrl)) {
		put_device(&ctrl->dev);
		return NULL;
	}
	return ctrl;
}

static int attach_transport(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	struct nof_transport *t = nof_transport_get(ctrl->opts.transport);

	if (!t) {
		NL_SET_ERR_MSG(extack, "the transport is not registered; its module is being loaded: try again");
		return -EPROTONOSUPPORT;
	}
	ctrl->transport = t;
	return nof_ctrl_take_transport(ctrl, extack);
}

static bool opts_same_addr(const struct nof_opts *a, const struct nof_opts *b)
{
	return !strcmp(a->transport, b->transport) && !strcmp(a->traddr, b->traddr) &&
	       !strcmp(a->trsvcid, b->trsvcid) && !strcmp(a->host_traddr, b->host_traddr) &&
	       !strcmp(a->host_iface, b->host_iface);
}

/* A controller without a transport has no same_addr(): compare the options */
static bool ctrl_same_addr(const struct nof_ctrl *ctrl, const struct nof_ctrl *other)
{
	if (!other->transport)
		return opts_same_addr(&ctrl->opts, &other->opts);
	return other->transport == ctrl->transport && ctrl->transport->same_addr(ctrl, other);
}

static struct nof_ctrl *same_address(struct nof_subsys *s, struct nof_ctrl *ctrl)
{
	struct nof_ctrl *other;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(other, &s->ctrls, entry) {
		/* they read one discovery log and are deleted: no duplicate of a path */
		if (nof_ctrl_transient(other))
			continue;
		if (!nof_state_ends(nof_ctrl_state(other)) && ctrl_same_addr(ctrl, other))
			return other;
	}
	return NULL;
}

/* Checks for a duplicate and adds the controller to the list in one section of subsys->lock */
static int ctrl_enlist(struct nof_ctrl *ctrl, char *found, struct netlink_ext_ack *extack)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_ctrl *other;
	int ret = 0;

	mutex_lock(&s->lock);
	other = ctrl->opts.duplicate_connect ? NULL : same_address(s, ctrl);
	if (other) {
		strscpy(found, nof_ctrl_name(other), NVMEOF_NAME_MAX + 1);
		if (nof_ctrl_state(other) == NVMEOF_CTRL_LOST) {
			NL_SET_ERR_MSG(extack, "a lost controller has this address; reconnecting it now");
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
	struct nof_auth_keys keys = {};
	struct key *tls_key;
	int ret;

	if (!ctrl)
		return ERR_PTR(-ENOMEM);
	get_net(ctrl->opts.net);
	if (opts->concat && !NOF_TLS) {
		NL_SET_ERR_MSG(extack, "CONCAT needs a kernel with TLS: CONFIG_NET_HANDSHAKE, CONFIG_TLS and "
			       "CONFIG_NVME_KEYRING, such as Debian's 6.12");
		ret = -EOPNOTSUPP;
		goto put;
	}
	ret = nof_auth_find_keys(ctrl, opts->dhchap_key, opts->dhchap_ctrl_key, &keys, extack);
	if (ret)
		goto put;
	nof_auth_use_keys(ctrl, &keys);
	tls_key = nof_tls_key_find(opts->tls_key, extack);
	if (IS_ERR(tls_key)) {
		ret = PTR_ERR(tls_key);
		goto put;
	}
	nof_tls_key_use(ctrl, tls_key, opts->tls_keyring);
	ret = join_subsys(ctrl, extack);
	if (!ret)
		ret = attach_transport(ctrl, extack);
	if (!ret)
		ret = ctrl_enlist(ctrl, found, extack);
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
	/* the reference of device_initialize() is the lifecycle's, dropped at the end of delete_work() */
	nof_ctrl_get(ctrl);
	queue_work(nof_wq, &ctrl->recovery.connect_work);
	/* last: from here on a request may delete the controller */
	smp_mb__before_atomic();
	set_bit(NOF_CTRL_ADDED, &ctrl->flags);
	/* no reference is needed: unregistering the transport finds the controller in the list and deletes it */
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
