// SPDX-License-Identifier: GPL-2.0-only
/* round-robin: one path after another, counted by hardware context so that no cache line is shared by all CPUs. */
#include "mpath/selectors.h"

static struct nof_path *sel_round_robin_select(struct nof_path *const *paths, u16 nr, struct request *rq)
{
	u32 *scratch = nof_hctx_of(rq)->scratch, turn = READ_ONCE(*scratch) + 1;

	if (turn >= nr)
		turn = 0;
	WRITE_ONCE(*scratch, turn);
	return paths[turn];
}

struct nof_selector nof_selector_round_robin = {
	.name	= "round-robin",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= sel_round_robin_select,
};
