// SPDX-License-Identifier: GPL-2.0-only
/* blk_rq_map_sg() */
#include <linux/blk-mq.h>
#include <linux/scatterlist.h>

#ifdef SPELLING_REQUEST
int probe(struct request *rq, struct scatterlist *sgl);
int probe(struct request *rq, struct scatterlist *sgl)
{
	return blk_rq_map_sg(rq, sgl);
}
#endif

#ifdef SPELLING_QUEUE	/* takes the queue, too */
int probe(struct request *rq, struct scatterlist *sgl);
int probe(struct request *rq, struct scatterlist *sgl)
{
	return blk_rq_map_sg(rq->q, rq, sgl);
}
#endif
