// SPDX-License-Identifier: GPL-2.0-only
/* numa: the path whose device is nearest; among equals the first. Stays with it, so that a path's caches stay warm. */
#include <linux/topology.h>
#include "core/ctrl.h"
#include "mpath/path.h"
#include "mpath/selectors.h"

static int distance(const struct nof_choice *c, u16 i)
{
	int from = c->rq->mq_hctx->numa_node, to = dev_to_node(&c->paths[i]->ctrl->dev);

	if (from == NUMA_NO_NODE || to == NUMA_NO_NODE)
		return LOCAL_DISTANCE;
	return node_distance(from, to);
}

static u16 select(const struct nof_choice *c)
{
	struct nof_duel duel;
	int best, other;

	if (nr_online_nodes == 1)
		return 0;
	duel = nof_duel(c);
	best = distance(c, duel.best);
	other = distance(c, duel.other);
	return nof_duel_won(&duel, other < best || (other == best && duel.other < duel.best));
}

struct nof_selector nof_selector_numa = {
	.name	= "numa",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
