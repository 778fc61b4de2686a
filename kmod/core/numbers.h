/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers in names: of subsystems, and within one, of its controllers and namespaces. */
#ifndef NOF_CORE_NUMBERS_H
#define NOF_CORE_NUMBERS_H

#include <linux/idr.h>
#include <linux/limits.h>

/* Short names matter, too: as many go by before a number comes again. More than these at a time get higher ones. */
#define NOF_NUMBERS_WRAP	9999

/**
 * struct nof_numbers - given out in turn, so that a name which went does not come back at once: what an operator is
 * typing, a script remembers, or udev still works at, is not suddenly something else
 * @ida:	those in use
 * @next:	tried first. No lock: of two that try the same one gets the number after it
 */
struct nof_numbers {
	struct ida	ida;
	u32		next;
};

static inline void nof_numbers_init(struct nof_numbers *n)
{
	ida_init(&n->ida);
	n->next = 0;
}

static inline void nof_numbers_exit(struct nof_numbers *n)
{
	ida_destroy(&n->ida);
}

/* @min or more; a negative errno if there is none. Process context, may sleep. */
static inline int nof_number_take(struct nof_numbers *n, u32 min)
{
	int nr = ida_alloc_range(&n->ida, max(READ_ONCE(n->next), min), NOF_NUMBERS_WRAP, GFP_KERNEL);

	if (nr == -ENOSPC)
		nr = ida_alloc_range(&n->ida, min, INT_MAX, GFP_KERNEL);
	if (nr >= 0)
		WRITE_ONCE(n->next, nr < NOF_NUMBERS_WRAP ? nr + 1 : 0);
	return nr;
}

/* This one, if it is free */
static inline int nof_number_take_this(struct nof_numbers *n, u32 nr)
{
	return ida_alloc_range(&n->ida, nr, nr, GFP_KERNEL);
}

static inline void nof_number_give(struct nof_numbers *n, u32 nr)
{
	ida_free(&n->ida, nr);
}

#endif
