// SPDX-License-Identifier: GPL-2.0-only
/* a dump's attributes are in a struct genl_info */
#include <net/genetlink.h>

struct nlattr **probe(struct netlink_callback *cb);
struct nlattr **probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb)->attrs;
}
