// SPDX-License-Identifier: GPL-2.0-only
/* Reads the ANA log and keeps the states of groups and paths. */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/ana.h"
#include "mpath/degrade.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "wire/ana_log.h"

/* Return Groups Only: which namespace is in which group is known from Identify Namespace */
#define LSP_RGO		BIT(0)
#define MAX_GROUPS	4096
#define MAX_READS	5
/* A log of this size is read by one command: the smallest MDTS allows twice as much */
#define ONE_PIECE	4096
/* Attempts to read the log before the association is ended, and the first delay between them */
#define MAX_TRIES	3
#define RETRY_MS	100
/* Jitter before a scan that looks for moved namespaces */
#define SCAN_JITTER_MS	50
/* Seconds, where a controller reports no ANATT, though it has to */
#define DEF_ANATT	10
/* Back-off of a path that refuses requests although its log has it usable; doubled each time in a row */
#define ANA_BACKOFF_MS	50
#define ANA_BACKOFF_MAX	6
#define ANA_BACKOFF_FORGET	(10 * HZ)

static bool has_ana(const struct nof_ctrl *ctrl)
{
	return ctrl->ident.cmic & NVME_CTRL_CMIC_ANA;
}

/* The log does not list this group, though a namespace is in it */
static bool group_is_unlisted(struct nof_ctrl *ctrl, u32 group)
{
	return has_ana(ctrl) && group && !xa_load(&ctrl->ana.groups, group);
}

enum nvmeof_ana_state nof_ana_state_of(struct nof_ctrl *ctrl, u32 group)
{
	void *state;

	if (!has_ana(ctrl) || !group)
		return NVMEOF_ANA_NONE;
	state = xa_load(&ctrl->ana.groups, group);
	/* the log does not list the group yet: not usable until it does */
	return state ? xa_to_value(state) : NVMEOF_ANA_INACCESSIBLE;
}

const char *nof_ana_state_name(enum nvmeof_ana_state state)
{
	switch (state) {
	case NVMEOF_ANA_NONE:			return "none";
	case NVMEOF_ANA_OPTIMIZED:		return "optimized";
	case NVMEOF_ANA_NON_OPTIMIZED:		return "non-optimized";
	case NVMEOF_ANA_INACCESSIBLE:		return "inaccessible";
	case NVMEOF_ANA_PERSISTENT_LOSS:	return "persistent-loss";
	case NVMEOF_ANA_CHANGE:			return "change";
	}
	return "reserved";
}

/* Mark of groups that a new log has not listed yet */
#define NOT_LISTED	XA_MARK_0

struct groups {
	struct nof_ctrl *ctrl;
	int		err;	/* at least one group could not be stored */
};

static void set_group(void *arg, u32 group, u8 state)
{
	struct groups *g = arg;
	int err = xa_err(xa_store(&g->ctrl->ana.groups, group, xa_mk_value(state), GFP_NOIO));

	xa_clear_mark(&g->ctrl->ana.groups, group, NOT_LISTED);
	if (!err)
		return;
	/* as if the log did not list the group: not usable until it is read again */
	xa_erase(&g->ctrl->ana.groups, group);
	g->err = err;
}

/* Jiffies until ANATT has passed, with jitter, as changes begin for all hosts at once. @done: ms that have passed */
static unsigned long anatt_left(const struct nof_ctrl *ctrl, u64 done)
{
	u32 ms = (ctrl->ident.anatt ?: DEF_ANATT) * MSEC_PER_SEC;

	ms += get_random_u32_below(ms / 8);
	return msecs_to_jiffies(ms > done ? ms - done : 1);
}

void nof_ana_set(struct nof_path *path, enum nvmeof_ana_state state)
{
	struct nof_ctrl *ctrl = path->ctrl;

	lockdep_assert_held(&ctrl->subsys->lock);
	if (path->ana_since && path->ana_state == state)
		return;
	path->ana_state = state;
	path->ana_expired = false;
	WRITE_ONCE(path->ana_since, ktime_get_boottime_ns());
	/* one timer for all paths: the work looks at each, and queues itself again for younger changes */
	if (state == NVMEOF_ANA_CHANGE)
		queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, 0));
}

static bool update_path(struct nof_path *path)
{
	enum nvmeof_ana_state state = nof_ana_state_of(path->ctrl, path->ana_group);

	if (state == path->ana_state)
		return false;
	nof_ana_set(path, state);
	path->ana_refusals = 0;
	return true;
}

static void update_paths(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl) {
			if (update_path(path))
				nof_path_event_later(path, NVMEOF_EVENT_STATE);
			nof_head_publish(head);
		}
}

/* A group that is no longer in the log loses its state. Groups that are stored already need no memory. */
static void groups_replace(struct groups *g, const void *log, size_t len)
{
	struct nof_ctrl *ctrl = g->ctrl;
	unsigned long group;
	void *state;

	xa_for_each(&ctrl->ana.groups, group, state)
		xa_set_mark(&ctrl->ana.groups, group, NOT_LISTED);
	nof_ana_parse(log, len, ctrl->ident.nanagrpid, ctrl->ident.anagrpmax, set_group, g);
	xa_for_each_marked(&ctrl->ana.groups, group, state, NOT_LISTED)
		xa_erase(&ctrl->ana.groups, group);
}

/* Returns NULL, or a reason with a negative errno in @err */
static const char *ana_apply(struct nof_ctrl *ctrl, const void *log, size_t len, int *err)
{
	struct groups groups = { .ctrl = ctrl };
	unsigned int noreclaim;
	const char *why;

	mutex_lock(&ctrl->subsys->lock);
	why = nof_ana_parse(log, len, ctrl->ident.nanagrpid, ctrl->ident.anagrpmax, NULL, NULL);
	if (!why) {
		/* write-back that would free memory may wait for this, or for a recovery that needs the lock */
		noreclaim = memalloc_noreclaim_save();
		groups_replace(&groups, log, len);
		memalloc_noreclaim_restore(noreclaim);
	}
	update_paths(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
	*err = why ? -EPROTO : groups.err;
	return groups.err ? "ANA log: out of memory" : why;
}

static int read_pieces(struct nof_ctrl *ctrl, void *log, size_t len)
{
	u32 piece = min_t(u32, ctrl->ident.max_transfer, 65536) & ~3U, n;
	size_t at;
	int ret;

	for (at = 0; at < len; at += n) {
		n = min_t(size_t, len - at, piece);
		/* the deletion waits for this, and each read may take seconds */
		if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_DELETING)
			return -ECANCELED;
		ret = nof_get_log(ctrl, NVME_LOG_ANA, LSP_RGO, at, log + at, n);
		if (ret)
			return ret;
	}
	return 0;
}

/* A log that takes several commands is read again until its change count stays the same */
static int read_stable(struct nof_ctrl *ctrl, struct nvme_ana_rsp_hdr *log, size_t len)
{
	struct nvme_ana_rsp_hdr *again = kmalloc(sizeof(*again), GFP_NOIO);
	int ret = -ENOMEM, i;

	for (i = 0; again && i < MAX_READS; i++) {
		ret = read_pieces(ctrl, log, len);
		if (ret || len <= ONE_PIECE)
			break;
		ret = nof_get_log(ctrl, NVME_LOG_ANA, LSP_RGO, 0, again, sizeof(*again));
		if (ret || again->chgcnt == log->chgcnt)
			break;
		ret = -EAGAIN;
	}
	kfree(again);
	return ret;
}

static int ana_read_log(struct nof_ctrl *ctrl)
{
	size_t len = sizeof(struct nvme_ana_rsp_hdr) + ctrl->ident.nanagrpid * sizeof(struct nvme_ana_group_desc);
	const char *why = NULL;
	void *log;
	int ret;

	if (!has_ana(ctrl))
		return 0;
	if (!ctrl->ident.nanagrpid || ctrl->ident.nanagrpid > MAX_GROUPS) {
		nof_ctrl_note(ctrl, -EPROTO, 0, "%u ANA groups are out of bounds", ctrl->ident.nanagrpid);
		return -EPROTO;
	}
	log = alloc_pages_exact(len, GFP_NOIO | __GFP_ZERO);
	if (!log)
		return -ENOMEM;
	ret = read_stable(ctrl, log, len);
	if (!ret)
		why = ana_apply(ctrl, log, len, &ret);
	if (ret)
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "%s", why ?: "ANA log: cannot be read");
	free_pages_exact(log, len);
	return ret > 0 ? -EIO : ret;
}

/* The lock keeps an older log from being applied after a newer one */
int nof_ana_read(struct nof_ctrl *ctrl)
{
	int ret;

	mutex_lock(&ctrl->ana.lock);
	ret = ana_read_log(ctrl);
	mutex_unlock(&ctrl->ana.lock);
	return ret;
}

/* Forgets the ANA statuses of completions. Caller holds subsys->lock. */
static void ana_clear_refused(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			WRITE_ONCE(path->ana_refused, false);
}

/* Restarts ANATT: a controller that starts over may then finish its change */
void nof_ana_restart_timers(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	lockdep_assert_held(&ctrl->subsys->lock);
	ana_clear_refused(ctrl);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl && path->ana_state == NVMEOF_ANA_CHANGE) {
			path->ana_expired = false;
			WRITE_ONCE(path->ana_since, ktime_get_boottime_ns());
			queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, 0));
		}
}

bool nof_ana_report_status(struct nof_path *path, u16 status)
{
	struct nof_ctrl *ctrl = path->ctrl;

	switch (status & NVME_SCT_SC_MASK) {
	case NVME_SC_ANA_PERSISTENT_LOSS:
	case NVME_SC_ANA_INACCESSIBLE:
	case NVME_SC_ANA_TRANSITION:
		break;
	default:
		return false;
	}
	if (!has_ana(ctrl) || nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE)
		return false;
	WRITE_ONCE(path->ana_refused, true);
	queue_work(nof_wq, &ctrl->ana.work);
	return true;
}

void nof_ana_look_for(struct nof_ctrl *ctrl, u32 group)
{
	if (group_is_unlisted(ctrl, group))
		queue_work(nof_wq, &ctrl->ana.work);
}

/* Uses paths again that an ANA status had taken out of use */
static void ana_reuse_paths(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->subsys->lock);
	ana_clear_refused(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
	nof_ctrl_publish(ctrl);
}

/* The back-off has passed: uses the path again. A request that it refuses then counts a retry. */
static void backoff_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ana.backoff_work);

	ana_reuse_paths(ctrl);
}

static u32 ana_backoff_ms(struct nof_path *path)
{
	if (time_after(jiffies, path->ana_refusal_at + ANA_BACKOFF_FORGET))
		path->ana_refusals = 0;
	path->ana_refusal_at = jiffies;
	if (path->ana_refusals < ANA_BACKOFF_MAX)
		path->ana_refusals++;
	return ANA_BACKOFF_MS << (path->ana_refusals - 1);
}

/*
 * Called when the log was read. If it explains why a path refused requests, the ANA state takes over. If it has such a
 * path usable, the log is ahead of the data, or the namespace has moved to another group, which a scan will find: the
 * path backs off, as its requests have few retries. Returns true if a back-off starts.
 */
static bool ana_backoff_start(struct nof_ctrl *ctrl)
{
	bool resting = delayed_work_pending(&ctrl->ana.backoff_work);
	struct nof_head *head;
	struct nof_path *path;
	u32 ms = 0;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path) {
		if (path->ctrl != ctrl || !path->ana_refused)
			continue;
		if (!nof_ana_usable(path->ana_state))
			WRITE_ONCE(path->ana_refused, false);
		else if (!resting)
			ms = max(ms, ana_backoff_ms(path));
	}
	mutex_unlock(&ctrl->subsys->lock);
	nof_ctrl_publish(ctrl);
	if (ms)
		queue_delayed_work(nof_wq, &ctrl->ana.backoff_work, msecs_to_jiffies(ms));
	return ms;
}

static void wait_live(struct nof_ctrl *ctrl, u32 ms)
{
	wait_event_timeout(ctrl->state_wq, nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE,
			   msecs_to_jiffies(ms + get_random_u32_below(ms)));
}

/* Retries, as a controller may be short of resources just when it moves groups */
static void read_live(struct nof_ctrl *ctrl)
{
	int try;

	for (try = 1; nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE; try++) {
		if (!nof_ana_read(ctrl))
			return;
		if (try == MAX_TRIES) {
			/* without the log the driver cannot know when a path is usable again: end the association */
			nof_ctrl_error_live(ctrl, false);
			return;
		}
		wait_live(ctrl, RETRY_MS * try);
	}
}

static void ana_save_states(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			path->ana_was = path->ana_state;
	mutex_unlock(&ctrl->subsys->lock);
}

static bool any_path(struct nof_ctrl *ctrl, bool (*is)(const struct nof_path *path))
{
	struct nof_head *head;
	struct nof_path *path;
	bool any = false;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		any |= path->ctrl == ctrl && is(path);
	mutex_unlock(&ctrl->subsys->lock);
	return any;
}

static bool is_new(const struct nof_path *path)
{
	return path->ana_state != path->ana_was;
}

/* The namespace may have moved: the log lists only groups with members */
static bool path_is_unlisted(const struct nof_path *path)
{
	return group_is_unlisted(path->ctrl, path->ana_group);
}

/*
 * With jitter, as all hosts get the event at the same time; not before scan.not_before. Leaves a queued scan as it is.
 */
static void scan_later(struct nof_ctrl *ctrl)
{
	unsigned long next = READ_ONCE(ctrl->scan.not_before), now = jiffies;
	unsigned long delay = msecs_to_jiffies(get_random_u32_below(SCAN_JITTER_MS));

	if (time_before(now, next))
		delay += next - now;
	queue_delayed_work(nof_wq, &ctrl->scan.work, delay);
}

/*
 * An ANA change event, or a path refused a request and is out of use until the log was read. If no state has changed, a
 * namespace may have moved to another group: a scan finds that.
 */
static void ana_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, ana.work);
	bool doubt;

	ana_save_states(ctrl);
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || !has_ana(ctrl)) {
		ana_reuse_paths(ctrl);
		return;
	}
	nof_ctrl_publish(ctrl);
	read_live(ctrl);
	doubt = ana_backoff_start(ctrl);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE &&
	    (doubt || any_path(ctrl, path_is_unlisted) || !any_path(ctrl, is_new)))
		scan_later(ctrl);
}

/* Age of the path's state change in ms; 0 if there is none, or it has expired */
static u64 change_ms(const struct nof_path *path)
{
	if (path->ana_state != NVMEOF_ANA_CHANGE || path->ana_expired)
		return 0;
	return max_t(u64, div_u64(ktime_get_boottime_ns() - path->ana_since, NSEC_PER_MSEC), 1);
}

/* Age in ms of the oldest state change. With @expire, changes older than ANATT count as failed, and are left out */
static u64 oldest_change(struct nof_ctrl *ctrl, bool expire)
{
	u64 ms, oldest = 0, bound = (ctrl->ident.anatt ?: DEF_ANATT) * MSEC_PER_SEC;
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path) {
		ms = path->ctrl == ctrl ? change_ms(path) : 0;
		if (expire && ms >= bound) {
			path->ana_expired = true;
			nof_ctrl_note(ctrl, -ETIMEDOUT, 0,
				      "%s: in ANA state change for longer than ANATT, %llu s", path->name,
				      bound / MSEC_PER_SEC);
			nof_head_publish(head);
			ms = 0;
		}
		oldest = max(oldest, ms);
	}
	mutex_unlock(&ctrl->subsys->lock);
	return oldest;
}

/* Reads the log once more before it gives up a path: an event may have been lost */
static void anatt_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ana.anatt_work);
	bool live = nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;
	u64 oldest = oldest_change(ctrl, false);

	if (live && oldest >= (ctrl->ident.anatt ?: DEF_ANATT) * MSEC_PER_SEC) {
		read_live(ctrl);
		oldest = oldest_change(ctrl, true);
	}
	/* not connected: the log read after the reconnect shows whether the change continues */
	if (oldest && !nof_state_ends(nof_ctrl_state(ctrl)))
		queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, live ? oldest : 0));
}

void nof_ana_init(struct nof_ctrl *ctrl)
{
	xa_init(&ctrl->ana.groups);
	mutex_init(&ctrl->ana.lock);
	INIT_WORK(&ctrl->ana.work, ana_work);
	INIT_DELAYED_WORK(&ctrl->ana.anatt_work, anatt_work);
	INIT_DELAYED_WORK(&ctrl->ana.backoff_work, backoff_work);
}

void nof_ana_exit(struct nof_ctrl *ctrl)
{
	xa_destroy(&ctrl->ana.groups);
}
