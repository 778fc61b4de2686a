// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include "core/queue.h"
#include "mpath/hctx.h"

/* blk-mq warns of more contexts than CPUs: the options have seen to that. */
static void spread(struct blk_mq_queue_map *map, u32 nr, u32 offset)
{
	map->nr_queues = nr;
	map->queue_offset = offset;
	blk_mq_map_queues(map);
}

void nof_hctx_map(struct blk_mq_tag_set *set)
{
	struct nof_subsys *s = set->driver_data;

	spread(&set->map[HCTX_TYPE_DEFAULT], s->nr_default, 0);
	if (set->nr_maps == 1)
		return;
	/* reads share the default contexts */
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	spread(&set->map[HCTX_TYPE_POLL], s->nr_poll, s->nr_default);
}

int nof_hctx_init(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct nof_hctx *h = kzalloc_node(sizeof(*h), GFP_KERNEL, hctx->numa_node);

	if (!h)
		return -ENOMEM;
	h->starved.hctx = hctx;
	hctx->driver_data = h;
	return 0;
}

void nof_hctx_exit(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	struct nof_subsys *s = hctx->queue->tag_set->driver_data;
	struct nof_hctx *h = hctx->driver_data;

	nof_queue_unstarve(&h->starved, &s->srcu);
	kfree(h);
}
