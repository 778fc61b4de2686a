/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct genl_family;
struct sk_buff;

#define GFP_KERNEL 0

#ifdef STUB_PLAIN
int genlmsg_multicast_allns(const struct genl_family *f, struct sk_buff *skb, u32 portid, unsigned int group);
#endif

#ifdef STUB_FLAGS
int genlmsg_multicast_allns(const struct genl_family *f, struct sk_buff *skb, u32 portid, unsigned int group,
			    gfp_t flags);
#endif
