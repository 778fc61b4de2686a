// SPDX-License-Identifier: GPL-2.0-only
/* the queues of a tag set have one SRCU together for dispatching that sleeps */
#include <linux/blk-mq.h>

struct srcu_struct *probe(struct blk_mq_tag_set *set);
struct srcu_struct *probe(struct blk_mq_tag_set *set)
{
	return set->srcu;
}
