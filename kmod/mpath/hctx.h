/* SPDX-License-Identifier: GPL-2.0-only */
/* What a head keeps for each of its hardware contexts: hctx->driver_data. */
#ifndef NOF_MPATH_HCTX_H
#define NOF_MPATH_HCTX_H

#include <linux/blk-mq.h>
#include <linux/cache.h>
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/path.h"

/**
 * struct nof_hctx - (head, hardware context)
 * @starved:	waits for room in a queue
 * @held:	some path may hold back commands that were queued without @last
 * @run_left:	so many more requests of this batch take the path of that place in that set, see choose.c; only compared
 * @run_set, @run_path: the set and the place
 * @scratch:	the selector's: what it last left there, or another one did. A hint: every value has to do
 */
struct nof_hctx {
	unsigned long		held;
	const struct nof_path_set *run_set;
	u16			run_path;
	u16			run_left;
	u32			scratch[4];
	struct nof_starved	starved;
} ____cacheline_aligned_in_smp;

static inline struct nof_hctx *nof_hctx_of(const struct request *rq)
{
	return rq->mq_hctx->driver_data;
}

/* Reads and writes are; what else there is comes too seldom, and tells nothing about them */
static inline bool nof_rq_measured(const struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE;
}

static inline enum nof_lat_class nof_rq_class(const struct request *rq)
{
	return nof_lat_class(req_op(rq) == REQ_OP_WRITE, blk_rq_bytes(rq));
}

/* Commands outstanding on the queue that a hardware context uses on this path, of all namespaces. SRCU read side. */
static inline u32 nof_path_depth(const struct nof_path *path, u32 hctx)
{
	const struct nof_ctrl_map *map = srcu_dereference(path->ctrl->map, &path->ctrl->subsys->srcu);

	/* gone just now: as if it were full */
	return likely(map) ? atomic_read(&map->queues[hctx]->inflight) : S32_MAX;
}

#endif
