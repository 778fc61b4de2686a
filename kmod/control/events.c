// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink notifications of events: each carries the whole new state of its object. Uevents of controllers, with the
 * variables of the in-tree host, for udev rules.
 */
#include <linux/kobject.h>
#include <linux/nvme.h>
#include <linux/timekeeping.h>
#include "control/control.h"
#include "control/genl.h"
#include "control/genl_attrs.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/head.h"
#include "mpath/path.h"

/* bits of ctrl->uevent.pending */
enum { CONNECTED, REDISCOVER, DISC_AEN, AEN };

/*
 * Minimum time between NVME_AEN uevents of a controller, as a target may send any number of events. Events that come
 * earlier are reported at its end, a change of the discovery log always, of the others the last one.
 */
#define AEN_RATE	(HZ / 10)

static int add_address(struct kobj_uevent_env *env, const char *name, const char *value)
{
	return add_uevent_var(env, "%s=%s", name, *value ? value : "none");
}

int nof_ctrl_uevent(nof_class_device *dev, struct kobj_uevent_env *env)
{
	const struct nof_ctrl *ctrl = container_of(dev, struct nof_ctrl, dev);
	const struct nof_opts *opts = &ctrl->opts;

	return add_uevent_var(env, "NVME_TRTYPE=%s", opts->transport) ?:
	       add_address(env, "NVME_TRADDR", opts->traddr) ?:
	       add_address(env, "NVME_TRSVCID", opts->trsvcid) ?:
	       add_address(env, "NVME_HOST_TRADDR", opts->host_traddr) ?:
	       add_address(env, "NVME_HOST_IFACE", opts->host_iface);
}

static void uevent_send(struct nof_ctrl *ctrl, char *variable)
{
	char *variables[] = { variable, NULL };

	kobject_uevent_env(&ctrl->dev.kobj, KOBJ_CHANGE, variables);
}

static void uevent_send_aen(struct nof_ctrl *ctrl, u32 value)
{
	char aen[sizeof("NVME_AEN=0x00000000")];

	scnprintf(aen, sizeof(aen), "NVME_AEN=%#08x", value);
	uevent_send(ctrl, aen);
}

/*
 * A work item, because recovery reports events and must not wait for a uevent: sending one takes a global mutex, whose
 * holder may be in memory reclaim, waiting for writeback to one of our disks.
 */
static void uevent_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, uevent.work);
	struct nof_ctrl_uevents *u = &ctrl->uevent;
	unsigned long wait;

	if (test_and_clear_bit(REDISCOVER, &u->pending))
		uevent_send(ctrl, "NVME_EVENT=rediscover");
	if (test_and_clear_bit(CONNECTED, &u->pending))
		uevent_send(ctrl, "NVME_EVENT=connected");
	if (!test_bit(DISC_AEN, &u->pending) && !test_bit(AEN, &u->pending))
		return;
	wait = u->next - jiffies;
	/* more: the time has passed */
	if (wait <= AEN_RATE && wait) {
		queue_delayed_work(nof_wq, &u->work, wait);
		return;
	}
	u->next = jiffies + AEN_RATE;
	if (test_and_clear_bit(DISC_AEN, &u->pending))
		uevent_send_aen(ctrl, READ_ONCE(u->disc_aen));
	if (test_and_clear_bit(AEN, &u->pending))
		uevent_send_aen(ctrl, READ_ONCE(u->aen));
}

void nof_uevent_init(struct nof_ctrl *ctrl)
{
	INIT_DELAYED_WORK(&ctrl->uevent.work, uevent_work);
	ctrl->uevent.next = jiffies;
}

void nof_uevent_exit(struct nof_ctrl *ctrl)
{
	cancel_delayed_work_sync(&ctrl->uevent.work);
}

static void uevent_connected(struct nof_ctrl *ctrl)
{
	if (ctrl->discovery && READ_ONCE(ctrl->recovery.reconnects))
		set_bit(REDISCOVER, &ctrl->uevent.pending);
	set_bit(CONNECTED, &ctrl->uevent.pending);
	mod_delayed_work(nof_wq, &ctrl->uevent.work, 0);
}

/* The events for which the in-tree host sends an NVME_AEN uevent. */
static bool aen_sends_uevent(u8 type, u8 info)
{
	switch (type) {
	case NVME_AER_ERROR:
		return info != NVME_AER_ERROR_PERSIST_INT_ERR;
	case NVME_AER_SMART:
	case NVME_AER_CSS:
	case NVME_AER_VS:
		return true;
	case NVME_AER_NOTICE:
		return info == NVME_AER_NOTICE_DISC_CHANGED;
	default:
		return false;
	}
}

static void uevent_aen(struct nof_ctrl *ctrl, u8 type, u8 info, u8 log_page)
{
	bool disc = type == NVME_AER_NOTICE;	/* of the notices, only changes of the discovery log */

	if (!aen_sends_uevent(type, info))
		return;
	WRITE_ONCE(*(disc ? &ctrl->uevent.disc_aen : &ctrl->uevent.aen), type | info << 8 | log_page << 16);
	/* the work reads the value after it has seen the bit */
	smp_mb__before_atomic();
	set_bit(disc ? DISC_AEN : AEN, &ctrl->uevent.pending);
	queue_delayed_work(nof_wq, &ctrl->uevent.work, 0);
}

static bool events_have_listeners(void)
{
	struct net *net;
	bool found = false;

	rcu_read_lock();
	for_each_net_rcu(net) {
		found = genl_has_listeners(&nof_genl_family, net, NOF_MCGRP_EVENTS);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/* An event is lost: listeners get ENOBUFS and must read the state of all objects again. */
static void events_report_loss(void)
{
	struct net *net;

	rcu_read_lock();
	for_each_net_rcu(net)
		genl_set_err(&nof_genl_family, net, 0, NOF_MCGRP_EVENTS, -ENOBUFS);
	rcu_read_unlock();
}

/*
 * GFP_NOIO: recovery calls this. Memory reclaim could write to one of our disks and then wait for the path that
 * recovery is about to restore. __GFP_NORETRY keeps the attempt short.
 */
static bool events_begin(struct nof_reply *ntf, u8 cmd, enum nvmeof_event ev)
{
	if (!events_have_listeners())
		return false;
	ntf->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN);
	if (!ntf->skb) {
		events_report_loss();
		return false;
	}
	/* the buffer is empty: header and these attributes always fit */
	ntf->hdr = genlmsg_put(ntf->skb, 0, 0, &nof_genl_family, 0, cmd);
	nla_put_u32(ntf->skb, NVMEOF_A_EVENT, ev);
	nla_put_u64_64bit(ntf->skb, NVMEOF_A_TIME, ktime_get_boottime_ns(), NVMEOF_A_PAD);
	return true;
}

static void events_end(struct nof_reply *ntf, int err)
{
	if (WARN_ON_ONCE(err)) {
		nlmsg_free(ntf->skb);
		events_report_loss();
		return;
	}
	genlmsg_end(ntf->skb, ntf->hdr);
	rcu_read_lock();
	err = genlmsg_multicast_allns(&nof_genl_family, ntf->skb, 0, NOF_MCGRP_EVENTS);
	rcu_read_unlock();
	/* netlink itself reports ENOBUFS to a listener whose buffer is full; having no listener is no loss */
	if (err == -ENOMEM)
		events_report_loss();
}

static void subsys_event(struct nof_subsys *s, enum nvmeof_event ev)
{
	struct nof_reply ntf;

	if (events_begin(&ntf, NVMEOF_CMD_SUBSYS_NTF, ev))
		events_end(&ntf, nof_put_subsys(ntf.skb, s));
}

static void ctrl_event(struct nof_ctrl *ctrl, enum nvmeof_event ev, enum nvmeof_ctrl_state old)
{
	struct nof_reply ntf;
	int err = 0;

	lockdep_assert_not_held(&ctrl->subsys->lock);
	if (ev == NVMEOF_EVENT_STATE && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
		uevent_connected(ctrl);
	if (!events_begin(&ntf, NVMEOF_CMD_CTRL_NTF, ev))
		return;
	if (ev == NVMEOF_EVENT_STATE)
		err = nla_put_u32(ntf.skb, NVMEOF_A_OLD_STATE, old);
	events_end(&ntf, err ?: nof_put_ctrl(ntf.skb, ctrl));
}

static void scanned_event(struct nof_ctrl *ctrl, int err)
{
	struct nof_reply ntf;

	if (events_begin(&ntf, NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_SCANNED))
		events_end(&ntf, nla_put_u32(ntf.skb, NVMEOF_A_SCAN_ERRNO, -err) ?: nof_put_ctrl(ntf.skb, ctrl));
}

static void ns_event(struct nof_head *head, enum nvmeof_event ev)
{
	struct nof_reply ntf;

	lockdep_assert_not_held(&head->subsys->lock);
	if (events_begin(&ntf, NVMEOF_CMD_NS_NTF, ev))
		events_end(&ntf, nof_put_ns(ntf.skb, head));
}

static void path_event(struct nof_path *path, enum nvmeof_event ev)
{
	struct nof_reply ntf;

	lockdep_assert_not_held(&path->head->subsys->lock);
	if (events_begin(&ntf, NVMEOF_CMD_PATH_NTF, ev))
		events_end(&ntf, nof_put_path(ntf.skb, path));
}

static void failover_event(struct nof_head *head, const char *from, u32 ios, u64 ns)
{
	struct nof_reply ntf;

	if (!events_begin(&ntf, NVMEOF_CMD_NS_NTF, NVMEOF_EVENT_FAILOVER))
		return;
	events_end(&ntf, nla_put_string(ntf.skb, NVMEOF_A_PATH_NAME, from) ?:
		   nla_put_u32(ntf.skb, NVMEOF_A_FAILOVER_IOS, ios) ?:
		   nla_put_u64_64bit(ntf.skb, NVMEOF_A_FAILOVER_NS, ns, NVMEOF_A_PAD) ?:
		   nof_put_ns(ntf.skb, head));
}

static void aen_event(struct nof_ctrl *ctrl, u8 type, u8 info, u8 log_page)
{
	struct nof_reply ntf;

	uevent_aen(ctrl, type, info, log_page);
	if (!events_begin(&ntf, NVMEOF_CMD_AEN_NTF, NVMEOF_EVENT_AEN))
		return;
	events_end(&ntf, nla_put_string(ntf.skb, NVMEOF_A_CTRL_NAME, nof_ctrl_name(ctrl)) ?:
		   nla_put_u8(ntf.skb, NVMEOF_A_AEN_TYPE, type) ?:
		   nla_put_u8(ntf.skb, NVMEOF_A_AEN_INFO, info) ?:
		   nla_put_u8(ntf.skb, NVMEOF_A_AEN_LOG_PAGE, log_page));
}

const struct nof_event_ops nof_genl_event_ops = {
	.subsys	= subsys_event,
	.ctrl	= ctrl_event,
	.scanned = scanned_event,
	.ns	= ns_event,
	.path	= path_event,
	.failover = failover_event,
	.aen	= aen_event,
};
