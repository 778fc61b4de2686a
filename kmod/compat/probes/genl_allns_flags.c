// SPDX-License-Identifier: GPL-2.0-only
/* genlmsg_multicast_allns() takes allocation flags */
#include <net/genetlink.h>

int probe(struct genl_family *family, struct sk_buff *skb);
int probe(struct genl_family *family, struct sk_buff *skb)
{
	return genlmsg_multicast_allns(family, skb, 0, 0, GFP_KERNEL);
}
