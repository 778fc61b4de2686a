// SPDX-License-Identifier: GPL-2.0-only
/* The pre_doit of a generic netlink family gets a struct genl_split_ops */
#include <net/genetlink.h>

static int pre(const struct genl_split_ops *op, struct sk_buff *skb, struct genl_info *info)
{
	return op->flags & GENL_ADMIN_PERM;
}

struct genl_family probe;
struct genl_family probe = { .pre_doit = pre };
