// SPDX-License-Identifier: GPL-2.0-only
/* The path set of a head: which class each path is in, and whether requests wait for a path. */
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

/* Classes of paths, in the order of the set */
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
 * Frees the set after an RCU grace period and then an SRCU one. A set is replaced when a path is lost, and
 * nof_queues_cancel() then waits for an expedited SRCU grace period, which a running one of ordinary length would
 * delay. The RCU grace period postpones call_srcu() beyond that.
 */
static void path_set_free(struct nof_path_set *set)
{
	call_rcu(&set->rcu, free_set_later);
}

bool nof_path_disk_lingers(const struct nof_path *path)
{
	const struct nof_head *head = path->head;

	return READ_ONCE(head->subsys->policy.delayed_removal_secs) && path->removal != NOF_REMOVAL_REPLACED &&
	       !test_bit(NOF_CTRL_EXPLICIT_DELETE, &path->ctrl->flags) && nof_head_state(head) == NOF_HEAD_VISIBLE;
}

/* The controller can carry I/O: it is live, or is being deleted from LIVE and its queues still work */
static bool carries_io(const struct nof_ctrl *ctrl)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(ctrl);

	if (state == NVMEOF_CTRL_DELETING)
		return ctrl->deletion.from == NVMEOF_CTRL_LIVE && !test_bit(NOF_CTRL_ATTEMPT_FAILED, &ctrl->flags);
	return state == NVMEOF_CTRL_LIVE;
}

/*
 * fast_io_fail_tmo also bounds the wait for a path whose controller is live but whose ANA state allows no I/O, counted
 * from when that state began and the disk had no other path. Returns the remaining time in jiffies; 0 when it has
 * passed, MAX_SCHEDULE_TIMEOUT without a bound.
 */
static unsigned long wait_left(const struct nof_path *path)
{
	s32 tmo = READ_ONCE(path->ctrl->opts.fast_io_fail_tmo_ms);
	u64 since = max(path->ana_since, path->head->no_full_path_since), waited;

	if (tmo < 0 || nof_ctrl_state(path->ctrl) != NVMEOF_CTRL_LIVE || path->away)
		return MAX_SCHEDULE_TIMEOUT;
	waited = div_u64(ktime_get_boottime_ns() - since, NSEC_PER_MSEC);
	return waited < tmo ? msecs_to_jiffies(tmo - waited) + 1 : 0;
}

/* Persistent loss counts only while the controller is live; after a reconnect it may report another state */
static bool may_come_back(const struct nof_path *path)
{
	enum nvmeof_ctrl_state state = nof_ctrl_state(path->ctrl);

	if (state == NVMEOF_CTRL_LIVE && path->ana_state == NVMEOF_ANA_PERSISTENT_LOSS)
		return false;
	if (state == NVMEOF_CTRL_LIVE && (path->ana_expired || path->unfit == NOF_UNFIT_CACHE || path->class == UNFIT))
		return false;
	/* being removed: a firmware activation may end before; if it is the last path, the disk may linger */
	if (state == NVMEOF_CTRL_LOST || nof_state_ends(state))
		return (carries_io(path->ctrl) && nof_ctrl_is_paused(path->ctrl)) || nof_path_disk_lingers(path);
	return !test_bit(NOF_CTRL_FAIL_FAST, &path->ctrl->flags) && wait_left(path);
}

static bool group_is_changing(const struct nof_subsys *s, u32 nsid)
{
	return s->changing && (!s->changing_nsid || s->changing_nsid == nsid);
}

static enum path_class path_set_class_of(const struct nof_path *path)
{
	if (!carries_io(path->ctrl))
		return GONE;
	/* it gives up its transport for a while, or activates firmware */
	if (test_bit(NOF_CTRL_EXCHANGE, &path->ctrl->flags) || test_bit(NOF_CTRL_PAUSED, &path->ctrl->flags))
		return IDLE;
	/* a command may be changing the namespace, see nof_paths_suspend() */
	if (group_is_changing(path->ctrl->subsys, path->nsid))
		return IDLE;
	/* another namespace may have this NSID now: no I/O before a scan has verified it */
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

/* Called once for each set, because states and completions change the inputs at any time */
static void path_classify(struct nof_path *path)
{
	path->away = nof_ana_refuses(path);
	WRITE_ONCE(path->on_trial, path->degraded || path->ctrl->probation.on);
	path->class = path_set_class_of(path);
}

/*
 * Sorts the paths by class in two passes: one counts each class, one places the paths. Paths that cannot keep all
 * limits of the disk are the last resort: then only the requests that exceed their limits wait or fail.
 */
static void fill_set(struct nof_head *head, struct nof_path_set *set)
{
	enum path_class worst = SUSPECT, class;
	u16 at[GONE + 2] = {};
	struct nof_path *path;

	list_for_each_entry(path, &head->paths, entry) {
		path_classify(path);
		at[path->class + 1]++;
	}
	for (class = OPTIMIZED; class < GONE; class++)
		at[class + 1] += at[class];
	set->nr_optimized = at[NON_OPTIMIZED];
	set->nr = at[DEGRADED];
	set->nr_unsuspected = at[SUSPECT];
	set->nr_usable = at[UNFIT];
	set->nr_all = at[GONE];
	if (set->nr_usable) {
		head->no_full_path_since = 0;
	} else {
		head->no_full_path_since = head->no_full_path_since ?: ktime_get_boottime_ns();
		set->nr_usable = at[IDLE];
		worst = UNFIT;
	}
	set->nr_best = set->nr_optimized ?: set->nr ?: set->nr_unsuspected ?: set->nr_usable;
	set->may_wait = nof_head_state(head) == NOF_HEAD_LINGERING;
	list_for_each_entry(path, &head->paths, entry) {
		if (path->class < GONE)
			set->paths[at[path->class]++] = path;
		path->usable = path->class <= worst;
		set->may_wait = set->may_wait || may_come_back(path);
	}
	set->may_wait &= !nof_head_removing(head);
}

/* Publishes again when the wait for a path expires, so that requests fail once no path is worth waiting for */
static void set_expiry(struct nof_head *head, const struct nof_path_set *set)
{
	unsigned long left = MAX_SCHEDULE_TIMEOUT;
	struct nof_path *path;

	if (!head->no_full_path_since || !set->may_wait)
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
	/* A few dozen bytes. Recovery depends on it, so it must not fail, nor wait for I/O. */
	set = kzalloc(struct_size(set, paths, head->nr_paths), GFP_NOIO | __GFP_NOFAIL);
	set->srcu = &head->subsys->srcu;
	fill_set(head, set);
	old = rcu_replace_pointer(head->set, set, true);
	/*
	 * Pairs with queue_rq(): the set is visible before the new sequence number is. A request that begins to wait
	 * with the old number is kicked by its submitter, or here after the smp_mb().
	 */
	smp_wmb();
	WRITE_ONCE(head->set_seq, head->set_seq + 1);
	trace_nof_path_set(head, set);
	if (old)
		path_set_free(old);
	smp_mb();
	if (nof_head_state(head) == NOF_HEAD_GONE)
		return;
	/* a kick runs every hardware queue: with thousands of disks, only those with waiting requests are kicked */
	if (!list_empty(&head->disk->queue->requeue_list))
		blk_mq_kick_requeue_list(head->disk->queue);
	/* otherwise the bios would only wait again, and the block layer would account for each once more */
	if (set->nr_usable || !set->may_wait)
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
