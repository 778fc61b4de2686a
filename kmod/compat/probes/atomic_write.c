// SPDX-License-Identifier: GPL-2.0-only
/* atomic writes */
#include <linux/blk-mq.h>

unsigned int probe(const struct queue_limits *lim, const struct request *rq);
unsigned int probe(const struct queue_limits *lim, const struct request *rq)
{
	return rq->cmd_flags & REQ_ATOMIC ? lim->atomic_write_hw_max : lim->atomic_write_hw_unit_min;
}
