/* SPDX-License-Identifier: GPL-2.0-only */
/* Path selection: the selector, and the rules that apply to every selector (spill, probes, full queues). */
#ifndef NOF_MPATH_CHOOSE_H
#define NOF_MPATH_CHOOSE_H

struct nof_head;
struct nof_path;
struct nof_path_set;
struct nof_selector;
struct request;

/* Why a request is not sent on the path that the selector chose; for trace events */
enum nof_choice_why { NOF_CHOICE_PROBE, NOF_CHOICE_SPILL, NOF_CHOICE_OTHER };

/* NULL if no path is usable. @last: the request ends its batch. Context: SRCU read side, does not sleep. */
struct nof_path *nof_choose(struct nof_head *head, const struct nof_path_set *set, const struct nof_selector *selector,
			    struct request *rq, bool last);
/* @rq was not sent on @path, which nof_choose() returned: lets another request probe the path. Same context. */
void nof_choose_undo(struct nof_path *path, struct request *rq);
/*
 * Returns a path of another controller with room in its queue and an ANA state that is not stale, or NULL. Considers
 * healthy paths only if the set has any, else degraded ones, else all usable ones.
 */
struct nof_path *nof_choose_other(const struct nof_path_set *set, u32 ctrl_id, const struct request *rq);
/*
 * Chooses the path of a retry after the controller @ctrl_id: @path if it belongs to another controller, else another
 * controller's path. Avoids paths for which nof_ana_refuses() is true. Returns @path if there is no better one.
 */
struct nof_path *nof_choose_again(const struct nof_path_set *set, struct nof_path *path, u32 ctrl_id,
				  const struct request *rq);

#endif
