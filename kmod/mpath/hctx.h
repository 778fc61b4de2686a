/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a head for each of its hardware contexts: hctx->driver_data. */
#ifndef NOF_MPATH_HCTX_H
#define NOF_MPATH_HCTX_H

#include <linux/blk-mq.h>
#include <linux/cache.h>
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/path.h"

/**
 * struct nof_hctx - (head, hardware context)
 * @starved:	entry of this context among those that wait for room in a queue
 * @pending:	some path may have pending commands, queued without @last
 * @run_left:	number of requests of this batch that still follow the run, see choose.c
 * @run_set:	path set of the run; may have been freed, so it is only compared
 * @run_path:	index of the run's path in @run_set
 * @scratch:	the selector's memory; may have been written by another selector, so every value must be valid
 */
struct nof_hctx {
	unsigned long		pending;
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

/* True for reads and writes. Other operations are rare and do not predict their latency. */
static inline bool nof_rq_measured(const struct request *rq)
{
	return req_op(rq) == REQ_OP_READ || req_op(rq) == REQ_OP_WRITE;
}

static inline enum nof_lat_class nof_rq_class(const struct request *rq)
{
	return nof_lat_class(op_is_write(req_op(rq)), blk_rq_bytes(rq));
}

/* Commands of all namespaces outstanding on the queue of a hardware context on this path. SRCU read side. */
static inline u32 nof_path_depth(const struct nof_path *path, u32 hctx)
{
	const struct nof_ctrl_map *map = srcu_dereference(path->ctrl->queues.map, &path->ctrl->subsys->srcu);

	/* the queues were just freed: treat as full */
	return likely(map) ? atomic_read(&map->queues[hctx]->inflight) : S32_MAX;
}

#endif
