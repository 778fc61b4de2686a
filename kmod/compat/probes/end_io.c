// SPDX-License-Identifier: GPL-2.0-only
/* callback at the end of a passthrough request */
#include <linux/blk-mq.h>

#ifdef SPELLING_BATCH	/* gets the batch that the request may be part of */
static enum rq_end_io_ret end_io(struct request *rq, blk_status_t sts, const struct io_comp_batch *iob)
{
	return RQ_END_IO_FREE;
}

void probe(struct request *rq);
void probe(struct request *rq)
{
	rq->end_io = end_io;
}
#endif

#ifdef SPELLING_PLAIN
static enum rq_end_io_ret end_io(struct request *rq, blk_status_t sts)
{
	return RQ_END_IO_FREE;
}

void probe(struct request *rq);
void probe(struct request *rq)
{
	rq->end_io = end_io;
}
#endif
