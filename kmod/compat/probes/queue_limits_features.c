// SPDX-License-Identifier: GPL-2.0-only
/* features (cache, stable writes) are part of the limits, which are given at allocation and committed as a whole */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>

int probe(struct request_queue *q);
int probe(struct request_queue *q)
{
	struct queue_limits lim = queue_limits_start_update(q);

	lim.features |= BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA | BLK_FEAT_STABLE_WRITES;
	return queue_limits_commit_update(q, &lim);
}
