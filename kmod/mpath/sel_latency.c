// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency: the path on which this request would be done first, by the average time of its kind of request and the
 * commands that are ahead of it. A path that lost for a while gets a request now and then, to see whether it still
 * deserves to: one in PROBE_SHARE at most, or a load of few requests would be spent on nothing else.
 */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include "mpath/path.h"
#include "mpath/selectors.h"

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
