// SPDX-License-Identifier: GPL-2.0-only
/* blk_rq_map_kern() */
#include <linux/blk-mq.h>

#ifdef SPELLING_REQUEST
int probe(struct request *rq, void *buf);
int probe(struct request *rq, void *buf)
{
	return blk_rq_map_kern(rq, buf, 512, GFP_NOIO);
}
#endif

#ifdef SPELLING_QUEUE	/* takes the queue, too */
int probe(struct request *rq, void *buf);
int probe(struct request *rq, void *buf)
{
	return blk_rq_map_kern(rq->q, rq, buf, 512, GFP_NOIO);
}
#endif
