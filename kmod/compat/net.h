/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_NET_H
#define NOF_COMPAT_NET_H

#include <linux/netlink.h>
#include <net/genetlink.h>

/* Type of the operation passed to pre_doit of a family */
#if NOF_HAVE_GENL_PRE_SPLIT
typedef struct genl_split_ops nof_genl_pre_op;
#else
typedef struct genl_ops nof_genl_pre_op;
#endif

/* Returns the attributes of a dump request */
#if NOF_HAVE_GENL_DUMP_INFO
static inline struct nlattr **nof_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
#else
static inline struct nlattr **nof_genl_dump_attrs(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#endif

#if NOF_HAVE_GENL_ALLNS_FLAGS
/* The newest form has no flags and is called under rcu_read_lock(). */
#define genlmsg_multicast_allns(family, skb, portid, group)			\
	genlmsg_multicast_allns(family, skb, portid, group, GFP_ATOMIC)
#endif

#if NOF_HAVE_SOCKADDR_PLAIN
#define sockaddr_unsized	sockaddr
#endif

#if NOF_HAVE_INET_ADDR_IS_ANY_SOCKADDR
#include <linux/inet.h>

#define inet_addr_is_any(addr)	inet_addr_is_any((struct sockaddr *)(addr))
#endif

#if NOF_HAVE_SENDPAGES_OK_ABSENT
#include <linux/net.h>

static inline bool sendpages_ok(struct page *page, size_t len, size_t offset)
{
	struct page *last = page + ((offset + len - 1) >> PAGE_SHIFT);

	for (page += offset >> PAGE_SHIFT; page <= last; page++) {
		if (!sendpage_ok(page))
			return false;
	}
	return true;
}
#endif

#endif
