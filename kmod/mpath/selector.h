/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract of a path selector, and its registry. */
#ifndef NOF_MPATH_SELECTOR_H
#define NOF_MPATH_SELECTOR_H

#include <linux/list.h>
#include <linux/module.h>

struct nof_head;
struct nof_path;
struct nof_path_set;
struct request;

#define NOF_SELECTOR_API	1

/**
 * struct nof_selector - a policy that chooses among several paths
 * @name:	as in NVMEOF_A_IOPOLICY
 * @select:	one of set->paths; called only when the set has at least two paths of its best class; @set's first @nr
 *		paths are of that class. Context: SRCU read side of the subsystem, no sleeping, no allocation, any
 *		number of CPUs at once. Not NULL.
 */
struct nof_selector {
	struct list_head	entry;
	const char		*name;
	struct module		*owner;
	u16			api;

	struct nof_path *(*select)(struct nof_head *head, const struct nof_path_set *set, u16 nr, struct request *rq);
};

int nof_selector_register(struct nof_selector *s);
void nof_selector_unregister(struct nof_selector *s);
/* With a reference on its module; NULL if there is none of that name. */
struct nof_selector *nof_selector_get(const char *name);
void nof_selector_put(struct nof_selector *s);
/* Calls fn for each, under the registry's mutex, until it returns non-zero; returns that. */
int nof_selector_for_each(int (*fn)(const struct nof_selector *s, void *arg), void *arg);

#endif
