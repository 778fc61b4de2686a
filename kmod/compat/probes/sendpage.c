// SPDX-License-Identifier: GPL-2.0-only
/* sockets have a sendpage callback: then MSG_SPLICE_PAGES, though it may be defined, is not understood */
#include <linux/net.h>

void *probe(const struct proto_ops *ops);
void *probe(const struct proto_ops *ops)
{
	return ops->sendpage;
}
