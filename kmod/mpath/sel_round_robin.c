// SPDX-License-Identifier: GPL-2.0-only
/* round-robin: one path after another, counted by hardware context so that no cache line is shared by all CPUs. */
#include "mpath/selectors.h"

static u16 select(const struct nof_choice *c)
{
	u32 *scratch = nof_hctx_of(c->rq)->scratch, turn = READ_ONCE(*scratch) + 1;

	if (turn >= c->nr)
		turn = 0;
	WRITE_ONCE(*scratch, turn);
	return turn;
}

struct nof_selector nof_selector_round_robin = {
	.name	= "round-robin",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
