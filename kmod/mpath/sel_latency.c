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

#define PROBE_SHARE	8

/* A path as the request's hardware context sees it */
struct view {
	struct nof_path_lat	*lat;
	u32			depth;
};

static struct view look(const struct nof_path *path, u32 hctx)
{
	return (struct view) { &path->lat[hctx], nof_path_depth(path, hctx) };
}

static bool better(const struct view *best, const struct view *other, enum nof_lat_class class)
{
	return nof_lat_better(READ_ONCE(best->lat->ewma[class]), best->depth, READ_ONCE(other->lat->ewma[class]),
			      other->depth);
}

/* @since: requests since the last probe */
static bool due(const struct view *v, enum nof_lat_class class, u32 now, u32 *since)
{
	u32 n = READ_ONCE(*since) + 1;

	WRITE_ONCE(*since, n);
	return n >= PROBE_SHARE &&
	       nof_lat_due(now, READ_ONCE(v->lat->chosen[class]), READ_ONCE(v->lat->heard[class]), v->depth);
}

static void note(const struct view *v, enum nof_lat_class class, u32 now)
{
	WRITE_ONCE(v->lat->chosen[class], now);
}

/* What is neither read nor write is not measured */
static noinline u16 select_by_depth(const struct nof_choice *c)
{
	u32 hctx = c->rq->mq_hctx->queue_num;
	struct nof_duel duel = nof_duel(c);

	return nof_duel_won(&duel, nof_path_depth(c->paths[duel.other], hctx) <
				   nof_path_depth(c->paths[duel.best], hctx));
}

static u16 select(const struct nof_choice *c)
{
	u32 hctx = c->rq->mq_hctx->queue_num, now = jiffies;
	u32 *scratch = nof_hctx_of(c->rq)->scratch;
	enum nof_lat_class class = nof_rq_class(c->rq);
	struct view best, other;
	struct nof_duel duel;

	if (unlikely(!nof_rq_measured(c->rq)))
		return select_by_depth(c);
	duel = nof_duel(c);
	best = look(c->paths[duel.best], hctx);
	other = look(c->paths[duel.other], hctx);
	if (unlikely(due(&other, class, now, &scratch[2]))) {
		WRITE_ONCE(scratch[2], 0);
		note(&other, class, now);
		return duel.other;
	}
	if (better(&best, &other, class)) {
		note(&other, class, now);
		return nof_duel_won(&duel, true);
	}
	note(&best, class, now);
	return nof_duel_won(&duel, false);
}

struct nof_selector nof_selector_latency = {
	.name	= "latency",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
