// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for what is being sent. A machine may have a hundred thousand connections, nearly all of them idle: each keeps
 * what a few commands need, and one that sends takes a large batch, which its CPU keeps for who sends there next.
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include "tcp/tcp.h"

static DEFINE_PER_CPU(struct nof_tcp_batch *, batch_kept);

#define BATCH_HEADERS(bytes, bvecs, pieces)							\
	((bytes) - sizeof(struct nof_tcp_batch) - (bvecs) * sizeof(struct bio_vec) -		\
	 (pieces) * sizeof(struct nof_tcp_piece))

static_assert(BATCH_HEADERS(NOF_TCP_SMALL, NOF_TCP_SMALL_BVECS, NOF_TCP_SMALL_PIECES) >= 2 * NOF_TCP_PDU_ROOM);

/* Its headers are sent as pages, so no vmalloc. */
static struct nof_tcp_batch *batch_alloc(u32 bytes, u16 bvecs, u16 pieces, gfp_t gfp, int node)
{
	struct nof_tcp_batch *b = kmalloc_node(bytes, gfp, node);

	if (!b)
		return NULL;
	b->max_bvecs = bvecs;
	b->max_pieces = pieces;
	b->max_headers = BATCH_HEADERS(bytes, bvecs, pieces);
	b->pieces = (void *)&b->bvecs[bvecs];
	b->headers = (void *)&b->pieces[pieces];
	return b;
}

struct nof_tcp_batch *nof_tcp_batch_take(void)
{
	return this_cpu_xchg(batch_kept, NULL) ?:
	       batch_alloc(NOF_TCP_BATCH, NOF_TCP_BVECS, NOF_TCP_PIECES, GFP_NOWAIT | __GFP_NOWARN, NUMA_NO_NODE);
}

void nof_tcp_batch_give(struct nof_tcp_batch *batch)
{
	kfree(this_cpu_xchg(batch_kept, batch));
}

struct nof_tcp_batch *nof_tcp_batch_small(int node)
{
	return batch_alloc(NOF_TCP_SMALL, NOF_TCP_SMALL_BVECS, NOF_TCP_SMALL_PIECES, GFP_KERNEL, node);
}

static u32 chunk_size(struct page *chunk)
{
	return PAGE_SIZE << compound_order(chunk);
}

static void fill_chunk(struct nof_tcp_copies *copies, struct page *chunk)
{
	copies->chunk = chunk;
	copies->used = 0;
}

bool nof_tcp_copies_init(struct nof_tcp_copies *copies, int node)
{
	struct page *kept = alloc_pages_node(node, GFP_KERNEL, 0);

	INIT_LIST_HEAD(&copies->chunks);
	if (!kept)
		return false;
	list_add(&kept->lru, &copies->chunks);
	fill_chunk(copies, kept);
	return true;
}

void nof_tcp_copies_exit(struct nof_tcp_copies *copies)
{
	nof_tcp_copies_give(copies);
	__free_page(copies->chunk);
}

void nof_tcp_copies_reset(struct nof_tcp_copies *copies)
{
	fill_chunk(copies, list_first_entry(&copies->chunks, struct page, lru));
}

void nof_tcp_copies_give(struct nof_tcp_copies *copies)
{
	struct page *chunk, *next;

	nof_tcp_copies_reset(copies);
	chunk = list_next_entry(copies->chunk, lru);
	list_for_each_entry_safe_from(chunk, next, &copies->chunks, lru) {
		list_del(&chunk->lru);
		__free_pages(chunk, compound_order(chunk));
	}
}

/* One of the batch before, or a new one */
static bool next_chunk(struct nof_tcp_copies *copies)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN | __GFP_COMP;
	struct page *chunk;

	if (!list_is_last(&copies->chunk->lru, &copies->chunks)) {
		fill_chunk(copies, list_next_entry(copies->chunk, lru));
		return true;
	}
	chunk = alloc_pages(gfp & ~__GFP_RECLAIM, NOF_TCP_CHUNK) ?: alloc_page(gfp);
	if (!chunk)
		return false;
	list_add_tail(&chunk->lru, &copies->chunks);
	fill_chunk(copies, chunk);
	return true;
}

void *nof_tcp_copies_room(struct nof_tcp_copies *copies, u32 *len)
{
	void *room;

	if (copies->used == chunk_size(copies->chunk) && !next_chunk(copies))
		return NULL;
	room = page_address(copies->chunk) + copies->used;
	*len = min(*len, chunk_size(copies->chunk) - copies->used);
	copies->used += *len;
	return room;
}

void nof_tcp_batch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu(batch_kept, cpu));
}
