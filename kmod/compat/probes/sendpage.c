// SPDX-License-Identifier: GPL-2.0-only
/* sockets have a sendpage callback: then MSG_SPLICE_PAGES may be defined, but does not work */
#include <linux/net.h>

void *probe(const struct proto_ops *ops);
void *probe(const struct proto_ops *ops)
{
	return ops->sendpage;
}
