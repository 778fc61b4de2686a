// SPDX-License-Identifier: GPL-2.0-only
/*
 * Path selection. The selector chooses among the paths of the best class. The rules that apply to every selector are
 * here: probes of degraded paths, spilling to non-optimized paths, full queues. The selectors are in mpath/selectors.c.
 */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/sizes.h>
#include <linux/topology.h>
#include "core/ctrl.h"
#include "core/probation.h"
#include "core/queue.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "mpath/ana.h"
#include "mpath/choose.h"
#include "mpath/degrade.h"
#include "mpath/hctx.h"
#include "mpath/head.h"
#include "mpath/latency.h"
#include "mpath/path.h"
#include "mpath/request.h"
#include "mpath/selector.h"
#include "mpath/subsys.h"

/* A probe that has not completed after this time is followed by another one */
#define PROBE_LOST	(2 * HZ)

static struct nof_path *choose_pick(struct nof_path *const *paths, u16 nr, const struct nof_selector *selector,
				    struct request *rq)
{
	return likely(nr > 1) ? selector->select(paths, nr, rq) : paths[0];
}

/*
 * Claims the next probe of a degraded path: one at a time over all CPUs, until nof_degrade_probed() allows another.
 * Only reads probe: if the path is lost, the outcome of a write would be unknown.
 */
static bool probe_claim(struct nof_path *path, const struct request *rq)
{
	unsigned long at = READ_ONCE(path->probe_at);

	return req_op(rq) == REQ_OP_READ && time_after_eq(jiffies, at) &&
	       cmpxchg(&path->probe_at, at, jiffies + PROBE_LOST) == at;
}

static struct nof_path *choose_probe(const struct nof_path_set *set, struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);
	u16 i;

	/* a request that has failed before must not be risked on a degraded path */
	if (req->retries || req->losses || req->left_ctrl)
		return NULL;
	/* suspect paths need no probe: their outstanding commands show whether the controller answers */
	for (i = set->nr; i < set->nr_unsuspected; i++) {
		struct nof_path *path = set->paths[i];
		struct nof_ctrl *ctrl = path->ctrl;

		if (READ_ONCE(ctrl->probation.on) ? nof_probation_takes(ctrl, rq) : probe_claim(path, rq)) {
			req->trial = true;
			trace_nof_path_choice(path, NOF_CHOICE_PROBE);
			return path;
		}
	}
	return NULL;
}

void nof_choose_undo(struct nof_path *path, struct request *rq)
{
	struct nof_request *req = blk_mq_rq_to_pdu(rq);

	if (likely(!req->trial))
		return;
	req->trial = false;
	if (READ_ONCE(path->ctrl->probation.on))
		nof_probation_trial_cancel(&path->ctrl->probation, jiffies);
	else
		WRITE_ONCE(path->probe_at, jiffies);
}

/* Latency (ns, 0: unknown) and commands outstanding of a path, for requests of one class and hardware context */
struct path_estimate {
	u32	ewma;
	u32	depth;
};

static struct path_estimate path_estimate_of(const struct nof_path *path, u32 hctx, enum nof_lat_class class)
{
	const struct nof_path_lat *lat = &path->lat[hctx];

	return (struct path_estimate) {
		.ewma = nof_lat_known(jiffies, READ_ONCE(lat->ewma[class]), READ_ONCE(lat->heard[class])),
		.depth = nof_path_depth(path, hctx),
	};
}

static bool choose_over(const struct nof_policy *policy, const struct path_estimate *p)
{
	u32 us = READ_ONCE(policy->spill_us), depth = READ_ONCE(policy->spill_depth);

	return (depth && p->depth >= depth) || (us && nof_lat_expect(p->ewma, p->depth) > (u64)us * NSEC_PER_USEC);
}

/* Returns a non-optimized path if all optimized paths exceed the spill limits and it is faster than @chosen */
static struct nof_path *choose_spill(struct nof_head *head, const struct nof_path_set *set, struct nof_path *chosen,
				     const struct nof_selector *selector, struct request *rq)
{
	enum nof_lat_class class = nof_rq_class(rq);
	const struct nof_policy *policy = &head->subsys->policy;
	u32 hctx = rq->mq_hctx->queue_num;
	struct path_estimate here = path_estimate_of(chosen, hctx, class), there;
	struct nof_path *path;
	u16 i;

	if (!choose_over(policy, &here))
		return chosen;
	for (i = 0; i < set->nr_optimized; i++) {
		there = path_estimate_of(set->paths[i], hctx, class);
		if (!choose_over(policy, &there))
			return chosen;
	}
	path = choose_pick(set->paths + set->nr_optimized, set->nr - set->nr_optimized, selector, rq);
	there = path_estimate_of(path, hctx, class);
	if (!nof_lat_better(here.ewma, here.depth, there.ewma, there.depth))
		return chosen;
	trace_nof_path_choice(path, NOF_CHOICE_SPILL);
	return path;
}

static bool may_spill(const struct nof_policy *policy, const struct request *rq)
{
	return (READ_ONCE(policy->spill_us) || READ_ONCE(policy->spill_depth)) && nof_rq_measured(rq);
}

/*
 * Small requests of a batch are sent on the same path, whatever the selector: sending and completing them together
 * halves their cost.
 */
#define RUN_MAX		16
#define RUN_BYTES	SZ_16K

static struct nof_path *begin_run(struct nof_hctx *h, const struct nof_path_set *set,
				  const struct nof_selector *selector, struct request *rq)
{
	struct nof_path *path = selector->select(set->paths, set->nr_best, rq);
	u16 i = 0;

	while (i < set->nr_best - 1 && set->paths[i] != path)
		i++;
	WRITE_ONCE(h->run_set, set);
	WRITE_ONCE(h->run_path, i);
	WRITE_ONCE(h->run_left, RUN_MAX - 1);
	return path;
}

/* Continues or begins a run of a batch */
static struct nof_path *pick_in_run(const struct nof_path_set *set, const struct nof_selector *selector,
				    struct request *rq, bool last)
{
	struct nof_hctx *h = nof_hctx_of(rq);
	u16 left = READ_ONCE(h->run_left), i = READ_ONCE(h->run_path);

	/* CPUs that share the context update these members without a lock: treat them as hints */
	if (left && READ_ONCE(h->run_set) == set && i < set->nr_best && blk_rq_bytes(rq) <= RUN_BYTES) {
		WRITE_ONCE(h->run_left, last ? 0 : left - 1);
		return set->paths[i];
	}
	if (last || blk_rq_bytes(rq) > RUN_BYTES)
		return selector->select(set->paths, set->nr_best, rq);
	return begin_run(h, set, selector, rq);
}

static noinline struct nof_path *choose_slow(struct nof_head *head, const struct nof_path_set *set,
					     const struct nof_selector *selector, struct request *rq)
{
	struct nof_path *path = set->nr && set->nr_unsuspected > set->nr ? choose_probe(set, rq) : NULL;

	if (path)
		return path;
	path = choose_pick(set->paths, set->nr_best, selector, rq);
	if (set->nr_best < set->nr && may_spill(&head->subsys->policy, rq))
		path = choose_spill(head, set, path, selector, rq);
	return path;
}

struct nof_path *nof_choose(struct nof_head *head, const struct nof_path_set *set, const struct nof_selector *selector,
			    struct request *rq, bool last)
{
	if (unlikely(!set->nr_best))
		return NULL;
	if (unlikely(set->nr_best < set->nr_usable))
		return choose_slow(head, set, selector, rq);
	if (likely(set->nr_best == 1))
		return set->paths[0];
	return pick_in_run(set, selector, rq, last);
}

static bool has_room(const struct nof_path *path, u32 hctx)
{
	const struct nof_ctrl_map *map = srcu_dereference(path->ctrl->queues.map, &path->ctrl->subsys->srcu);
	const struct nof_queue *queue = map ? map->queues[hctx] : NULL;

	return queue && nof_queue_live(queue) && atomic_read(&queue->inflight) < queue->limit;
}

static struct nof_path *other_of(const struct nof_path_set *set, u16 nr, u32 ctrl_id, const struct request *rq)
{
	u16 i;

	for (i = 0; i < nr; i++) {
		struct nof_path *path = set->paths[i];

		if (path->ctrl->id == ctrl_id || nof_ana_refuses(path) || !has_room(path, rq->mq_hctx->queue_num))
			continue;
		trace_nof_path_choice(path, NOF_CHOICE_OTHER);
		return path;
	}
	return NULL;
}

struct nof_path *nof_choose_other(const struct nof_path_set *set, u32 ctrl_id, const struct request *rq)
{
	return other_of(set, set->nr ?: set->nr_unsuspected ?: set->nr_usable, ctrl_id, rq);
}

struct nof_path *nof_choose_again(const struct nof_path_set *set, struct nof_path *path, u32 ctrl_id,
				  const struct request *rq)
{
	bool refuses = nof_ana_refuses(path);
	struct nof_path *other;

	if (path->ctrl->id != ctrl_id && !refuses)
		return path;
	other = nof_choose_other(set, ctrl_id, rq);
	if (!other && refuses)
		other = nof_choose_other(set, path->ctrl->id, rq);
	return other ?: path;
}
