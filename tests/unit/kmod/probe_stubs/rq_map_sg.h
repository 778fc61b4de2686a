/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct scatterlist;
struct request_queue;
struct request {
	struct request_queue *q;
};

#ifdef STUB_REQUEST
int blk_rq_map_sg(struct request *rq, struct scatterlist *sgl);
#endif

#ifdef STUB_QUEUE
int blk_rq_map_sg(struct request_queue *q, struct request *rq, struct scatterlist *sgl);
#endif
