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

#define NOF_SELECTOR_API	3

/**
 * struct nof_selector - a policy that chooses among several paths
 * @name:	as in NVMEOF_A_IOPOLICY
 * @select:	returns one of @paths: @nr usable ones, at least two, of one class such as optimized.
 *		rq->mq_hctx->queue_num is the index into path->lat, and nof_hctx_of(rq)->scratch the selector's own
 *		memory for this head and hardware context. Context: SRCU read side of the subsystem, no sleeping, no
 *		allocation, any number of CPUs at once.
 * @start:	optional: the request is about to be sent on path, even if @select did not choose it. Same context.
 * @end:	optional: called once for each @start, when the request is off that path; ns since @start. SRCU read
 *		side, softirq or process, no sleeping.
 *
 * path->sel belongs to the selector and is zero when it is installed. Requests started before that get no @end.
 */
struct nof_selector {
	struct list_head	entry;
	const char		*name;
	struct module		*owner;
	u16			api;

	struct nof_path *(*select)(struct nof_path *const *paths, u16 nr, struct request *rq);
	void (*start)(struct nof_path *path, struct request *rq);
	void (*end)(struct nof_path *path, struct request *rq, u64 ns);
};

int nof_selector_register(struct nof_selector *s);
void nof_selector_unregister(struct nof_selector *s);
/* Takes a reference on its module; NULL if there is none of that name. */
struct nof_selector *nof_selector_get(const char *name);
void nof_selector_put(struct nof_selector *s);
/* Calls fn for each, under the registry's mutex, until it returns non-zero; returns that. */
int nof_selector_for_each(int (*fn)(const struct nof_selector *s, void *arg), void *arg);

#endif
