// SPDX-License-Identifier: GPL-2.0-only
/* numa: the path whose device is nearest; among equals the first. Stays with it, so that a path's caches stay warm. */
#include <linux/topology.h>
#include "core/ctrl.h"
#include "mpath/path.h"
#include "mpath/selectors.h"

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
