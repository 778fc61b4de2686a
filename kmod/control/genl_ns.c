// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on namespaces. */
#include "control/genl.h"
#include "control/put.h"
#include "core/subsys.h"
#include "mpath/head.h"

static int put_ns(struct sk_buff *skb, void *head)
{
	return nof_put_ns(skb, head);
}

int nof_genl_ns_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMEOF_A_NS_NAME];
	struct nof_head *head;
	int err;

	if (info->attrs[NVMEOF_A_SUBSYS_ID]) {
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_SUBSYS_ID], "SUBSYS_ID only selects in a dump");
		return -EINVAL;
	}
	if (nof_genl_missing(info, NVMEOF_A_NS_NAME, "NS_NAME is missing"))
		return -EINVAL;
	head = nof_head_find(nla_data(name));
	if (!head) {
		nof_genl_bad(info->extack, name, "there is no namespace of this name");
		return -ENODEV;
	}
	/* A head outlives its disk, but not while it is in the list. */
	err = nof_reply_object(info, head->subsys, &head->entry, put_ns, head);
	nof_head_put(head);
	return err;
}
