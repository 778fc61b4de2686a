// SPDX-License-Identifier: GPL-2.0-only
/* struct rq_list, the type of request lists */
#include <linux/blk-mq.h>

bool probe(struct rq_list *list);
bool probe(struct rq_list *list)
{
	return rq_list_empty(list);
}
