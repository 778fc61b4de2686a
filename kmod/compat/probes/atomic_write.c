// SPDX-License-Identifier: GPL-2.0-only
/* atomic writes */
#include <linux/blk-mq.h>

#ifdef SPELLING_FEATURE	/* only of a queue that has the feature */
unsigned int probe(struct queue_limits *lim, const struct request *rq);
unsigned int probe(struct queue_limits *lim, const struct request *rq)
{
	lim->features |= BLK_FEAT_ATOMIC_WRITES;
	return rq->cmd_flags & REQ_ATOMIC ? lim->atomic_write_hw_max : lim->atomic_write_hw_unit_min;
}
#endif

#ifdef SPELLING_LIMITS
unsigned int probe(const struct queue_limits *lim, const struct request *rq);
unsigned int probe(const struct queue_limits *lim, const struct request *rq)
{
	return rq->cmd_flags & REQ_ATOMIC ? lim->atomic_write_hw_max : lim->atomic_write_hw_unit_min;
}
#endif

#ifdef SPELLING_ABSENT
enum { __REQ_ATOMIC };
#endif
