// SPDX-License-Identifier: GPL-2.0-only
/* The generic netlink family: its commands, and how an answer is built. */
#include <linux/module.h>
#include "control/genl.h"
#include "control/genl_policy.h"
#include "core/transport.h"
#include "mpath/selector.h"

#define NOF_POLICY(table)	.policy = (table), .maxattr = ARRAY_SIZE(table) - 1

/*
 * One struct genl_ops for do and dump, each with its own policy. No .validate flags: headers, attributes and lengths
 * are checked strictly for both. GENL_ADMIN_PERM asks for CAP_NET_ADMIN in the initial user namespace, whatever
 * network namespace the request comes from, and may_change() for more.
 */
static const struct genl_ops ops[] = {
	{
		.cmd	= NVMEOF_CMD_VERSION_GET,
		.doit	= nof_genl_version_get,
	}, {
		.cmd	= NVMEOF_CMD_SUBSYS_GET,
		.doit	= nof_object_get,
		.start	= nof_object_dump_start,
		.dumpit	= nof_object_dump,
		NOF_POLICY(nof_policy_subsys_get),
	}, {
		.cmd	= NVMEOF_CMD_SUBSYS_SET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_subsys_set,
		NOF_POLICY(nof_policy_subsys_set),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_NEW,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_new,
		NOF_POLICY(nof_policy_ctrl_new),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_DEL,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_del,
		NOF_POLICY(nof_policy_ctrl_del),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_RESET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_reset,
		NOF_POLICY(nof_policy_ctrl_name),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_RESCAN,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_rescan,
		NOF_POLICY(nof_policy_ctrl_name),
	}, {
		.cmd	= NVMEOF_CMD_CTRL_SET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_set,
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
		.doit	= nof_genl_transport_keep,
		NOF_POLICY(nof_policy_transport_keep),
	},
};

static const struct genl_multicast_group mcgrps[] = {
	[NOF_MCGRP_EVENTS] = { .name = NVMEOF_MCGRP_EVENTS },
};

/*
 * Containers that manage a network often have CAP_NET_ADMIN in the initial user namespace. That is not to be enough for
 * taking the disks of the whole machine away, or for bringing in new ones.
 */
static int may_change(const nof_genl_pre_op *op, struct sk_buff *skb, struct genl_info *info)
{
	if (!(op->flags & GENL_ADMIN_PERM) || netlink_capable(skb, CAP_SYS_ADMIN))
		return 0;
	GENL_SET_ERR_MSG(info, "changes need CAP_SYS_ADMIN in the initial user namespace, next to CAP_NET_ADMIN");
	return -EPERM;
}

/*
 * netnsok: a connect uses the network namespace it was asked from, so the family is in all of them. What can be read
 * there is what /sys/class/nvmeof shows in every container anyway. With parallel_ops handlers rely on the locks of the
 * core alone; what takes time goes on after them, see genl_later.c. resv_start_op stays 0: strict from the first
 * command on.
 */
struct genl_family nof_genl_family __ro_after_init = {
	.name		= NVMEOF_GENL_NAME,
	.version	= NVMEOF_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.pre_doit	= may_change,
	.module		= THIS_MODULE,
	.ops		= ops,
	.n_ops		= ARRAY_SIZE(ops),
	.mcgrps		= mcgrps,
	.n_mcgrps	= ARRAY_SIZE(mcgrps),
};

int nof_reply_begin(struct nof_reply *reply, struct genl_info *info)
{
	reply->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply->skb) {
		GENL_SET_ERR_MSG(info, "no memory for the answer");
		return -ENOMEM;
	}
	/* The buffer is empty: a header always fits. */
	reply->hdr = genlmsg_put_reply(reply->skb, info, &nof_genl_family, 0, info->genlhdr->cmd);
	return 0;
}

void nof_reply_send(struct nof_reply *reply, struct genl_info *info)
{
	genlmsg_end(reply->skb, reply->hdr);
	genlmsg_reply(reply->skb, info);
}

int nof_reply_end(struct nof_reply *reply, struct genl_info *info, int err)
{
	if (!err) {
		genlmsg_end(reply->skb, reply->hdr);
		return genlmsg_reply(reply->skb, info);
	}
	if (err == -EMSGSIZE)
		GENL_SET_ERR_MSG(info, "the answer does not fit in a message");
	nlmsg_free(reply->skb);
	return err;
}

static int put_transport(const struct nof_transport *t, void *skb)
{
	return nla_put_string(skb, NVMEOF_A_TRANSPORT, t->name);
}

static int put_selector(const struct nof_selector *s, void *skb)
{
	return nla_put_string(skb, NVMEOF_A_SELECTOR, s->name);
}

int nof_genl_version_get(struct sk_buff *skb, struct genl_info *info)
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

int nof_genl_transport_keep(struct sk_buff *skb, struct genl_info *info)
{
	int err;

	if (nof_genl_missing(info, NVMEOF_A_TRANSPORT, "TRANSPORT is missing"))
		return -EINVAL;
	err = nof_transport_keep(nla_data(info->attrs[NVMEOF_A_TRANSPORT]));
	if (err)
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_TRANSPORT], "no such transport is loaded");
	return err;
}

int nof_genl_init(void)
{
	int err = nof_later_init();

	if (err)
		return err;
	err = genl_register_family(&nof_genl_family);
	if (err)
		nof_later_exit();
	return err;
}

void nof_genl_exit(void)
{
	genl_unregister_family(&nof_genl_family);
	nof_later_exit();
}
