/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NOF_COMPAT_DISPATCH_H
#define NOF_COMPAT_DISPATCH_H

#include <linux/blk-mq.h>

/*
 * Whether queue_rq() may sleep. What dispatches to a driver that does is an SRCU reader, and up to 6.1 each request
 * queue has an SRCU of its own. There a request that is not plugged goes srcu_read_lock(rq->q->srcu), queue_rq(rq),
 * srcu_read_unlock(rq->q->srcu): but it may have ended by then, and its tag be in use again by another queue of the
 * tag set. The end of the read section is counted there, and del_gendisk() of the first queue's disk waits for it for
 * ever. It cannot happen with one queue to a tag set, with one SRCU for all of them (6.2), or with RCU, as used here.
 */
#if NOF_HAVE_TAG_SET_SRCU && !defined(NOF_DISPATCH_RCU) /* to test the other one on newer kernels */
#define NOF_DISPATCH_SLEEPS	1
#define NOF_DISPATCH_FLAGS	BLK_MQ_F_BLOCKING
#else
#define NOF_DISPATCH_SLEEPS	0
#define NOF_DISPATCH_FLAGS	0
#endif

#endif
