// SPDX-License-Identifier: GPL-2.0-only
/* The commands of the generic netlink family. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "control/connect_options.h"
#include "control/genl.h"
#include "control/genl_attrs.h"
#include "control/genl_policy.h"
#include "core/auth.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "core/transport.h"
#include "core/upcalls.h"
#include "mpath/selector.h"
#include "mpath/subsys.h"

/* bytes of an extack message, with the NUL; longer ones are truncated */
#define MESSAGE_MAX	160

/*
 * Slow part of a request: writeback to a disk that is removed, or commands to a target. Handlers hold netlink's cb_lock
 * for reading, and registration of a family takes it for writing. If a handler waited, a module load would block the
 * requests of all families. The slow part therefore runs in a work item, which sends the acknowledgement. An immediate
 * acknowledgement, and an event for the end, would not do: events can be lost, and carry no error text.
 */
typedef int deferred_ack_fn(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);

struct deferred_ack {
	struct work_struct	work;
	struct nof_ctrl		*ctrl;
	deferred_ack_fn		*finish;
	struct net		*net;
	struct sock		*sk;		/* of the requester; holds a reference */
	struct nlmsghdr		request;
	u32			portid;
	struct sk_buff		*skb;
	struct netlink_ext_ack	extack;
	char			text[MESSAGE_MAX];	/* for a message in @extack that is no constant */
};

static struct workqueue_struct *deferred_ack_wq;

static void deferred_ack_free(struct deferred_ack *ack)
{
	sock_put(ack->sk);
	put_net(ack->net);
	kfree(ack);
}

/* The same message as netlink_ack(): nlmsgerr, capped after the header of the request, and the extack message */
static bool put_ack(struct deferred_ack *ack, int err, const char *reason)
{
	u16 flags = NLM_F_CAPPED | (reason ? NLM_F_ACK_TLVS : 0);
	struct nlmsgerr *body;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(ack->skb, ack->portid, ack->request.nlmsg_seq, NLMSG_ERROR, sizeof(*body), flags);
	if (!nlh)
		return false;
	body = nlmsg_data(nlh);
	body->error = err;
	body->msg = ack->request;
	if (reason && nla_put(ack->skb, NLMSGERR_ATTR_MSG, min(strlen(reason), MESSAGE_MAX - 1UL) + 1, reason))
		return false;
	nlmsg_end(ack->skb, nlh);
	return true;
}

/* The port ID of a socket that has been closed meanwhile may belong to another socket */
static bool deferred_ack_wanted(const struct deferred_ack *ack, int err)
{
	return !sock_flag(ack->sk, SOCK_DEAD) && (err || ack->request.nlmsg_flags & NLM_F_ACK);
}

static void deferred_ack_work(struct work_struct *work)
{
	struct deferred_ack *ack = container_of(work, struct deferred_ack, work);
	int err = ack->finish(ack->ctrl, &ack->extack);

	/* before the acknowledgement: userspace may then use the name of a deleted controller again */
	nof_ctrl_put(ack->ctrl);
	if (deferred_ack_wanted(ack, err) && put_ack(ack, err, ack->extack._msg))
		genlmsg_unicast(ack->net, ack->skb, ack->portid);
	else
		nlmsg_free(ack->skb);
	deferred_ack_free(ack);
}

/*
 * Allocates the acknowledgement of a request whose slow part is @finish, and takes the references that it needs. NULL
 * and an extack message if there is no memory.
 */
static struct deferred_ack *deferred_ack_alloc(struct sk_buff *skb, struct genl_info *info, struct nof_ctrl *ctrl,
					       deferred_ack_fn *finish)
{
	struct deferred_ack *ack = kzalloc(sizeof(*ack), GFP_KERNEL);

	if (ack)
		ack->skb = nlmsg_new(sizeof(struct nlmsgerr) + nla_total_size(MESSAGE_MAX), GFP_KERNEL);
	if (!ack || !ack->skb) {
		GENL_SET_ERR_MSG(info, "out of memory for the reply");
		kfree(ack);
		return NULL;
	}
	INIT_WORK(&ack->work, deferred_ack_work);
	ack->ctrl = nof_ctrl_get(ctrl);
	ack->finish = finish;
	ack->net = get_net(genl_info_net(info));
	ack->sk = NETLINK_CB(skb).sk;
	sock_hold(ack->sk);
	ack->request = *info->nlhdr;
	ack->portid = info->snd_portid;
	return ack;
}

/*
 * Frees @ack if the fast part of the request has failed with @err, else queues @finish. Returns the value that the
 * handler must return.
 */
static int deferred_ack_queue(struct deferred_ack *ack, int err)
{
	if (err) {
		nof_ctrl_put(ack->ctrl);
		nlmsg_free(ack->skb);
		deferred_ack_free(ack);
		return err;
	}
	queue_work(deferred_ack_wq, &ack->work);
	/* makes netlink_rcv_skb() send no acknowledgement */
	return -EINTR;
}

static int deferred_ack_init(void)
{
	deferred_ack_wq = alloc_workqueue("nvmeof-ack", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return deferred_ack_wq ? 0 : -ENOMEM;
}

static void deferred_ack_exit(void)
{
	destroy_workqueue(deferred_ack_wq);
}

static int put_transport(const struct nof_transport *t, void *skb)
{
	return nla_put_string(skb, NVMEOF_A_TRANSPORT, t->name);
}

static int put_selector(const struct nof_selector *s, void *skb)
{
	return nla_put_string(skb, NVMEOF_A_SELECTOR, s->name);
}

static int genl_version_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nof_reply reply;
	int err;

	err = nof_reply_begin(&reply, info);
	if (err)
		return err;
	err = nla_put_u32(reply.skb, NVMEOF_A_API_VERSION, NVMEOF_API_VERSION) ?:
	      nla_put_string(reply.skb, NVMEOF_A_MODULE_VERSION, NVMEOF_VERSION) ?:
	      nof_transport_for_each(put_transport, reply.skb) ?:
	      nof_selector_for_each(put_selector, reply.skb);
	return nof_reply_end(&reply, info, err);
}

static int genl_transport_keep(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	if (nof_genl_missing(info, NVMEOF_A_TRANSPORT, "TRANSPORT is missing"))
		return -EINVAL;
	err = nof_transport_keep(nla_data(info->attrs[NVMEOF_A_TRANSPORT]));
	if (err)
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_TRANSPORT],
			     "the transport is not registered: load its module");
	return err;
}

/* Controller names are reused: SUBSYSNQN, where the policy allows it, protects a new controller of the same name. */
static struct nof_ctrl *genl_ctrl_find(struct genl_info *info)
{
	struct nof_ctrl *ctrl = nof_object_find(info, NVMEOF_A_CTRL_NAME);
	struct nlattr *nqn = info->attrs[NVMEOF_A_SUBSYSNQN];

	if (!IS_ERR(ctrl) && nqn && nla_strcmp(nqn, ctrl->opts.subsysnqn)) {
		nof_genl_bad(info->extack, nqn, "the controller belongs to another subsystem");
		nof_ctrl_put(ctrl);
		return ERR_PTR(-ENODEV);
	}
	return ctrl;
}

/* The controller exists already: sends a reply with its name before the error, so that the caller can use it. */
static int reply_existing(struct nof_reply *reply, struct genl_info *info, const char *found)
{
	if (nla_put_string(reply->skb, NVMEOF_A_CTRL_NAME, found))
		nlmsg_free(reply->skb);
	else
		nof_reply_send(reply, info);
	return -EALREADY;
}

static int genl_ctrl_new(struct sk_buff *skb, struct genl_info *info)
{
	char found[NVMEOF_NAME_MAX + 1] = "";
	struct nof_reply reply;
	struct nof_opts *opts;
	struct nof_ctrl *ctrl;
	int err;

	opts = kmalloc(sizeof(*opts), GFP_KERNEL);	/* too large for the stack */
	if (!opts)
		return -ENOMEM;
	/* allocate the reply first: a controller that cannot be reported would have to be deleted again */
	err = nof_opts_parse(opts, info) ?: nof_reply_begin(&reply, info);
	if (err)
		goto free_opts;

	ctrl = nof_ctrl_create(opts, found, info->extack);
	if (ctrl == ERR_PTR(-EALREADY) && *found) {
		err = reply_existing(&reply, info, found);
	} else if (IS_ERR(ctrl)) {
		err = nof_reply_end(&reply, info, PTR_ERR(ctrl));
	} else {
		err = nof_reply_end(&reply, info, nof_put_ctrl(reply.skb, ctrl));
		/* a caller that gets an error does not expect a controller */
		if (err)
			nof_ctrl_delete(ctrl, NULL);
		nof_ctrl_put(ctrl);
	}
free_opts:
	kfree(opts);
	return err;
}

/* Calls @begin in this context, then @finish in a work item, which acknowledges the request. Either may be NULL. */
static int ctrl_request(struct sk_buff *skb, struct genl_info *info, deferred_ack_fn *begin, deferred_ack_fn *finish)
{
	struct nof_ctrl *ctrl = genl_ctrl_find(info);
	struct deferred_ack *ack = NULL;
	int err = 0;

	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	if (finish) {
		ack = deferred_ack_alloc(skb, info, ctrl, finish);
		if (!ack)
			err = -ENOMEM;
	}
	if (!err && begin)
		err = begin(ctrl, info->extack);
	if (ack)
		err = deferred_ack_queue(ack, err);
	nof_ctrl_put(ctrl);
	return err;
}

static int genl_ctrl_del(struct sk_buff *skb, struct genl_info *info)
{
	return ctrl_request(skb, info, nof_ctrl_delete, nof_ctrl_wait_deleted);
}

static int genl_ctrl_reset(struct sk_buff *skb, struct genl_info *info)
{
	return ctrl_request(skb, info, nof_ctrl_reset, NULL);
}

static int genl_ctrl_rescan(struct sk_buff *skb, struct genl_info *info)
{
	return ctrl_request(skb, info, NULL, nof_ctrl_rescan);
}

/* Stores the value of @attr in @ms; NULL if it is absent. A u32 timeout fits: the policy allows one day at most. */
static const s32 *time_of(struct genl_info *info, enum nvmeof_attr attr, s32 *ms)
{
	if (!info->attrs[attr])
		return NULL;
	*ms = nla_get_s32(info->attrs[attr]);
	return ms;
}

static int set_times(struct nof_ctrl *ctrl, struct genl_info *info)
{
	s32 delay, loss, fail, stall;
	const struct nof_timeouts times = {
		.delay_ms	= time_of(info, NVMEOF_A_RECONNECT_DELAY, &delay),
		.loss_ms	= time_of(info, NVMEOF_A_CTRL_LOSS_TMO, &loss),
		.fail_ms	= time_of(info, NVMEOF_A_FAST_IO_FAIL_TMO, &fail),
		.stall_ms	= time_of(info, NVMEOF_A_STALL_TMO, &stall),
	};
	int err = nof_opts_set_timeouts(ctrl, &times);

	if (err)
		nof_genl_bad(info->extack,
			     info->attrs[times.fail_ms ? NVMEOF_A_FAST_IO_FAIL_TMO : NVMEOF_A_CTRL_LOSS_TMO],
			     "FAST_IO_FAIL_TMO would be longer than CTRL_LOSS_TMO");
	return err;
}

/* Serial number of a key; 0: not given */
static u32 key_of(struct genl_info *info, int attr)
{
	return info->attrs[attr] ? nla_get_u32(info->attrs[attr]) : 0;
}

/* @key: receives a reference; NULL if no key is given */
static int find_tls_key(struct nof_ctrl *ctrl, struct genl_info *info, struct key **key)
{
	struct nlattr *a = info->attrs[NVMEOF_A_TLS_KEY];
	struct key *found;

	if (!a)
		return nof_opts_check_tls(info);
	if (ctrl->opts.concat) {
		nof_genl_bad(info->extack, a, "the authentication of this controller generates its TLS key");
		return -EINVAL;
	}
	if (!nof_tls_key_set(ctrl)) {
		nof_genl_bad(info->extack, a, "this controller is connected without TLS: disconnect it first");
		return -EINVAL;
	}
	found = nof_tls_key_find(nla_get_u32(a), info->extack);
	if (IS_ERR(found))
		return PTR_ERR(found);
	*key = found;
	return 0;
}

static void set_owner(struct nof_ctrl *ctrl, const char *owner)
{
	unsigned long flags;

	spin_lock_irqsave(&ctrl->error.lock, flags);
	strscpy(ctrl->opts.owner, owner, sizeof(ctrl->opts.owner));
	spin_unlock_irqrestore(&ctrl->error.lock, flags);
}

static int wait_for_keys(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	struct deferred_ack *ack = container_of(extack, struct deferred_ack, extack);
	int err = nof_auth_wait(ctrl, ack->text, sizeof(ack->text));

	if (err)
		extack->_msg = ack->text;
	return err;
}

static int genl_ctrl_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *owner_attr = info->attrs[NVMEOF_A_OWNER];
	char owner[NVMEOF_NAME_MAX + 1] = "";
	struct deferred_ack *ack = NULL;
	struct nof_auth_keys keys = {};
	struct key *tls_key = NULL;
	struct nof_ctrl *ctrl;
	int err = 0;

	/* an empty string removes the owner */
	if (owner_attr && *(const char *)nla_data(owner_attr))
		err = nof_opts_parse_string(owner, sizeof(owner), owner_attr, info);
	if (err)
		return err;
	ctrl = genl_ctrl_find(info);
	if (IS_ERR(ctrl))
		return PTR_ERR(ctrl);
	err = nof_auth_find_keys(ctrl, key_of(info, NVMEOF_A_DHCHAP_KEY), key_of(info, NVMEOF_A_DHCHAP_CTRL_KEY), &keys,
				 info->extack);
	if (!err && (keys.key || keys.ctrl_key)) {
		ack = deferred_ack_alloc(skb, info, ctrl, wait_for_keys);
		err = ack ? 0 : -ENOMEM;
	}
	if (!err)
		err = find_tls_key(ctrl, info, &tls_key);
	if (!err)
		err = set_times(ctrl, info);
	if (err) {
		nof_auth_put_keys(&keys);
		key_put(tls_key);
	} else {
		nof_auth_use_keys(ctrl, &keys);
		nof_tls_key_use(ctrl, tls_key, key_of(info, NVMEOF_A_TLS_KEYRING));
		if (owner_attr)
			set_owner(ctrl, owner);
		nof_events->ctrl(ctrl, NVMEOF_EVENT_CHANGED, nof_ctrl_state(ctrl));
	}
	if (ack)
		err = deferred_ack_queue(ack, err);
	nof_ctrl_put(ctrl);
	return err;
}

static bool attrs_have_policy(struct nlattr **attrs)
{
	return attrs[NVMEOF_A_SPILL_US] || attrs[NVMEOF_A_SPILL_DEPTH] || attrs[NVMEOF_A_DEGRADE] ||
	       attrs[NVMEOF_A_FENCING] || attrs[NVMEOF_A_DELAYED_REMOVAL] || attrs[NVMEOF_A_QUIESCE_TMO];
}

/* The policy table has checked the range of each value. */
static void subsys_parse_policy(struct nof_policy *p, struct nlattr **attrs)
{
	if (attrs[NVMEOF_A_SPILL_US])
		p->spill_us = nla_get_u32(attrs[NVMEOF_A_SPILL_US]);
	if (attrs[NVMEOF_A_SPILL_DEPTH])
		p->spill_depth = nla_get_u32(attrs[NVMEOF_A_SPILL_DEPTH]);
	if (attrs[NVMEOF_A_DEGRADE])
		p->degrade = nla_get_u8(attrs[NVMEOF_A_DEGRADE]);
	if (attrs[NVMEOF_A_FENCING])
		p->fencing = nla_get_u32(attrs[NVMEOF_A_FENCING]);
	if (attrs[NVMEOF_A_DELAYED_REMOVAL])
		p->delayed_removal_secs = nla_get_u32(attrs[NVMEOF_A_DELAYED_REMOVAL]);
	if (attrs[NVMEOF_A_QUIESCE_TMO])
		p->quiesce_tmo = nla_get_u32(attrs[NVMEOF_A_QUIESCE_TMO]);
}

/* The selector first: only its name can still be invalid, and then nothing has been changed. */
static int subsys_set(struct nof_subsys *s, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMEOF_A_IOPOLICY];
	struct nof_policy p;
	int err;

	if (name) {
		err = nof_subsys_set_iopolicy(s, nla_data(name), info->extack);
		if (err)
			return err;
	}
	if (attrs_have_policy(info->attrs)) {
		nof_policy_begin(s, &p);
		subsys_parse_policy(&p, info->attrs);
		nof_policy_commit(s, &p);
	}
	return 0;
}

static int genl_subsys_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nof_subsys *s = nof_object_find(info, NVMEOF_A_SUBSYS_ID);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = subsys_set(s, info);
	nof_subsys_put(s);
	return err;
}

#define NOF_POLICY(table)	.policy = (table), .maxattr = ARRAY_SIZE(table) - 1

/*
 * One struct genl_ops and one policy per command, for do and dump. Without .validate flags, headers, attributes and
 * lengths are checked strictly. GENL_ADMIN_PERM requires CAP_NET_ADMIN in the initial user namespace, regardless of the
 * network namespace of the request, and may_change() additionally CAP_SYS_ADMIN.
 */
static const struct genl_ops ops[] = {
	{
		.cmd	= NVMEOF_CMD_VERSION_GET,
		.doit	= genl_version_get,
	}, {
		.cmd	= NVMEOF_CMD_SUBSYS_GET,
		.doit	= nof_object_get,
		.start	= nof_object_dump_start,
		.dumpit	= nof_object_dump,
		NOF_POLICY(nof_policy_subsys_get),
	}, {
		.cmd	= NVMEOF_CMD_SUBSYS_SET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_subsys_set,
		NOF_POLICY(nof_policy_subsys_set),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_NEW,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_ctrl_new,
		NOF_POLICY(nof_policy_ctrl_new),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_DEL,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_ctrl_del,
		NOF_POLICY(nof_policy_ctrl_del),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_RESET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_ctrl_reset,
		NOF_POLICY(nof_policy_ctrl_name),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_RESCAN,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_ctrl_rescan,
		NOF_POLICY(nof_policy_ctrl_name),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_SET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_ctrl_set,
		NOF_POLICY(nof_policy_ctrl_set),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_GET,
		.doit	= nof_object_get,
		.start	= nof_object_dump_start,
		.dumpit	= nof_object_dump,
		NOF_POLICY(nof_policy_ctrl_get),
	}, {
		.cmd	= NVMEOF_CMD_NS_GET,
		.doit	= nof_object_get,
		.start	= nof_object_dump_start,
		.dumpit	= nof_object_dump,
		NOF_POLICY(nof_policy_ns_get),
	}, {
		.cmd	= NVMEOF_CMD_PATH_GET,
		.doit	= nof_object_get,
		.start	= nof_object_dump_start,
		.dumpit	= nof_object_dump,
		NOF_POLICY(nof_policy_path_get),
	}, {
		.cmd	= NVMEOF_CMD_TRANSPORT_KEEP,
		.flags	= GENL_ADMIN_PERM,
		.doit	= genl_transport_keep,
		NOF_POLICY(nof_policy_transport_keep),
	},
};

static const struct genl_multicast_group mcgrps[] = {
	[NOF_MCGRP_EVENTS] = { .name = NVMEOF_MCGRP_EVENTS },
};

/*
 * Containers that manage a network often have CAP_NET_ADMIN in the initial user namespace. That must not be enough to
 * remove the disks of the whole machine or to add new ones.
 */
static int may_change(const nof_genl_pre_op *op, struct sk_buff *skb, struct genl_info *info)
{
	if (!(op->flags & GENL_ADMIN_PERM) || netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	GENL_SET_ERR_MSG(info, "requires CAP_SYS_ADMIN and CAP_NET_ADMIN in the initial user namespace");
	return -EPERM;
}

int __init nof_genl_init(void)
{
	int err = deferred_ack_init();

	nof_genl_family.pre_doit = may_change;
	nof_genl_family.ops = ops;
	nof_genl_family.n_ops = ARRAY_SIZE(ops);
	nof_genl_family.mcgrps = mcgrps;
	nof_genl_family.n_mcgrps = ARRAY_SIZE(mcgrps);
	if (err)
		return err;
	err = genl_register_family(&nof_genl_family);
	if (err)
		deferred_ack_exit();
	return err;
}

void nof_genl_exit(void)
{
	genl_unregister_family(&nof_genl_family);
	deferred_ack_exit();
}
