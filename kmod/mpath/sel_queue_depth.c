// SPDX-License-Identifier: GPL-2.0-only
/* queue-depth: the path with the fewest commands outstanding on the queue in question; equal ones take turns. */
#include "mpath/selectors.h"

static u16 select(const struct nof_choice *c)
{
	struct nof_duel duel = nof_duel(c);
	u32 hctx = c->rq->mq_hctx->queue_num;

	return nof_duel_won(&duel, nof_path_depth(c->paths[duel.other], hctx) <=
				   nof_path_depth(c->paths[duel.best], hctx));
}

struct nof_selector nof_selector_queue_depth = {
	.name	= "queue-depth",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
