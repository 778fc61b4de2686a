// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on namespaces. */
#include "control/genl.h"
#include "control/put.h"
#include "core/subsys.h"
#include "mpath/head.h"

/* A head outlives its disk, but not while it is in the list, which takes the lock to leave. */
static int reply_ns(struct genl_info *info, struct nof_head *head)
{
	struct mutex *lock = &head->subsys->lock;
	struct nof_reply reply;
	int err;

	err = nof_reply_begin(&reply, info);
	if (err)
		return err;
	mutex_lock(lock);
	err = list_empty(&head->entry) ? -ENODEV : nof_put_ns(reply.skb, head);
	mutex_unlock(lock);
	if (err == -ENODEV)
		GENL_SET_ERR_MSG(info, "the namespace is just being removed");
	return nof_reply_end(&reply, info, err);
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
	err = reply_ns(info, head);
	nof_head_put(head);
	return err;
}
