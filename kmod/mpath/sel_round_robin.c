// SPDX-License-Identifier: GPL-2.0-only
/* round-robin: one path after another, counted per CPU so that no cache line is shared. */
#include <linux/percpu.h>
#include "mpath/path.h"
#include "mpath/selector.h"
#include "mpath/selectors.h"

static DEFINE_PER_CPU(u32, turn);

static struct nof_path *select(struct nof_head *head, const struct nof_path_set *set, u16 nr, struct request *rq)
{
	return set->paths[this_cpu_inc_return(turn) % nr];
}

struct nof_selector nof_selector_round_robin = {
	.name	= "round-robin",
	.owner	= THIS_MODULE,
	.api	= NOF_SELECTOR_API,
	.select	= select,
};
