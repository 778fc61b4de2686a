// SPDX-License-Identifier: GPL-2.0-only
/* extack messages with arguments */
#include <linux/netlink.h>

void probe(struct netlink_ext_ack *extack, int n);
void probe(struct netlink_ext_ack *extack, int n)
{
	NL_SET_ERR_MSG_FMT(extack, "%d", n);
}
