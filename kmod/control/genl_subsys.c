// SPDX-License-Identifier: GPL-2.0-only
/* Netlink commands on subsystems. */
#include "control/genl.h"
#include "core/subsys.h"
#include "mpath/subsys.h"

static bool takes_policy(struct nlattr **attrs)
{
	return attrs[NVMEOF_A_SPILL_US] || attrs[NVMEOF_A_SPILL_DEPTH] || attrs[NVMEOF_A_DEGRADE] ||
	       attrs[NVMEOF_A_FENCING] || attrs[NVMEOF_A_DELAYED_REMOVAL] || attrs[NVMEOF_A_QUIESCE_TMO];
}

/* The bounds of each were checked by the policy table. */
static void take_policy(struct nof_policy *p, struct nlattr **attrs)
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

/* The selector first: its name is all that can still be wrong, and then nothing has changed. */
static int set(struct nof_subsys *s, struct genl_info *info)
{
	struct nlattr *name = info->attrs[NVMEOF_A_IOPOLICY];
	struct nof_policy p;
	int err;

	if (name) {
		err = nof_subsys_set_iopolicy(s, nla_data(name), info->extack);
		if (err)
			return err;
	}
	if (takes_policy(info->attrs)) {
		nof_policy_begin(s, &p);
		take_policy(&p, info->attrs);
		nof_policy_commit(s, &p);
	}
	return 0;
}

int nof_genl_subsys_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nof_subsys *s = nof_object_find(info, NVMEOF_A_SUBSYS_ID);
	int err;

	if (IS_ERR(s))
		return PTR_ERR(s);
	err = set(s, info);
	nof_subsys_put(s);
	return err;
}
