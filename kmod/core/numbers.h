/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers in names of subsystems and their namespaces: the lowest that is free, and for what comes back the one
 * that it had. Scripts, dashboards and people know it by that.
 */
#ifndef NOF_CORE_NUMBERS_H
#define NOF_CORE_NUMBERS_H

#include <linux/idr.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct nof_numbers;

/**
 * struct nof_number - of one thing; it is remembered in this when the thing is gone
 * @nr:		valid once it was taken
 * @inner:	those of the things within it, which are remembered with it, or NULL
 * @key:	by which it is known again
 */
struct nof_number {
	struct list_head	entry;
	int			nr;
	struct nof_numbers	*inner;
	char			key[];
};

/**
 * struct nof_numbers - all of one kind
 * @ida:	those in use, and those remembered
 * @past:	struct nof_number of what is gone, oldest first, @nr_past of them; under @lock
 */
struct nof_numbers {
	struct ida		ida;
	spinlock_t		lock;
	struct list_head	past;
	u32			nr_past;
};

#define NOF_NUMBERS_INIT(name)	{						\
	.ida	= IDA_INIT((name).ida),						\
	.lock	= __SPIN_LOCK_UNLOCKED((name).lock),				\
	.past	= LIST_HEAD_INIT((name).past),					\
}

/* Forget the oldest ones until @most are remembered. Does not sleep. */
void nof_numbers_trim(struct nof_numbers *n, u32 most);
/* Forget all. No number may be in use. */
void nof_numbers_exit(struct nof_numbers *n);

/* Allocate one. @inner: there are things within it that have numbers. Returns NULL without memory. Sleeps. */
struct nof_number *nof_number_alloc(const char *key, bool inner);
/*
 * Give @number the one that its key had, if that is remembered, with what is within it; else the lowest from @min on
 * that is neither in use nor remembered. Returns 0 or a negative errno. Context: as @gfp says.
 */
int nof_number_take(struct nof_numbers *n, struct nof_number *number, u32 min, gfp_t gfp);
/* Free one that was not taken. Does not sleep. */
void nof_number_free(struct nof_number *number);
/* The thing is gone: remember its number, and forget the oldest above @most. Does not sleep. */
void nof_number_keep(struct nof_numbers *n, struct nof_number *number, u32 most);

#endif
