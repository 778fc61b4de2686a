// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on subsystems. */
#include "control/genl.h"
#include "control/put.h"
#include "core/subsys.h"

static struct nof_subsys *find(struct genl_info *info)
{
	struct nof_subsys *s;

	if (nof_genl_missing(info, NVMEOF_A_SUBSYS_ID, "SUBSYS_ID is missing"))
		return ERR_PTR(-EINVAL);
	s = nof_subsys_find(nla_get_u32(info->attrs[NVMEOF_A_SUBSYS_ID]));
	if (!s) {
		nof_genl_bad(info->extack, info->attrs[NVMEOF_A_SUBSYS_ID], "there is no subsystem of this number");
		return ERR_PTR(-ENODEV);
	}
	return s;
}

int nof_genl_subsys_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nof_reply reply;
	struct nof_subsys *s;
	int err;

	s = find(info);
	if (IS_ERR(s))
		return PTR_ERR(s);
	err = nof_reply_begin(&reply, info);
	if (!err) {
		mutex_lock(&s->lock);
		err = nof_put_subsys(reply.skb, s);
		mutex_unlock(&s->lock);
		err = nof_reply_end(&reply, info, err);
	}
	nof_subsys_put(s);
	return err;
}

int nof_genl_subsys_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *policy = info->attrs[NVMEOF_A_IOPOLICY];
	struct nof_subsys *s;
	int err = 0;

	s = find(info);
	if (IS_ERR(s))
		return PTR_ERR(s);
	if (policy)
		err = nof_subsys_set_iopolicy(s, nla_data(policy), info->extack);
	nof_subsys_put(s);
	return err;
}
