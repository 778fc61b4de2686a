// SPDX-License-Identifier: GPL-2.0-only
/* genlmsg_multicast_allns() */
#include <net/genetlink.h>

#ifdef SPELLING_PLAIN	/* has no flags and is called under rcu_read_lock() */
int probe(struct genl_family *family, struct sk_buff *skb);
int probe(struct genl_family *family, struct sk_buff *skb)
{
	return genlmsg_multicast_allns(family, skb, 0, 0);
}
#endif

#ifdef SPELLING_FLAGS
int probe(struct genl_family *family, struct sk_buff *skb);
int probe(struct genl_family *family, struct sk_buff *skb)
{
	return genlmsg_multicast_allns(family, skb, 0, 0, GFP_KERNEL);
}
#endif
