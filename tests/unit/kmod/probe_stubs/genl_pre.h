/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct sk_buff;
struct genl_info;

#define GENL_ADMIN_PERM 1

#ifdef STUB_SPLIT
struct genl_split_ops {
	u8 flags;
};

struct genl_family {
	int (*pre_doit)(const struct genl_split_ops *op, struct sk_buff *skb, struct genl_info *info);
};
#endif

#ifdef STUB_OPS
struct genl_split_ops {
	u8 flags;
};

struct genl_ops {
	u8 flags;
};

struct genl_family {
	int (*pre_doit)(const struct genl_ops *op, struct sk_buff *skb, struct genl_info *info);
};
#endif
