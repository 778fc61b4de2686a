// SPDX-License-Identifier: GPL-2.0-only
/* likewise for generic netlink requests */
#include <net/genetlink.h>

void probe(struct genl_info *info, int n);
void probe(struct genl_info *info, int n)
{
	GENL_SET_ERR_MSG_FMT(info, "%d", n);
}
