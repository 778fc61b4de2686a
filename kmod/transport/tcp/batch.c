// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for what is being sent. A machine may have a hundred thousand connections, nearly all of them idle: each keeps
 * what a few commands need, and one that sends takes a large batch, which its CPU keeps for who sends there next.
 */
#include <linux/percpu.h>
#include <linux/slab.h>
#include "transport/tcp/tcp.h"

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

void nof_tcp_batch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu(batch_kept, cpu));
}
