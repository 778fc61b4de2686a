// SPDX-License-Identifier: GPL-2.0-only
/* Reading the ANA log, and keeping the states of groups and paths. */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/ana.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/health.h"
#include "mpath/path.h"
#include "wire/ana_log.h"

/* Return Groups Only: which namespace is in which group is known from Identify Namespace */
#define LSP_RGO		BIT(0)
#define MAX_GROUPS	4096
#define MAX_READS	5
/* A log of this size comes in one piece: the smallest MDTS that there is allows twice as much */
#define ONE_PIECE	4096
/* One that fails altogether */
#define MAX_TRIES	3
#define RETRY_MS	100
/* Before a scan for the sake of groups */
#define SCAN_JITTER_MS	50
/* Where a controller has not said how long a change takes, though it has to */
#define DEF_ANATT	10
/* How long a path rests that refuses what its log allows, doubled each time in a row */
#define DOUBT_MS	50
#define DOUBTS_MAX	6
#define DOUBT_FORGET	(10 * HZ)

static bool has_ana(const struct nof_ctrl *ctrl)
{
	return ctrl->ident.cmic & NVME_CTRL_CMIC_ANA;
}

/* A group that a namespace is in, and that the log does not have */
static bool unlisted(struct nof_ctrl *ctrl, u32 group)
{
	return has_ana(ctrl) && group && !xa_load(&ctrl->ana.groups, group);
}

enum nvmeof_ana_state nof_ana_state_of(struct nof_ctrl *ctrl, u32 group)
{
	void *state;

	if (!has_ana(ctrl) || !group)
		return NVMEOF_ANA_NONE;
	state = xa_load(&ctrl->ana.groups, group);
	/* a group that the log does not have yet: not usable until it does */
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

struct groups {
	struct nof_ctrl *ctrl;
	int		err;	/* one at least could not be kept */
};

static void set_group(void *arg, u32 group, u8 state)
{
	struct groups *g = arg;
	int err = xa_err(xa_store(&g->ctrl->ana.groups, group, xa_mk_value(state), GFP_NOIO));

	if (!err)
		return;
	/* as if the log did not have the group: not usable, until it is read again */
	xa_erase(&g->ctrl->ana.groups, group);
	g->err = err;
}

/* Jitter: a change at the target begins at the same time for all its hosts. @done: of that time, in ms */
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
	/* one timer for all paths: the work looks at each, and comes again for those that are younger */
	if (state == NVMEOF_ANA_CHANGE)
		queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, 0));
}

/* True when it is another than before */
static bool update_path(struct nof_path *path)
{
	enum nvmeof_ana_state state = nof_ana_state_of(path->ctrl, path->ana_group);

	if (state == path->ana_state)
		return false;
	nof_ana_set(path, state);
	path->ana_doubts = 0;
	return true;
}

/* All paths of the controller to the states of their groups */
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

/* NULL, or what is wrong; with @err */
static const char *apply(struct nof_ctrl *ctrl, const void *log, size_t len, int *err)
{
	struct groups groups = { .ctrl = ctrl };
	const char *why;

	mutex_lock(&ctrl->subsys->lock);
	why = nof_ana_parse(log, len, ctrl->ident.nanagrpid, ctrl->ident.anagrpmax, NULL, NULL);
	/* a group that is no longer in the log has no state any more */
	if (!why) {
		xa_destroy(&ctrl->ana.groups);
		nof_ana_parse(log, len, ctrl->ident.nanagrpid, ctrl->ident.anagrpmax, set_group, &groups);
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
		ret = nof_get_log(ctrl, NVME_LOG_ANA, LSP_RGO, at, log + at, n);
		if (ret)
			return ret;
	}
	return 0;
}

/* A log that is read in pieces, or changes meanwhile, is read again until its change count stays the same */
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
		why = apply(ctrl, log, len, &ret);
	if (ret)
		nof_ctrl_note(ctrl, ret > 0 ? -EIO : ret, ret > 0 ? ret : 0, "%s", why ?: "ANA log: cannot be read");
	free_pages_exact(log, len);
	return ret > 0 ? -EIO : ret;
}

/* What was read first is not applied last */
int nof_ana_read(struct nof_ctrl *ctrl)
{
	int ret;

	mutex_lock(&ctrl->ana.lock);
	ret = ana_read_log(ctrl);
	mutex_unlock(&ctrl->ana.lock);
	return ret;
}

/* What completions told is of no use any more. Under subsys->lock. */
static void ana_forget(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			WRITE_ONCE(path->ana_refused, false);
}

/* ANATT counts anew: a controller that starts over may finish its change then */
void nof_ana_lost(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	nof_probation_lost(ctrl);
	ana_forget(ctrl);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl && path->ana_state == NVMEOF_ANA_CHANGE) {
			path->ana_expired = false;
			WRITE_ONCE(path->ana_since, ktime_get_boottime_ns());
			queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, 0));
		}
	mutex_unlock(&ctrl->subsys->lock);
}

bool nof_ana_stale(struct nof_path *path, u16 status)
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
	if (unlisted(ctrl, group))
		queue_work(nof_wq, &ctrl->ana.work);
}

/* Paths that were left out are used again */
static void ana_take_back(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->subsys->lock);
	ana_forget(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
	nof_ctrl_publish(ctrl);
}

/* A path that rests has done so: once more, and then the retries of requests count */
static void doubt_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ana.doubt_work);

	ana_take_back(ctrl);
}

static u32 doubt_ms(struct nof_path *path)
{
	if (time_after(jiffies, path->ana_doubt_at + DOUBT_FORGET))
		path->ana_doubts = 0;
	path->ana_doubt_at = jiffies;
	if (path->ana_doubts < DOUBTS_MAX)
		path->ana_doubts++;
	return DOUBT_MS << (path->ana_doubts - 1);
}

/*
 * The log was read. Where it has said why requests were refused, that holds now. Where it says that such a path is
 * usable, the log is ahead of the data, or the namespace is in another group by now, which the scan will tell: the path
 * rests, as its requests have few tries. True when one does.
 */
static bool ana_settle(struct nof_ctrl *ctrl)
{
	bool resting = delayed_work_pending(&ctrl->ana.doubt_work);
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
			ms = max(ms, doubt_ms(path));
	}
	mutex_unlock(&ctrl->subsys->lock);
	nof_ctrl_publish(ctrl);
	if (ms)
		queue_delayed_work(nof_wq, &ctrl->ana.doubt_work, msecs_to_jiffies(ms));
	return ms;
}

static void wait_live(struct nof_ctrl *ctrl, u32 ms)
{
	wait_event_timeout(ctrl->state_wq, nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE,
			   msecs_to_jiffies(ms + get_random_u32_below(ms)));
}

/* A controller may be short of something for a moment just when it moves groups about */
static void read_live(struct nof_ctrl *ctrl)
{
	int try;

	for (try = 1; nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE; try++) {
		if (!nof_ana_read(ctrl))
			return;
		if (try == MAX_TRIES) {
			/* without its log nobody would know when a path may be used again: start over */
			nof_ctrl_error_live(ctrl, false);
			return;
		}
		wait_live(ctrl, RETRY_MS * try);
	}
}

static void remember(struct nof_ctrl *ctrl)
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

/* The namespace moved, maybe, and the log has only groups with members */
static bool is_lost(const struct nof_path *path)
{
	return unlisted(path->ctrl, path->ana_group);
}

/* With jitter, as all hosts are told at the same time; not more often than a scan may be, nor before one put off */
static void scan_later(struct nof_ctrl *ctrl)
{
	unsigned long next = READ_ONCE(ctrl->scan.not_before), now = jiffies;
	unsigned long delay = msecs_to_jiffies(get_random_u32_below(SCAN_JITTER_MS));

	if (time_before(now, next))
		delay += next - now;
	queue_delayed_work(nof_wq, &ctrl->scan.work, delay);
}

/*
 * Something has changed, or a path does not do what the log says: it is left out until the log was read. If it is not
 * the state of a group, it may be that a namespace is in another group now: that is found by a scan.
 */
static void ana_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, ana.work);
	bool doubt;

	remember(ctrl);
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || !has_ana(ctrl)) {
		ana_take_back(ctrl);
		return;
	}
	nof_ctrl_publish(ctrl);
	read_live(ctrl);
	doubt = ana_settle(ctrl);
	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && (doubt || any_path(ctrl, is_lost) || !any_path(ctrl, is_new)))
		scan_later(ctrl);
}

/* For how long the path has been in state change and counts on it, ms; 0 for not at all */
static u64 change_ms(const struct nof_path *path)
{
	if (path->ana_state != NVMEOF_ANA_CHANGE || path->ana_expired)
		return 0;
	return max_t(u64, div_u64(ktime_get_boottime_ns() - path->ana_since, NSEC_PER_MSEC), 1);
}

/* The oldest change that is going on; with @expire, what is older than ANATT counts as failed and is not looked at */
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

/* Before a path is given up it is asked once more: an event may have got lost */
static void anatt_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(to_delayed_work(work), struct nof_ctrl, ana.anatt_work);
	bool live = nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE;
	u64 oldest = oldest_change(ctrl, false);

	if (live && oldest >= (ctrl->ident.anatt ?: DEF_ANATT) * MSEC_PER_SEC) {
		read_live(ctrl);
		oldest = oldest_change(ctrl, true);
	}
	/* not connected: the log is read when it is, and the change goes on or not */
	if (oldest && !nof_state_ends(nof_ctrl_state(ctrl)))
		queue_delayed_work(nof_wq, &ctrl->ana.anatt_work, anatt_left(ctrl, live ? oldest : 0));
}

void nof_ana_init(struct nof_ctrl *ctrl)
{
	xa_init(&ctrl->ana.groups);
	mutex_init(&ctrl->ana.lock);
	INIT_WORK(&ctrl->ana.work, ana_work);
	INIT_DELAYED_WORK(&ctrl->ana.anatt_work, anatt_work);
	INIT_DELAYED_WORK(&ctrl->ana.doubt_work, doubt_work);
}

void nof_ana_exit(struct nof_ctrl *ctrl)
{
	xa_destroy(&ctrl->ana.groups);
}
