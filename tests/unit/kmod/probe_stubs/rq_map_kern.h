/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct request_queue;
struct request {
	struct request_queue *q;
};

#define GFP_NOIO 0

#ifdef STUB_REQUEST
int blk_rq_map_kern(struct request *rq, void *buf, unsigned int len, gfp_t gfp);
#endif

#ifdef STUB_QUEUE
int blk_rq_map_kern(struct request_queue *q, struct request *rq, void *buf, unsigned int len, gfp_t gfp);
#endif
