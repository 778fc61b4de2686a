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
enum nof_choice_why { NOF_CHOICE_PROBE, NOF_CHOICE_SPILL, NOF_CHOICE_OTHER };

/* NULL when no path is usable. @last: no more of its batch follow. Context: SRCU read side, no sleeping. */
struct nof_path *nof_choose(struct nof_head *head, const struct nof_path_set *set, const struct nof_selector *selector,
			    struct request *rq, bool last);
/* @rq could not be queued on @path, which nof_choose() returned: another request may try the path. Same context. */
void nof_choose_undo(struct nof_path *path, struct request *rq);
/* A healthy path by another controller than that one, which refuses nothing and has room; NULL if there is none. */
struct nof_path *nof_choose_other(const struct nof_path_set *set, u32 ctrl_id, const struct request *rq);
/*
 * For a request that this controller could not carry, in this order: @path, a path by another controller, one by this
 * one; of these none that has refused a request for its ANA state. @path all the same if there is no such path.
 */
struct nof_path *nof_choose_again(const struct nof_path_set *set, struct nof_path *path, u32 ctrl_id,
				  const struct request *rq);

#endif
