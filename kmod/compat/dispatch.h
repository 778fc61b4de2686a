/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_DISPATCH_H
#define NOF_COMPAT_DISPATCH_H

#include <linux/blk-mq.h>

/* Requests are merged; older kernels do that only with this flag */
#if NOF_HAVE_SHOULD_MERGE_FLAG
#define NOF_MERGE_FLAGS	BLK_MQ_F_SHOULD_MERGE
#else
#define NOF_MERGE_FLAGS	0
#endif

/*
 * Whether queue_rq() may sleep. For a driver that does, blk-mq dispatches in an SRCU read section, and up to 6.1 each
 * request queue has its own SRCU. There, a request that is not plugged runs srcu_read_lock(rq->q->srcu), queue_rq(rq),
 * srcu_read_unlock(rq->q->srcu). The request may have ended before the unlock, and another queue of the tag set may use
 * its tag. The unlock then counts for that queue, and del_gendisk() of the first queue's disk waits forever. This
 * cannot happen with one queue per tag set, with one SRCU per tag set (6.2), or with RCU, as used here.
 */
#if NOF_HAVE_TAG_SET_SRCU_SET && !defined(NOF_DISPATCH_RCU) /* to test the RCU variant on newer kernels */
#define NOF_DISPATCH_SLEEPS	1
#define NOF_DISPATCH_FLAGS	(BLK_MQ_F_BLOCKING | NOF_MERGE_FLAGS)
#else
#define NOF_DISPATCH_SLEEPS	0
#define NOF_DISPATCH_FLAGS	NOF_MERGE_FLAGS
#endif

#endif
