// SPDX-License-Identifier: GPL-2.0-only
/* the queues of a tag set share one SRCU for blocking dispatch */
#include <linux/blk-mq.h>

struct srcu_struct *probe(struct blk_mq_tag_set *set);
struct srcu_struct *probe(struct blk_mq_tag_set *set)
{
	return set->srcu;
}
