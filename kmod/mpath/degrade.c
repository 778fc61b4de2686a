// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares paths with their peers. With policy value degrade, a path that works but is an outlier is degraded: it gets
 * occasional probes only (choose.c), and is restored when enough probes in a row were as good as its peers. Latencies
 * are compared per class, because selectors may send different requests to different paths.
 * Also decides whether a controller that completes no I/O (core/stall_watch.c) is to blame, and handles probation.
 */
#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/nvme.h>
#include "core/ctrl.h"
#include "core/probation.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/degrade.h"
#include "mpath/degrade_limits.h"
#include "mpath/events.h"
#include "mpath/hctx.h"
#include "mpath/head.h"
#include "mpath/latency.h"
#include "mpath/path.h"
#include "mpath/path_stats.h"

#define LOOK		msecs_to_jiffies(100)
#define FRESH		HZ			/* older averages are ignored */
#define WINDOW		(10 * HZ)		/* errors further apart are not related */
#define WINDOW_IOS	50			/* enough I/Os to judge the share of errors */
#define LOOK_IOS	4			/* fewer new I/Os are not evaluated */
#define BAD_LOOKS	3
#define GOOD_PROBES	8
#define MAX_PROBES	(GOOD_PROBES << 6)
#define RELAPSE		(5 * HZ)		/* degraded again within this time: needs twice as many good probes */
#define TRIAL		(5 * HZ)		/* restored on trial if there was no read to probe with for this time */

static bool path_is_healthy(const struct nof_path *path)
{
	return path->usable && !nof_path_degraded(path);
}

static bool paths_are_peers(const struct nof_path *path, const struct nof_path *other)
{
	return other != path && path_is_healthy(other) && other->ana_state == path->ana_state;
}

static u32 nr_hctx(const struct nof_path *path)
{
	const struct nof_subsys *s = path->head->subsys;

	return s->nr_default + s->nr_poll;
}

static u32 mean_of(const struct nof_path *path, enum nof_lat_class class)
{
	u32 now = jiffies, n = 0, i;
	u64 sum = 0;

	for (i = 0; i < nr_hctx(path); i++) {
		u32 ewma = READ_ONCE(path->lat[i].ewma[class]);

		if (!ewma || now - READ_ONCE(path->lat[i].heard[class]) > FRESH)
			continue;
		sum += ewma;
		n++;
	}
	return n ? div_u64(sum, n) : 0;
}

static void degrade_forget(struct nof_path *path)
{
	u32 i;
	int class;

	for (i = 0; i < nr_hctx(path); i++)
		for (class = 0; class < NOF_LAT_CLASSES; class++)
			WRITE_ONCE(path->lat[i].ewma[class], 0);
}

static void degrade_count(const struct nof_path *path, u64 *ios, u64 *faults)
{
	int cpu;

	*ios = *faults = 0;
	for_each_possible_cpu(cpu) {
		const struct nof_path_stats *st = per_cpu_ptr(path->stats, cpu);

		*ios += READ_ONCE(st->ios);
		*faults += READ_ONCE(st->faults);
	}
}

static void window_reset(struct nof_path_health *h)
{
	h->done = h->failed = 0;
	h->window = jiffies;
}

/* Updates the counters of the window. False if there were too few new I/Os to judge the path. */
static bool count_new(struct nof_path *path)
{
	struct nof_path_health *h = &path->health;
	u64 ios, faults;

	if (!READ_ONCE(path->active))
		return false;
	degrade_count(path, &ios, &faults);
	if (ios - h->ios + faults - h->faults < LOOK_IOS)
		return false;
	WRITE_ONCE(path->active, false);
	if (time_after(jiffies, h->window + WINDOW) || h->done + h->failed >= WINDOW_IOS)
		window_reset(h);
	h->done += ios - h->ios;
	h->failed += faults - h->faults;
	h->ios = ios;
	h->faults = faults;
	return true;
}

static void path_sample_health(struct nof_path *path)
{
	struct nof_path_health *h = &path->health;
	int class;

	h->ready = count_new(path);
	if (!h->ready && !h->known)
		return;
	h->known = false;
	for (class = 0; class < NOF_LAT_CLASSES; class++) {
		h->mean[class] = mean_of(path, class);
		h->known |= h->mean[class] != 0;
	}
}

static bool path_is_faulty(const struct nof_path *path)
{
	u32 done = 0, failed = 0;
	struct nof_path *other;

	list_for_each_entry(other, &path->head->paths, entry)
		if (other != path && path_is_healthy(other)) {
			done += other->health.done;
			failed += other->health.failed;
		}
	return nof_outlier_faulty(path->health.done, path->health.failed, done, failed);
}

/* True if the path is an outlier in this class, compared with at least half of the peers whose mean is known */
static bool path_is_slow(const struct nof_path *path, enum nof_lat_class class)
{
	u32 own = path->health.mean[class], n = 0, beaten = 0;
	struct nof_path *other;

	list_for_each_entry(other, &path->head->paths, entry) {
		u32 theirs = other->health.mean[class];

		if (!theirs || !paths_are_peers(path, other))
			continue;
		n++;
		beaten += nof_outlier_slow(own, theirs);
	}
	return n && 2 * beaten >= n;
}

static int slow_class(const struct nof_path *path)
{
	int class;

	for (class = 0; class < NOF_LAT_CLASSES; class++)
		if (path_is_slow(path, class))
			return class;
	return -1;
}

/* Derives the limit of a good probe from the mean of the healthy peers. Without peers, keeps the previous limit. */
static void degrade_set_limits(struct nof_path *path)
{
	struct nof_path *other;
	int class;

	for (class = 0; class < NOF_LAT_CLASSES; class++) {
		u64 sum = 0;
		u32 n = 0;

		list_for_each_entry(other, &path->head->paths, entry)
			if (paths_are_peers(path, other) && other->health.mean[class]) {
				sum += other->health.mean[class];
				n++;
			}
		if (n)
			WRITE_ONCE(path->health.limit[class], nof_outlier_limit(div_u64(sum, n)));
	}
}

static void path_degrade(struct nof_path *path, int class)
{
	struct nof_path_health *h = &path->health;
	bool relapse = h->need && time_before(jiffies, h->since + RELAPSE);

	h->need = relapse ? min(2 * h->need, MAX_PROBES) : GOOD_PROBES;
	h->since = h->probed = jiffies;
	h->bad = 0;
	memset(h->limit, 0, sizeof(h->limit));
	degrade_set_limits(path);
	atomic_set(&h->good, 0);
	WRITE_ONCE(path->probe_at, jiffies);
	WRITE_ONCE(path->degraded, true);
	nof_head_publish(path->head);
	nof_path_event_later(path, NVMEOF_EVENT_DEGRADED);
	if (class < 0)
		dev_warn(&path->ctrl->dev,
			 "%s: path degraded, used for probes only: %u errors in %u I/Os\n", path->name, h->failed,
			 h->done + h->failed);
	else
		dev_warn(&path->ctrl->dev,
			 "%s: path degraded, used for probes only: mean latency %u us, limit %llu us\n", path->name,
			 h->mean[class] / 1000, div_u64(h->limit[class], 1000));
}

static void path_restore(struct nof_path *path, const char *why)
{
	struct nof_path_health *h = &path->health;

	h->since = jiffies;
	h->bad = 0;
	window_reset(h);
	/* latencies from before it was restored no longer apply */
	degrade_forget(path);
	memset(h->mean, 0, sizeof(h->mean));
	WRITE_ONCE(path->degraded, false);
	nof_head_publish(path->head);
	nof_path_event_later(path, NVMEOF_EVENT_RESTORED);
	dev_info(&path->ctrl->dev, "%s: path restored: %s\n", path->name, why);
}

static void path_evaluate(struct nof_path *path)
{
	int class;

	if (!path->health.ready)
		return;
	if (path_is_faulty(path)) {
		path_degrade(path, -1);
		return;
	}
	class = slow_class(path);
	if (class < 0)
		path->health.bad = 0;
	else if (++path->health.bad >= BAD_LOOKS)
		path_degrade(path, class);
}

static u32 nr_healthy(const struct nof_head *head)
{
	struct nof_path *path;
	u32 n = 0;

	list_for_each_entry(path, &head->paths, entry)
		n += path_is_healthy(path);
	return n;
}

static void path_review_degraded(struct nof_path *path, u32 others)
{
	struct nof_path_health *h = &path->health;

	degrade_set_limits(path);
	if (!others)
		path_restore(path, "it is the last usable path");
	else if (atomic_read(&h->good) >= h->need)
		path_restore(path, "probes as fast as its peers");
	else if (time_after(jiffies, READ_ONCE(h->probed) + TRIAL * h->need / GOOD_PROBES))
		path_restore(path, "on trial, as there were no reads to probe it with");
}

static void head_evaluate(struct nof_head *head)
{
	struct nof_path *path;

	list_for_each_entry(path, &head->paths, entry)
		path_sample_health(path);
	list_for_each_entry(path, &head->paths, entry) {
		u32 left = nr_healthy(head);

		if (!path->usable)
			path->health.bad = 0;
		else if (path->degraded)
			path_review_degraded(path, left);
		else if (left > 1 && path_is_healthy(path))
			path_evaluate(path);
	}
}

static void probation_release(struct nof_ctrl *ctrl)
{
	nof_probation_end(&ctrl->probation, jiffies);
	dev_info(&ctrl->dev, "probation ended after %u completed trial requests\n", NOF_PROBATION_TRIALS);
	nof_paths_publish(ctrl);
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_RESTORED);
}

/* Ends the probation of live controllers that have passed enough trials */
static void probation_review(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (ctrl->probation.on && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE &&
		    atomic_read(&ctrl->probation.answered) >= NOF_PROBATION_TRIALS)
			probation_release(ctrl);
}

static void degrade_look(struct work_struct *work)
{
	struct nof_subsys *s = container_of(to_delayed_work(work), struct nof_subsys, degrade_work);
	struct nof_head *head;
	bool on;

	mutex_lock(&s->lock);
	probation_review(s);
	on = s->policy.degrade;
	if (on)
		list_for_each_entry(head, &s->heads, entry)
			head_evaluate(head);
	mutex_unlock(&s->lock);
	if (on)
		queue_delayed_work(nof_wq, &s->degrade_work, LOOK);
}

void nof_degrade_init(struct nof_subsys *s)
{
	INIT_DELAYED_WORK(&s->degrade_work, degrade_look);
}

void nof_degrade_update(struct nof_subsys *s)
{
	struct nof_head *head;
	struct nof_path *path;

	lockdep_assert_held(&s->lock);
	if (s->policy.degrade) {
		mod_delayed_work(nof_wq, &s->degrade_work, LOOK);
		return;
	}
	nof_for_each_path(s, head, path)
		if (path->degraded)
			path_restore(path, "policy value degrade is off");
}

void nof_degrade_exit(struct nof_subsys *s)
{
	cancel_delayed_work_sync(&s->degrade_work);
}

void nof_degrade_probed(struct nof_path *path, const struct request *rq, u64 ns, bool good)
{
	struct nof_path_health *h = &path->health;
	u64 limit = 0;

	if (nof_rq_measured(rq))
		limit = READ_ONCE(h->limit[nof_rq_class(rq)]);
	WRITE_ONCE(h->probed, jiffies);
	WRITE_ONCE(path->probe_at, jiffies + msecs_to_jiffies(NOF_PROBE_MS));
	if (!good || (limit && ns > limit))
		atomic_set(&h->good, 0);
	else if (atomic_inc_return(&h->good) == h->need)
		mod_delayed_work(nof_wq, &path->head->subsys->degrade_work, 0);
}

bool nof_degrade_fault(u16 status)
{
	/* a status with Do Not Retry applies to the whole subsystem */
	if (status & NVME_STATUS_DNR)
		return false;
	switch (status & NVME_SCT_SC_MASK) {
	case NVME_SC_DATA_XFER_ERROR:
	case NVME_SC_INTERNAL:
	case NVME_SC_ABORT_REQ:
	case NVME_SC_CMD_INTERRUPTED:
	case NVME_SC_TRANSIENT_TR_ERR:
	case NVME_SC_INTERNAL_PATH_ERROR:
	case NVME_SC_CTRL_PATH_ERROR:
		return true;
	default:
		return false;
	}
}

/* Milliseconds after the stall of a controller during which no other one is blamed without evidence */
#define STALL_AGAIN	60000

/* True if the path is a usable alternative */
static bool path_is_alternative(const struct nof_path *path)
{
	const struct nof_ctrl *ctrl = path->ctrl;

	return path->usable && nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && !READ_ONCE(ctrl->suspect) &&
	       !READ_ONCE(ctrl->watch.silent);
}

/* @mine: the head has a path of @ctrl. @other: it has a usable alternative. */
static void head_find_alternative(struct nof_head *head, struct nof_ctrl *ctrl, bool *mine, bool *other)
{
	struct nof_path *path;

	*mine = *other = false;
	list_for_each_entry(path, &head->paths, entry) {
		if (path->ctrl == ctrl)
			*mine = true;
		else
			*other |= path_is_alternative(path);
	}
}

/* True if some head of this controller has a usable alternative */
static bool has_alternative(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	bool mine, other;

	lockdep_assert_held(&ctrl->subsys->lock);
	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		head_find_alternative(head, ctrl, &mine, &other);
		if (mine && other)
			return true;
	}
	return false;
}

bool nof_ctrl_has_other_path(struct nof_ctrl *ctrl)
{
	bool has;

	mutex_lock(&ctrl->subsys->lock);
	has = has_alternative(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
	return has;
}

bool nof_ctrl_all_have_other_path(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	bool mine, other, all = true;

	mutex_lock(&ctrl->subsys->lock);
	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		head_find_alternative(head, ctrl, &mine, &other);
		all &= !mine || other;
	}
	mutex_unlock(&ctrl->subsys->lock);
	return all;
}

/* True if requests of the head wait for @ctrl and another path has completed I/O since the previous call */
static bool others_complete(struct nof_ctrl *ctrl, struct nof_head *head)
{
	bool stalls = false, moved = false;
	struct nof_path *path;
	u64 ios;

	list_for_each_entry(path, &head->paths, entry) {
		if (path->ctrl == ctrl) {
			stalls = nof_path_inflight(path);
			continue;
		}
		ios = nof_path_ios(path);
		moved |= path->usable && path->watched_at && time_before(jiffies, path->watched_at + HZ) &&
			 ios != path->watched_ios;
		path->watched_at = jiffies ?: 1;
		path->watched_ios = ios;
	}
	return stalls && moved;
}

static bool slow_of_late(const struct nof_ctrl *ctrl)
{
	const struct nof_watch *w = &ctrl->watch;

	return READ_ONCE(w->io_overdue) ||
	       (READ_ONCE(w->stalls) && time_before(jiffies, READ_ONCE(w->stalled_at) + msecs_to_jiffies(STALL_AGAIN)));
}

/*
 * Slow storage behind all paths is not a stall of this controller: another path must have completed I/O of the same
 * namespace meanwhile. If the other paths seem to be idle, the controller is blamed only if @alone is set and no other
 * controller has stalled recently.
 */
static const char *stall_verdict(struct nof_ctrl *ctrl, bool alone)
{
	bool moved = false, fresh = true;
	struct nof_ctrl *other;
	struct nof_head *head;

	if (!has_alternative(ctrl))
		return NULL;
	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		moved |= others_complete(ctrl, head);
	list_for_each_entry(other, &ctrl->subsys->ctrls, entry)
		fresh &= other == ctrl || !slow_of_late(other);
	if (moved)
		return "other paths complete I/O";
	return fresh && alone ? "other paths are idle" : NULL;
}

const char *nof_stall_reason(struct nof_ctrl *ctrl, bool alone)
{
	const char *why;

	mutex_lock(&ctrl->subsys->lock);
	why = stall_verdict(ctrl, alone);
	mutex_unlock(&ctrl->subsys->lock);
	return why;
}

/*
 * Probation. If a controller is lost repeatedly soon after it has become live, the network may pass short packets and
 * drop long ones: Connect, Keep Alive and small requests work, and each loss delays the requests in flight. After some
 * losses such a controller is on probation. While another path works, it gets single requests only, first reads, then
 * writes, at intervals that grow with each further loss. It has to complete a number of them in a row to end the
 * probation. The rules are in core/probation.c.
 */
static bool loss_counts(const struct nof_ctrl *ctrl)
{
	/* a controller that closed its connections or was reset reveals nothing about the network path */
	return ctrl->end.cause != NOF_CAUSE_PEER && !test_bit(NOF_CTRL_RESET, &ctrl->flags);
}

void nof_probation_lost(struct nof_ctrl *ctrl)
{
	struct nof_probation *p = &ctrl->probation;
	unsigned long since = p->since;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (!loss_counts(ctrl))
		return;
	switch (nof_probation_loss(p, jiffies, ctrl->recovery.live_at)) {
	case NOF_LOSS_BEGINS:
		dev_warn(&ctrl->dev,
			 "connection lost %u times in %u s: on probation while other paths work\n", p->losses,
			 jiffies_to_msecs(jiffies - since) / 1000);
		break;
	case NOF_LOSS_RELAPSE:
		dev_warn(&ctrl->dev, "connection lost %u s after the end of probation: on probation again\n",
			 jiffies_to_msecs(jiffies - since) / 1000);
		break;
	default:
		return;
	}
	nof_paths_event_locked(ctrl, NVMEOF_EVENT_DEGRADED);
}

bool nof_probation_takes(struct nof_ctrl *ctrl, const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return nof_probation_trial_begin(&ctrl->probation, jiffies, true);
	case REQ_OP_WRITE:
	case REQ_OP_ZONE_APPEND:
		return nof_probation_trial_begin(&ctrl->probation, jiffies, false);
	default:
		return false;
	}
}

void nof_probation_tried(struct nof_ctrl *ctrl, bool answered)
{
	/* requests of a controller that was lost again may still complete */
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && nof_probation_trial_end(&ctrl->probation, jiffies, answered))
		mod_delayed_work(nof_wq, &ctrl->subsys->degrade_work, 0);
}
