// SPDX-License-Identifier: GPL-2.0-only
/* type of request lists */
#include <linux/blk-mq.h>

#ifdef SPELLING_STRUCT
bool probe(struct rq_list *list);
bool probe(struct rq_list *list)
{
	return rq_list_empty(list);
}
#endif

#ifdef SPELLING_POINTER
bool probe(struct request *list);
bool probe(struct request *list)
{
	return rq_list_empty(list);
}
#endif
