// SPDX-License-Identifier: GPL-2.0-only
/* The built-in path selectors: numa, round-robin, queue-depth, latency. mpath/subsys.c registers selectors. */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/topology.h>
#include "core/ctrl.h"
#include "mpath/hctx.h"
#include "mpath/latency.h"
#include "mpath/path.h"
#include "mpath/request.h"
#include "mpath/selector.h"
#include "mpath/subsys.h"

/*
 * Compares the previous winner with one of the other paths, in turn. Each request inspects two paths only, and a path
 * that has improved is found within as many requests as there are paths. The CPUs of a hardware context share @scratch
 * without a lock; every value is valid, so races are harmless.
 */
struct nof_pair {
	u32	best;
	u32	other;
};

static inline struct nof_pair nof_pair_next(u32 *scratch, u16 nr)
{
	u32 best = READ_ONCE(scratch[0]), other;

	if (likely(nr == 2))
		return (struct nof_pair) { best & 1, ~best & 1 };
	if (unlikely(best >= nr))
		best = 0;
	other = READ_ONCE(scratch[1]) + 1;
	if (other >= nr)
		other = 0;
	if (other == best && ++other == nr)
		other = 0;
	WRITE_ONCE(scratch[1], other);
	return (struct nof_pair) { best, other };
}

/* Records the winner for the next request */
static inline u32 nof_pair_won(u32 *scratch, u32 won)
{
	WRITE_ONCE(scratch[0], won);
	return won;
}

/* numa: the path whose device is nearest, the first of equals. A stable choice keeps the caches of the path warm. */

static int path_distance(const struct nof_path *path, const struct request *rq)
{
	int from = rq->mq_hctx->numa_node, to = dev_to_node(&path->ctrl->dev);

	if (from == NUMA_NO_NODE || to == NUMA_NO_NODE)
		return LOCAL_DISTANCE;
	return node_distance(from, to);
}

static struct nof_path *sel_numa_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch;
	struct nof_pair pair;
	int best, other;

	if (nr_online_nodes == 1)
		return paths[0];
	pair = nof_pair_next(scratch, nr);
	best = path_distance(paths[pair.best], rq);
	other = path_distance(paths[pair.other], rq);
	if (other < best || (other == best && pair.other < pair.best))
		return paths[nof_pair_won(scratch, pair.other)];
	return paths[nof_pair_won(scratch, pair.best)];
}

struct nof_selector nof_selector_numa = {
	.name	= "numa",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_numa_select,
};

/* round-robin: one path after another, counted per hardware context so that the CPUs share no cache line. */

static struct nof_path *sel_round_robin_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch, turn = READ_ONCE(*scratch) + 1;

	if (turn >= nr)
		turn = 0;
	WRITE_ONCE(*scratch, turn);
	return paths[turn];
}

struct nof_selector nof_selector_round_robin = {
	.name	= "round-robin",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_round_robin_select,
};

/* queue-depth: the path with the fewest commands outstanding on the queue of the hardware context; ties take turns. */

static struct nof_path *sel_queue_depth_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch, hctx = rq->mq_hctx->queue_num;
	struct nof_pair pair = nof_pair_next(scratch, nr);
	struct nof_path *best = paths[pair.best], *other = paths[pair.other];

	if (nof_path_depth(other, hctx) > nof_path_depth(best, hctx))
		return best;
	nof_pair_won(scratch, pair.other);
	return other;
}

struct nof_selector nof_selector_queue_depth = {
	.name	= "queue-depth",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_queue_depth_select,
};

/*
 * latency: the path on which this request would complete first, by the average latency of its class and the commands
 * outstanding. A path that has had no sample for a while gets a request as a probe: at most one in PROBE_SHARE, so that
 * a light load does not consist of probes.
 */

/* Prime: the paths are compared in turn, and the probe must not always find the same one */
#define PROBE_SHARE	11

/* Latency and depth for the class and hardware context of the request */
struct view {
	u32	ewma;
	u32	depth;
};

static struct view sel_latency_look(const struct nof_path *path, u32 hctx, enum nof_lat_class class)
{
	return (struct view) { READ_ONCE(path->lat[hctx].ewma[class]), nof_path_depth(path, hctx) };
}

/* True if this request becomes the probe of a path without a recent sample; claims the probe */
static bool sel_latency_claim_probe(struct nof_path *path, u32 hctx, enum nof_lat_class class, u32 depth)
{
	struct nof_path_lat *lat = &path->lat[hctx];
	u32 now = jiffies;

	if (!nof_lat_due(now, READ_ONCE(lat->heard[class]), READ_ONCE(lat->probed[class]), depth))
		return false;
	WRITE_ONCE(lat->probed[class], now);
	return true;
}

/* Operations other than reads and writes are not measured: they are treated as small writes */
static enum nof_lat_class sel_latency_class_of(const struct request *rq)
{
	u32 op = (__force u32)req_op(rq);

	return likely(op <= (__force u32)REQ_OP_WRITE) ? nof_lat_class(op & 1, blk_rq_bytes(rq)) : NOF_LAT_WRITE;
}

static __always_inline struct nof_path *sel_latency_compare(struct nof_path *const *paths, u16 nr,
							    struct request *rq, u32 *scratch, bool probing)
{
	u32 hctx = rq->mq_hctx->queue_num;
	enum nof_lat_class class = sel_latency_class_of(rq);
	struct nof_pair pair = nof_pair_next(scratch, nr);
	struct nof_path *best = paths[pair.best], *other = paths[pair.other];
	struct view b = sel_latency_look(best, hctx, class), o = sel_latency_look(other, hctx, class);

	if (probing && nof_rq_measured(rq) && sel_latency_claim_probe(other, hctx, class, o.depth))
		return other;
	if (nof_lat_better(b.ewma, b.depth, o.ewma, o.depth)) {
		nof_pair_won(scratch, pair.other);
		return other;
	}
	return best;
}

/* Out of line, to keep the probe code out of the fast path */
static noinline struct nof_path *select_probing(struct nof_path *const *paths, u16 nr, struct request *rq, u32 *scratch)
{
	return sel_latency_compare(paths, nr, rq, scratch, true);
}

static struct nof_path *sel_latency_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch;
	s8 *left = (s8 *)&scratch[2];

	/* a race, or a value of another selector, only changes the number of requests until the next probe */
	if (unlikely(data_race(--*left) < 0)) {
		WRITE_ONCE(*left, PROBE_SHARE - 1);
		return select_probing(paths, nr, rq, scratch);
	}
	return sel_latency_compare(paths, nr, rq, scratch, false);
}

struct nof_selector nof_selector_latency = {
	.name	= "latency",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_latency_select,
};
