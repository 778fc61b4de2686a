// SPDX-License-Identifier: GPL-2.0-only
/* end of a freeze that blk_freeze_queue_start() began */
#include <linux/blk-mq.h>

#ifdef SPELLING_NOMEMRESTORE
void probe(struct request_queue *q);
void probe(struct request_queue *q)
{
	blk_freeze_queue_start(q);
	blk_mq_unfreeze_queue_nomemrestore(q);
}
#endif

#ifdef SPELLING_PLAIN
void probe(struct request_queue *q);
void probe(struct request_queue *q)
{
	blk_freeze_queue_start(q);
	blk_mq_unfreeze_queue(q);
}
#endif
