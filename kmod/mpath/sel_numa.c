// SPDX-License-Identifier: GPL-2.0-only
/* numa: the path whose queue is nearest; on one node, the first. Stays with it, so that a path's caches stay warm. */
#include <linux/topology.h>
#include "core/ctrl.h"
#include "mpath/path.h"
#include "mpath/selector.h"
#include "mpath/selectors.h"

static struct nof_path *select(struct nof_head *head, const struct nof_path_set *set, u16 nr, struct request *rq)
{
	int node = numa_node_id(), best = INT_MAX, distance;
	struct nof_path *path = set->paths[0];
	u16 i;

	for (i = 0; i < nr; i++) {
		int at = dev_to_node(&set->paths[i]->ctrl->dev);

		distance = at == NUMA_NO_NODE ? LOCAL_DISTANCE : node_distance(node, at);
		if (distance < best) {
			best = distance;
			path = set->paths[i];
		}
	}
	return path;
}

struct nof_selector nof_selector_numa = {
	.name	= "numa",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
