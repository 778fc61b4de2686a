// SPDX-License-Identifier: GPL-2.0-only
/* all queues of a tag set quiesced at once */
#include <linux/blk-mq.h>

void probe(struct blk_mq_tag_set *set);
void probe(struct blk_mq_tag_set *set)
{
	blk_mq_quiesce_tagset(set);
	blk_mq_unquiesce_tagset(set);
}
