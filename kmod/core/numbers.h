/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers in names of subsystems and namespaces: the lowest free one, or for an object that returns its former
 * number, because scripts, dashboards and operators know it by that.
 */
#ifndef NOF_CORE_NUMBERS_H
#define NOF_CORE_NUMBERS_H

#include <linux/idr.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct nof_numbers;

/**
 * struct nof_number - the number of an object; remembers it when the object is gone
 * @nr:		valid after nof_number_take()
 * @inner:	numbers of the objects within it, remembered together with it, or NULL
 * @key:	identifies the object when it returns
 */
struct nof_number {
	struct list_head	entry;
	int			nr;
	struct nof_numbers	*inner;
	char			key[];
};

/**
 * struct nof_numbers - all numbers of one kind of object
 * @ida:	numbers in use, and remembered ones
 * @past:	struct nof_number of objects that are gone, oldest first, @nr_past of them; under @lock
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

/* Forgets the oldest numbers until no more than @most are remembered. Does not sleep. */
void nof_numbers_trim(struct nof_numbers *n, u32 most);
/* Forgets all numbers. None may be in use. */
void nof_numbers_exit(struct nof_numbers *n);

/* @inner: the object contains objects with numbers. Returns NULL if out of memory. Sleeps. */
struct nof_number *nof_number_alloc(const char *key, bool inner);
/*
 * Assigns the number that the key had, with its inner numbers, if it is remembered; else the lowest from @min on that
 * is neither in use nor remembered. Returns 0 or a negative errno. Context: as @gfp says.
 */
int nof_number_take(struct nof_numbers *n, struct nof_number *number, u32 min, gfp_t gfp);
/* Frees a number that was not taken. Does not sleep. */
void nof_number_free(struct nof_number *number);
/* Remembers the number of an object that is gone, and forgets the oldest above @most. Does not sleep. */
void nof_number_keep(struct nof_numbers *n, struct nof_number *number, u32 most);

#endif
