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

static struct view look(const struct nof_path *path, u32 hctx, enum nof_lat_class class)
{
	return (struct view) { READ_ONCE(path->lat[hctx].ewma[class]), nof_path_depth(path, hctx) };
}

static bool due(const struct nof_path *path, u32 hctx, enum nof_lat_class class, u32 depth)
{
	const struct nof_path_lat *lat = &path->lat[hctx];

	return nof_lat_due(jiffies, READ_ONCE(lat->chosen[class]), READ_ONCE(lat->heard[class]), depth);
}

static struct nof_path *chosen(struct nof_path *path, u32 hctx, enum nof_lat_class class)
{
	WRITE_ONCE(path->lat[hctx].chosen[class], (u32)jiffies);
	return path;
}

/* What is neither read nor write is not measured: it goes where a small write would */
static enum nof_lat_class class_of(const struct request *rq)
{
	return likely(nof_rq_measured(rq)) ? nof_rq_class(rq) : NOF_LAT_WRITE;
}

static __always_inline struct nof_path *fight(struct nof_path *const *paths, u16 nr, struct request *rq, bool probing)
{
	u32 *scratch = nof_hctx_of(rq)->scratch, hctx = rq->mq_hctx->queue_num;
	enum nof_lat_class class = class_of(rq);
	struct nof_duel duel = nof_duel(scratch, nr);
	struct nof_path *best = paths[duel.best], *other = paths[duel.other];
	struct view b = look(best, hctx, class), o = look(other, hctx, class);

	if (probing && nof_rq_measured(rq) && due(other, hctx, class, o.depth))
		return chosen(other, hctx, class);
	if (!nof_lat_better(b.ewma, b.depth, o.ewma, o.depth))
		return chosen(best, hctx, class);
	nof_duel_won(scratch, duel.other);
	return chosen(other, hctx, class);
}

/* Apart, so that the others do not carry what only one in PROBE_SHARE needs */
static noinline struct nof_path *select_probing(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	return fight(paths, nr, rq, true);
}

static struct nof_path *select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *since = &nof_hctx_of(rq)->scratch[2], n = READ_ONCE(*since) + 1;

	if (unlikely(n >= PROBE_SHARE)) {
		WRITE_ONCE(*since, 0);
		return select_probing(paths, nr, rq);
	}
	WRITE_ONCE(*since, n);
	return fight(paths, nr, rq, false);
}

struct nof_selector nof_selector_latency = {
	.name	= "latency",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
