// SPDX-License-Identifier: GPL-2.0-only
/* queue-depth: the path with the fewest commands outstanding on the queue in question; equal ones take turns. */
#include "mpath/selectors.h"

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
