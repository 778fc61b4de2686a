// SPDX-License-Identifier: GPL-2.0-only
/* The policies by which this module selects a path. */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/topology.h>
#include "core/ctrl.h"
#include "mpath/hctx.h"
#include "mpath/latency.h"
#include "mpath/path.h"
#include "mpath/selector.h"
#include "mpath/subsys.h"

/*
 * The path that won last time against one of the others, each in its turn. Two looks at a path for each request,
 * however many paths there are, and what got better is found within as many requests as there are paths. The memory is
 * shared by the CPUs of a hardware context, without order: any value will do, so that any race may be lost.
 */
struct nof_duel {
	u32	best;
	u32	other;
};

static inline struct nof_duel nof_duel(u32 *scratch, u16 nr)
{
	u32 best = READ_ONCE(scratch[0]), other;

	if (likely(nr == 2))
		return (struct nof_duel) { best & 1, ~best & 1 };
	if (unlikely(best >= nr))
		best = 0;
	other = READ_ONCE(scratch[1]) + 1;
	if (other >= nr)
		other = 0;
	if (other == best && ++other == nr)
		other = 0;
	WRITE_ONCE(scratch[1], other);
	return (struct nof_duel) { best, other };
}

/* Which of the two it was: kept for the next time */
static inline u32 nof_duel_won(u32 *scratch, u32 won)
{
	WRITE_ONCE(scratch[0], won);
	return won;
}

/* numa: the path whose device is nearest; among equals the first. Stays with it, so that a path's caches stay warm. */

static int distance(const struct nof_path *path, const struct request *rq)
{
	int from = rq->mq_hctx->numa_node, to = dev_to_node(&path->ctrl->dev);

	if (from == NUMA_NO_NODE || to == NUMA_NO_NODE)
		return LOCAL_DISTANCE;
	return node_distance(from, to);
}

static struct nof_path *sel_numa_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch;
	struct nof_duel duel;
	int best, other;

	if (nr_online_nodes == 1)
		return paths[0];
	duel = nof_duel(scratch, nr);
	best = distance(paths[duel.best], rq);
	other = distance(paths[duel.other], rq);
	if (other < best || (other == best && duel.other < duel.best))
		return paths[nof_duel_won(scratch, duel.other)];
	return paths[nof_duel_won(scratch, duel.best)];
}

struct nof_selector nof_selector_numa = {
	.name	= "numa",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_numa_select,
};

/* round-robin: one path after another, counted by hardware context so that no cache line is shared by all CPUs. */

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

/* queue-depth: the path with the fewest commands outstanding on the queue in question; equal ones take turns. */

static struct nof_path *sel_queue_depth_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch, hctx = rq->mq_hctx->queue_num;
	struct nof_duel duel = nof_duel(scratch, nr);
	struct nof_path *best = paths[duel.best], *other = paths[duel.other];

	if (nof_path_depth(other, hctx) > nof_path_depth(best, hctx))
		return best;
	nof_duel_won(scratch, duel.other);
	return other;
}

struct nof_selector nof_selector_queue_depth = {
	.name	= "queue-depth",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_queue_depth_select,
};

/*
 * latency: the path on which this request would be done first, by the average time of its kind of request and the
 * commands that are ahead of it. A path that lost for a while gets a request now and then, to see whether it still
 * deserves to: one in PROBE_SHARE at most, or a load of few requests would be spent on nothing else.
 */

/* Prime, so that the look does not always fall upon the same one of the others, which take turns */
#define PROBE_SHARE	11

/* For the request's class and hardware context */
struct view {
	u32	ewma;
	u32	depth;
};

static struct view sel_latency_look(const struct nof_path *path, u32 hctx, enum nof_lat_class class)
{
	return (struct view) { READ_ONCE(path->lat[hctx].ewma[class]), nof_path_depth(path, hctx) };
}

/* Whether this request is to be spent on a path that has been silent; if so, it is the one */
static bool spend(struct nof_path *path, u32 hctx, enum nof_lat_class class, u32 depth)
{
	struct nof_path_lat *lat = &path->lat[hctx];
	u32 now = jiffies;

	if (!nof_lat_due(now, READ_ONCE(lat->heard[class]), READ_ONCE(lat->probed[class]), depth))
		return false;
	WRITE_ONCE(lat->probed[class], now);
	return true;
}

/* What is neither read nor write is not measured: it goes where a small write would */
static enum nof_lat_class sel_latency_class_of(const struct request *rq)
{
	u32 op = (__force u32)req_op(rq);

	return likely(op <= (__force u32)REQ_OP_WRITE) ? nof_lat_class(op & 1, blk_rq_bytes(rq)) : NOF_LAT_WRITE;
}

static __always_inline struct nof_path *fight(struct nof_path *const *paths, u16 nr, struct request *rq, u32 *scratch,
					      bool probing)
{
	u32 hctx = rq->mq_hctx->queue_num;
	enum nof_lat_class class = sel_latency_class_of(rq);
	struct nof_duel duel = nof_duel(scratch, nr);
	struct nof_path *best = paths[duel.best], *other = paths[duel.other];
	struct view b = sel_latency_look(best, hctx, class), o = sel_latency_look(other, hctx, class);

	if (probing && nof_rq_measured(rq) && spend(other, hctx, class, o.depth))
		return other;
	if (nof_lat_better(b.ewma, b.depth, o.ewma, o.depth)) {
		nof_duel_won(scratch, duel.other);
		return other;
	}
	return best;
}

/* Apart, so that the others do not carry what only one in PROBE_SHARE needs */
static noinline struct nof_path *select_probing(struct nof_path *const *paths, u16 nr, struct request *rq, u32 *scratch)
{
	return fight(paths, nr, rq, scratch, true);
}

static struct nof_path *sel_latency_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch;
	s8 *left = (s8 *)&scratch[2];

	/* Without order: some requests more between two probes are all that a race, or a stranger's value, can cost */
	if (unlikely(data_race(--*left) < 0)) {
		WRITE_ONCE(*left, PROBE_SHARE - 1);
		return select_probing(paths, nr, rq, scratch);
	}
	return fight(paths, nr, rq, scratch, false);
}

struct nof_selector nof_selector_latency = {
	.name	= "latency",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_latency_select,
};
