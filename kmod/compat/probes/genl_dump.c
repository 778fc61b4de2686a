// SPDX-License-Identifier: GPL-2.0-only
/* attributes of a dump */
#include <net/genetlink.h>

#ifdef SPELLING_INFO	/* in a struct genl_info */
struct nlattr **probe(struct netlink_callback *cb);
struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
#endif

#ifdef SPELLING_DUMPIT
struct nlattr **probe(struct netlink_callback *cb);
struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_dumpit_info(cb)->attrs;
}
#endif
