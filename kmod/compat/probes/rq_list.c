// SPDX-License-Identifier: GPL-2.0-only
/* lists of requests have a type of their own */
#include <linux/blk-mq.h>

bool probe(struct rq_list *list);
bool probe(struct rq_list *list)
{
	return rq_list_empty(list);
}
