// SPDX-License-Identifier: GPL-2.0-only
/* The path set of a head: who is in it, in which class, and whether it is worth waiting. */
#include <linux/blk-mq.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/trace.h"
#include "core/work.h"
#include "mpath/ana.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/park.h"
#include "mpath/path.h"

/* The class a path is in now: the order of the set */
enum path_class { OPTIMIZED, NON_OPTIMIZED, DEGRADED, SUSPECT, UNFIT, IDLE, GONE };

static void free_set(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct nof_path_set, rcu));
}

static void free_set_later(struct rcu_head *rcu)
{
	call_srcu(container_of(rcu, struct nof_path_set, rcu)->srcu, rcu, free_set);
}

/*
 * The detour by RCU puts it off. A set is replaced when a path is lost, and then requests are about to wait for SRCU
 * readers of that path to leave (nof_queues_kill()): an expedited grace period, but not if one of the ordinary length
 * is already running.
 */
static void path_set_free(struct nof_path_set *set)
{
	call_rcu(&set->rcu, free_set_later);
}

bool nof_path_leaves_disk(const struct nof_path *path)
{
	return READ_ONCE(path->head->subsys->policy.delayed_removal_secs) && path->removal != NOF_REMOVAL_REPLACED &&
	       !test_bit(NOF_CTRL_UNWANTED, &path->ctrl->flags) && nof_head_state(path->head) == NOF_HEAD_VISIBLE;
}

/* The controller can carry I/O: also while it is being left in good order */
static bool carries_io(const struct nof_ctrl *ctrl)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);

	if (state == NVMEOF_CTRL_DELETING)
		return ctrl->deletion.from == NVMEOF_CTRL_LIVE && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	return state == NVMEOF_CTRL_LIVE;
}

/*
 * fast_io_fail_tmo also bounds the wait for a controller that is there, but whose ANA state allows no I/O: from when it
 * was so, and the disk had no other. What is left of it, in jiffies; 0 when it has passed, MAX_SCHEDULE_TIMEOUT without
 * a bound.
 */
static unsigned long wait_left(const struct nof_path *path)
{
	s32 tmo = READ_ONCE(path->ctrl->opts.fast_io_fail_tmo_ms);
	u64 since = max(path->ana_since, path->head->none_since), waited;

	if (tmo < 0 || nof_ctrl_state(path->ctrl) != NVMEOF_CTRL_LIVE || path->away)
		return MAX_SCHEDULE_TIMEOUT;
	waited = div_u64(ktime_get_boottime_ns() - since, NSEC_PER_MSEC);
	return waited < tmo ? msecs_to_jiffies(tmo - waited) + 1 : 0;
}

/* Persistent loss is what a live controller says now; after a reconnect it may say something else */
static bool may_come_back(const struct nof_path *path)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(path->ctrl);

	if (state == NVMEOF_CTRL_LIVE && path->ana_state == NVMEOF_ANA_PERSISTENT_LOSS)
		return false;
	if (state == NVMEOF_CTRL_LIVE && (path->ana_expired || path->unfit == NOF_UNFIT_CACHE || path->class == UNFIT))
		return false;
	/* on its way out: the disk stays, if it is the last one */
	if (state == NVMEOF_CTRL_LOST || nof_state_ends(state))
		return nof_path_leaves_disk(path);
	return !test_bit(NOF_CTRL_FAIL_FAST, &path->ctrl->flags) && wait_left(path);
}

static bool changing(const struct nof_subsys *s, u32 nsid)
{
	return s->changing && (!s->changing_nsid || s->changing_nsid == nsid);
}

static enum path_class path_set_class_of(const struct nof_path *path)
{
	if (!carries_io(path->ctrl))
		return GONE;
	/* its connections are about to be given up, and come back; or it activates firmware */
	if (test_bit(NOF_CTRL_YIELDS, &path->ctrl->flags) || test_bit(NOF_CTRL_PAUSED, &path->ctrl->flags))
		return IDLE;
	/* it is being made another */
	if (changing(path->ctrl->subsys, path->nsid))
		return IDLE;
	/* whatever else has this namespace ID now, nothing goes there before it was looked at */
	if (path->association != READ_ONCE(path->ctrl->association))
		return IDLE;
	if (!nof_ana_usable(path->ana_state) || path->unfit == NOF_UNFIT_CACHE || path->away)
		return IDLE;
	if (path->unfit)
		return UNFIT;
	if (READ_ONCE(path->ctrl->suspect))
		return SUSPECT;
	if (path->on_trial)
		return DEGRADED;
	return path->ana_state == NVMEOF_ANA_NON_OPTIMIZED ? NON_OPTIMIZED : OPTIMIZED;
}

/* Once for each set: states and completions change what it depends on */
static void classify(struct nof_path *path)
{
	path->away = nof_ana_refuses(path);
	WRITE_ONCE(path->on_trial, path->degraded || path->ctrl->probation.on);
	path->class = path_set_class_of(path);
}

/*
 * In the order of their classes, with two looks at each path: how many there are of each class, and where it goes. A
 * path that cannot do all that the disk promises is the last resort: rather than all requests those wait, or fail, that
 * are too much for it.
 */
static void fill_set(struct nof_head *head, struct nof_path_set *set)
{
	enum path_class worst = SUSPECT, class;
	u16 at[GONE + 2] = {};
	struct nof_path *path;

	list_for_each_entry(path, &head->paths, entry) {
		classify(path);
		at[path->class + 1]++;
	}
	for (class = OPTIMIZED; class < GONE; class++)
		at[class + 1] += at[class];
	set->nr_optimized = at[NON_OPTIMIZED];
	set->nr = at[DEGRADED];
	set->nr_sound = at[SUSPECT];
	set->nr_usable = at[UNFIT];
	set->nr_all = at[GONE];
	if (set->nr_usable) {
		head->none_since = 0;
	} else {
		head->none_since = head->none_since ?: ktime_get_boottime_ns();
		set->nr_usable = at[IDLE];
		worst = UNFIT;
	}
	set->nr_best = set->nr_optimized ?: set->nr ?: set->nr_sound ?: set->nr_usable;
	set->may_wait = nof_head_state(head) == NOF_HEAD_LINGERING;
	list_for_each_entry(path, &head->paths, entry) {
		if (path->class < GONE)
			set->paths[at[path->class]++] = path;
		path->usable = path->class <= worst;
		set->may_wait = set->may_wait || may_come_back(path);
	}
	set->may_wait &= !nof_head_ends(head);
}

/* When the last path is no longer waited for, that has to be said */
static void set_expiry(struct nof_head *head, const struct nof_path_set *set)
{
	unsigned long left = MAX_SCHEDULE_TIMEOUT;
	struct nof_path *path;

	if (!head->none_since || !set->may_wait)
		return;
	list_for_each_entry(path, &head->paths, entry)
		if (may_come_back(path))
			left = min(left, wait_left(path));
	if (left < MAX_SCHEDULE_TIMEOUT)
		mod_delayed_work(nof_recovery_wq, &head->expiry_work, left);
}

void nof_head_publish(struct nof_head *head)
{
	struct nof_path_set *set, *old;

	lockdep_assert_held(&head->subsys->lock);
	/* A few dozen bytes. Recovery depends on it, so it may not fail, nor wait for I/O. */
	set = kzalloc(struct_size(set, paths, head->nr_paths), GFP_NOIO | __GFP_NOFAIL);
	set->srcu = &head->subsys->srcu;
	fill_set(head, set);
	old = rcu_replace_pointer(head->set, set, true);
	/*
	 * The set is visible before the new sequence number is: a request that begins to wait with the old number is
	 * kicked, by itself or by us.
	 */
	smp_wmb();
	WRITE_ONCE(head->set_seq, head->set_seq + 1);
	trace_nof_path_set(head, set);
	if (old)
		path_set_free(old);
	smp_mb();
	if (nof_head_state(head) == NOF_HEAD_GONE)
		return;
	if (!list_empty(&head->disk->queue->requeue_list))
		blk_mq_kick_requeue_list(head->disk->queue);
	nof_park_kick(head);
	nof_head_review_paths(head);
	if (set->nr_usable) {
		nof_head_show_later(head);
		nof_head_read_partitions(head);
	}
	set_expiry(head, set);
}

void nof_paths_publish(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head;
	struct nof_path *path;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(head, &s->heads, entry)
		list_for_each_entry(path, &head->paths, entry)
			if (path->ctrl == ctrl) {
				nof_head_publish(head);
				break;
			}
}
