// SPDX-License-Identifier: GPL-2.0-only
/* SRCU of a blocking dispatch */
#include <linux/blk-mq.h>

#ifdef SPELLING_SET	/* shared by the queues of a tag set */
struct srcu_struct *probe(struct blk_mq_tag_set *set);
struct srcu_struct *probe(struct blk_mq_tag_set *set)
{
	return set->srcu;
}
#endif

#ifdef SPELLING_QUEUE
struct srcu_struct *probe(struct request_queue *q);
struct srcu_struct *probe(struct request_queue *q)
{
	return q->srcu;
}
#endif
