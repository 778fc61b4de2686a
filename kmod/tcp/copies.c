// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of data to send, in chunks of pages that are spliced to the socket. Where a copy is necessary, TCP would copy
 * as well, into newly allocated pages that the kernel zeroes first. And a digest has to be calculated over a copy that
 * nobody changes.
 *
 * A chunk belongs to one queue while a batch refers to it, and then goes to the pool of its NUMA node. Socket buffers
 * hold references to its pages, also those of a receiver on this machine. It is used again only once the pool's
 * reference is the last one.
 *
 * Context: process.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/topology.h>
#include "tcp/tcp.h"

#define POOL_CHUNKS	(SZ_8M >> (PAGE_SHIFT + NOF_TCP_CHUNK))	/* that a node's pool keeps */
#define POOL_TRIES	4	/* chunks that are looked at until one is free */

struct pool {
	spinlock_t		lock;
	struct list_head	chunks;	/* linked by page.lru, the one used least recently first */
	u32			nr;
};

static struct pool *pools;	/* of each node */

static u32 chunk_size(struct page *chunk)
{
	return PAGE_SIZE << compound_order(chunk);
}

/* Returns a chunk that nothing else refers to, or NULL */
static struct page *pool_take(struct pool *pool)
{
	struct page *chunk, *found = NULL;
	int tries;

	spin_lock(&pool->lock);
	for (tries = 0; tries < POOL_TRIES && !found; tries++) {
		chunk = list_first_entry_or_null(&pool->chunks, struct page, lru);
		if (!chunk)
			break;
		if (page_ref_count(chunk) == 1) {
			list_del(&chunk->lru);
			pool->nr--;
			found = chunk;
		} else {
			list_move_tail(&chunk->lru, &pool->chunks);
		}
	}
	spin_unlock(&pool->lock);
	return found;
}

static void pool_put(struct page *chunk)
{
	struct pool *pool = &pools[page_to_nid(chunk)];

	if (compound_order(chunk) == NOF_TCP_CHUNK) {
		spin_lock(&pool->lock);
		if (pool->nr < POOL_CHUNKS) {
			list_add_tail(&chunk->lru, &pool->chunks);
			pool->nr++;
			chunk = NULL;
		}
		spin_unlock(&pool->lock);
	}
	if (chunk)
		put_page(chunk);
}

static bool next_chunk(struct nof_tcp_copies *copies)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN | __GFP_COMP;
	struct page *chunk = pool_take(&pools[numa_mem_id()]);

	if (!chunk)
		/* the pool keeps chunks of several pages: these must not come from the reserves */
		chunk = alloc_pages((gfp & ~__GFP_RECLAIM) | __GFP_NOMEMALLOC, NOF_TCP_CHUNK) ?: alloc_page(gfp);
	if (!chunk)
		return false;
	list_add(&chunk->lru, &copies->chunks);
	copies->used = 0;
	return true;
}

static bool take_kept(struct nof_tcp_copies *copies, u32 len, struct bio_vec *bv)
{
	u32 n;

	if (!copies->kept || copies->kept_used == PAGE_SIZE)
		return false;
	n = min_t(u32, len, PAGE_SIZE - copies->kept_used);
	bvec_set_page(bv, copies->kept, n, copies->kept_used);
	copies->kept_used += n;
	return true;
}

static bool take_chunk(struct nof_tcp_copies *copies, u32 len, struct bio_vec *bv)
{
	struct page *chunk = list_first_entry_or_null(&copies->chunks, struct page, lru);
	u32 n;

	if (!chunk || copies->used == chunk_size(chunk)) {
		if (!next_chunk(copies))
			return false;
		chunk = list_first_entry(&copies->chunks, struct page, lru);
	}
	n = min(len, chunk_size(chunk) - copies->used);
	bvec_set_page(bv, chunk, n, copies->used);
	copies->used += n;
	return true;
}

bool nof_tcp_copies_room(struct nof_tcp_copies *copies, u32 len, struct bio_vec *bv, bool *splice)
{
	if (*splice && take_chunk(copies, len, bv))
		return true;
	*splice = false;
	return take_kept(copies, len, bv) || take_chunk(copies, len, bv);
}

void nof_tcp_copies_reset(struct nof_tcp_copies *copies)
{
	struct page *chunk, *next;

	copies->kept_used = 0;
	list_for_each_entry_safe(chunk, next, &copies->chunks, lru) {
		list_del(&chunk->lru);
		pool_put(chunk);
	}
}

bool nof_tcp_copies_init(struct nof_tcp_copies *copies, bool keep, int node)
{
	INIT_LIST_HEAD(&copies->chunks);
	copies->kept = keep ? alloc_pages_node(node, GFP_KERNEL, 0) : NULL;
	return !keep || copies->kept;
}

void nof_tcp_copies_exit(struct nof_tcp_copies *copies)
{
	nof_tcp_copies_reset(copies);
	if (copies->kept)
		__free_page(copies->kept);
	copies->kept = NULL;
}

int nof_tcp_pools_init(void)
{
	int node;

	pools = kcalloc(nr_node_ids, sizeof(*pools), GFP_KERNEL);
	if (!pools)
		return -ENOMEM;
	for (node = 0; node < nr_node_ids; node++) {
		spin_lock_init(&pools[node].lock);
		INIT_LIST_HEAD(&pools[node].chunks);
	}
	return 0;
}

void nof_tcp_pools_exit(void)
{
	struct page *chunk, *next;
	int node;

	for (node = 0; node < nr_node_ids; node++) {
		list_for_each_entry_safe(chunk, next, &pools[node].chunks, lru) {
			list_del(&chunk->lru);
			put_page(chunk);
		}
	}
	kfree(pools);
}
