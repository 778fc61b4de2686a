/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of a head's queue: submission from blk-mq to a path. */
#ifndef NOF_MPATH_REQUEST_H
#define NOF_MPATH_REQUEST_H

#include <linux/blk-mq.h>

#define NOF_IO_TIMEOUT		(30 * HZ)	/* until an Abort is sent; after the same time again, recovery begins */
/* Error completions of one request over all paths, after which the target's status is returned */
#define NOF_MAX_RETRIES		5
/* Lost connections of one request that are always retried; further ones are bounded by time, see retry_lost() */
#define NOF_MAX_LOSSES		16

extern const struct blk_mq_ops nof_mq_ops;

/* Origin of a request, which decides whether it is retried: see mpath/complete.c */
enum nof_kind {
	NOF_KIND_BLOCK,		/* the block layer */
	NOF_KIND_PASSTHROUGH,	/* a program, by ioctl or io_uring */
	NOF_KIND_OWN,		/* the driver, see mpath/command.h */
};

static inline enum nof_kind nof_kind_of(const struct request *rq)
{
	if (likely(!blk_rq_is_passthrough((struct request *)rq)))
		return NOF_KIND_BLOCK;
	return rq->cmd_flags & REQ_DRV ? NOF_KIND_OWN : NOF_KIND_PASSTHROUGH;
}

struct io_comp_batch;
struct nof_cmd;
struct nof_head;
struct nof_path;

/* Reaps completions of a polled hardware context on all paths. Returns how many. Context: process. */
int nof_head_poll(struct nof_head *head, u32 hctx, struct io_comp_batch *iob);

#endif
