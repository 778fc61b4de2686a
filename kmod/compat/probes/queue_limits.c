// SPDX-License-Identifier: GPL-2.0-only
/* setting the limits of a queue */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

#ifdef SPELLING_FEATURES	/* all at once, with features such as a write cache */
int probe(struct request_queue *q);
int probe(struct request_queue *q)
{
	struct queue_limits lim = queue_limits_start_update(q);

	lim.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA | BLK_FEAT_STABLE_WRITES;
	return queue_limits_commit_update(q, &lim);
}
#endif

#ifdef SPELLING_SETTERS	/* one by one */
struct gendisk *probe(struct blk_mq_tag_set *set, struct request_queue *q);
struct gendisk *probe(struct blk_mq_tag_set *set, struct request_queue *q)
{
	blk_queue_logical_block_size(q, 512);
	blk_queue_max_hw_sectors(q, 8);
	blk_queue_write_cache(q, true, true);
	return blk_mq_alloc_disk(set, NULL);
}
#endif
