/* SPDX-License-Identifier: GPL-2.0-only */
/* The selectors of this module, and what some of them have in common. */
#ifndef NOF_MPATH_SELECTORS_H
#define NOF_MPATH_SELECTORS_H

#include "mpath/hctx.h"
#include "mpath/selector.h"

extern struct nof_selector nof_selector_numa;
extern struct nof_selector nof_selector_round_robin;
extern struct nof_selector nof_selector_queue_depth;
extern struct nof_selector nof_selector_latency;

int nof_selectors_init(void);
void nof_selectors_exit(void);

/*
 * The path that won last time against one of the others, each in its turn. Two looks at a path for each request,
 * however many paths there are, and what got better is found within as many requests as there are paths. The memory is
 * shared by the CPUs of a hardware context, without order: any value will do, so that any race may be lost.
 */
struct nof_duel {
	u32	best;
	u32	other;
};

static inline struct nof_duel nof_duel(u32 *scratch, u16 nr)
{
	u32 best = READ_ONCE(scratch[0]), other;

	if (likely(nr == 2))
		return (struct nof_duel) { best & 1, ~best & 1 };
	if (unlikely(best >= nr))
		best = 0;
	other = READ_ONCE(scratch[1]) + 1;
	if (other >= nr)
		other = 0;
	if (other == best && ++other == nr)
		other = 0;
	WRITE_ONCE(scratch[1], other);
	return (struct nof_duel) { best, other };
}

/* Which of the two it was: kept for the next time */
static inline u32 nof_duel_won(u32 *scratch, u32 won)
{
	WRITE_ONCE(scratch[0], won);
	return won;
}

#endif
