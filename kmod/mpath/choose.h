/* SPDX-License-Identifier: GPL-2.0-only */
/* Which path a request takes: the selector's word, and what holds for every policy (spill, probes, full queues). */
#ifndef NOF_MPATH_CHOOSE_H
#define NOF_MPATH_CHOOSE_H

struct nof_head;
struct nof_path;
struct nof_path_set;
struct nof_selector;
struct request;

/* Why a request goes to another path than the selector's: for traces */
enum nof_choice_why { NOF_CHOICE_PROBE, NOF_CHOICE_SPILL, NOF_CHOICE_FULL };

/* NULL when no path is usable. Context: SRCU read side, no sleeping. */
struct nof_path *nof_choose(struct nof_head *head, const struct nof_path_set *set, const struct nof_selector *selector,
			    struct request *rq);
/* A usable path other than @full, whose queue has room; NULL if there is none. */
struct nof_path *nof_choose_other(const struct nof_path_set *set, const struct nof_path *full,
				  const struct request *rq);

#endif
