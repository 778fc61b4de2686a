// SPDX-License-Identifier: GPL-2.0-only
/* operation passed to pre_doit() of a family */
#include <net/genetlink.h>

#ifdef SPELLING_SPLIT
static int pre(const struct genl_split_ops *op, struct sk_buff *skb, struct genl_info *info)
{
	return op->flags & GENL_ADMIN_PERM;
}

extern struct genl_family probe;
struct genl_family probe = { .pre_doit = pre };
#endif

#ifdef SPELLING_OPS
static int pre(const struct genl_ops *op, struct sk_buff *skb, struct genl_info *info)
{
	return op->flags & GENL_ADMIN_PERM;
}

extern struct genl_family probe;
struct genl_family probe = { .pre_doit = pre };
#endif
