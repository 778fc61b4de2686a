// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of disks and paths, one for each object, and one log line for all disks of a subsystem that lose their paths
 * at once. A work sends them, so that code that changes path sets does not wait for listeners.
 */
#include <linux/bitmap.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "core/ctrl.h"
#include "core/state.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "core/work.h"
#include "mpath/events.h"
#include "mpath/head.h"
#include "mpath/path.h"

#define EVENT_BATCH	16

/* Disks with the same alert; details of the first of them */
struct summary {
	u32	nr;
	char	first[NVMEOF_NAME_MAX + 1];
	u64	since;
	u32	live;
	u32	expected;
};

struct summaries {
	struct summary gone, back, fewer;
};

/* Other controllers can have a path to the head: it is shared and has identifiers, see attach_find_head() */
static bool may_join(const struct nof_head *head)
{
	return head->format.shared && head->format.ids.have;
}

/* The controller had a path to the head when it was LOST, and no scan has succeeded since */
static bool lost_disks_has(const struct nof_ctrl *ctrl, const struct nof_head *head)
{
	const struct nof_recovery *r = &ctrl->recovery;

	return r->lost_disks && head->id < r->lost_disks_bits && test_bit(head->id, r->lost_disks);
}

/* The controller is expected to have a path to the head, whether it has one or not */
static bool ctrl_expected(const struct nof_ctrl *ctrl, const struct nof_head *head)
{
	if (nof_state_ends(nof_ctrl_state(ctrl)))
		return false;
	return lost_disks_has(ctrl, head) || (may_join(head) && nof_ctrl_paths_overdue(ctrl));
}

bool nof_head_waits_only_for(const struct nof_head *head, const struct nof_ctrl *ctrl)
{
	const struct nof_ctrl *other;

	lockdep_assert_held(&head->subsys->lock);
	list_for_each_entry(other, &head->subsys->ctrls, entry)
		if (other != ctrl && ctrl_expected(other, head))
			return false;
	return lost_disks_has(ctrl, head);
}

/* Paths stay when their connection is lost, until their controller is LOST */
static void count_paths(const struct nof_head *head, u32 *nr_live, u32 *nr_expected)
{
	struct nof_ctrl *ctrl;
	struct nof_path *path;
	u32 live = 0, expected = 0;

	lockdep_assert_held(&head->subsys->lock);
	list_for_each_entry(ctrl, &head->subsys->ctrls, entry)
		expected += ctrl_expected(ctrl, head);
	list_for_each_entry(path, &head->paths, entry) {
		live += nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_LIVE;
		expected += !nof_state_ends(nof_ctrl_state(path->ctrl)) && !ctrl_expected(path->ctrl, head);
	}
	*nr_live = live;
	*nr_expected = expected;
}

void nof_head_count_paths(struct nof_head *head, u32 *nr_live, u32 *nr_expected)
{
	mutex_lock(&head->subsys->lock);
	count_paths(head, nr_live, nr_expected);
	mutex_unlock(&head->subsys->lock);
}

static void events_add(struct nof_subsys *s, struct nof_pending_events *pending, struct list_head *list)
{
	lockdep_assert_held(&s->lock);
	if (!list_empty(&pending->entry))
		return;
	list_add_tail(&pending->entry, list);
	queue_work(nof_wq, &s->events_work);
}

void nof_head_event_later(struct nof_head *head, enum nvmeof_event event)
{
	head->pending.events |= BIT(event);
	events_add(head->subsys, &head->pending, &head->subsys->event_heads);
}

void nof_path_event_later(struct nof_path *path, enum nvmeof_event event)
{
	path->pending.events |= BIT(event);
	events_add(path->head->subsys, &path->pending, &path->head->subsys->event_paths);
}

void nof_paths_event_locked(struct nof_ctrl *ctrl, enum nvmeof_event event)
{
	struct nof_head *head;
	struct nof_path *path;

	lockdep_assert_held(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			nof_path_event_later(path, event);
}

void nof_paths_event(struct nof_ctrl *ctrl, enum nvmeof_event event)
{
	mutex_lock(&ctrl->subsys->lock);
	nof_paths_event_locked(ctrl, event);
	mutex_unlock(&ctrl->subsys->lock);
}

void nof_head_review_paths(struct nof_head *head)
{
	events_add(head->subsys, &head->pending, &head->subsys->event_heads);
}

/* Highest number of the heads that the controller has a path to */
static u32 highest_number(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;
	u32 highest = 0;

	mutex_lock(&ctrl->subsys->lock);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl)
			highest = max(highest, head->id);
	mutex_unlock(&ctrl->subsys->lock);
	return highest;
}

/* Adds to the disks of an earlier loss. Without memory, only those are expected. */
void nof_ctrl_paths_lost(struct nof_ctrl *ctrl)
{
	u32 bits = max(highest_number(ctrl) + 1, ctrl->recovery.lost_disks_bits);
	unsigned long *owed = bitmap_zalloc(bits, GFP_NOIO);
	struct nof_head *head;
	struct nof_path *path;

	if (!owed)
		return;
	mutex_lock(&ctrl->subsys->lock);
	if (ctrl->recovery.lost_disks)
		bitmap_copy(owed, ctrl->recovery.lost_disks, ctrl->recovery.lost_disks_bits);
	nof_for_each_path(ctrl->subsys, head, path)
		if (path->ctrl == ctrl && head->id < bits)
			__set_bit(head->id, owed);
	swap(ctrl->recovery.lost_disks, owed);
	ctrl->recovery.lost_disks_bits = bits;
	mutex_unlock(&ctrl->subsys->lock);
	bitmap_free(owed);
}

/* After a successful scan, the paths show which disks the controller has */
static void lost_disks_clear(struct nof_ctrl *ctrl)
{
	lockdep_assert_held(&ctrl->subsys->lock);
	if (nof_ctrl_state(ctrl) != NVMEOF_CTRL_LIVE || !READ_ONCE(ctrl->scan.done))
		return;
	bitmap_free(ctrl->recovery.lost_disks);
	ctrl->recovery.lost_disks = NULL;
	ctrl->recovery.lost_disks_bits = 0;
}

void nof_ctrl_update_expected(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head;

	mutex_lock(&s->lock);
	lost_disks_clear(ctrl);
	list_for_each_entry(head, &s->heads, entry)
		nof_head_review_paths(head);
	mutex_unlock(&s->lock);
}

struct counts {
	bool none;
	bool fewer;
	u32 live;
	u32 expected;
};

static void summary_add(struct summary *sum, const struct nof_head *head, const struct counts *now)
{
	if (sum->nr++)
		return;
	strscpy(sum->first, nof_head_name(head), sizeof(sum->first));
	sum->since = head->alerts.no_path_since;
	sum->live = now->live;
	sum->expected = now->expected;
}

static void alert_none(struct nof_head *head, const struct counts *now, struct summaries *all)
{
	struct nof_path_alerts *a = &head->alerts;

	if (now->none == a->none_alerted)
		return;
	a->none_alerted = now->none;
	if (now->none)
		a->no_path_since = ktime_get_boottime_ns();
	summary_add(now->none ? &all->gone : &all->back, head, now);
	/* alert_fewer() did not log it while no path was usable */
	if (!now->none && now->fewer && a->fewer_alerted)
		summary_add(&all->fewer, head, now);
	head->pending.events |= BIT(now->none ? NVMEOF_EVENT_NO_PATH : NVMEOF_EVENT_PATH_BACK);
}

static void alert_fewer(struct nof_head *head, const struct counts *now, struct summaries *all)
{
	struct nof_path_alerts *a = &head->alerts;

	if (now->fewer == a->fewer_alerted)
		return;
	a->fewer_alerted = now->fewer;
	if (now->fewer && !now->none)
		summary_add(&all->fewer, head, now);
	head->pending.events |= BIT(now->fewer ? NVMEOF_EVENT_FEWER_PATHS : NVMEOF_EVENT_ALL_PATHS);
}

static void alerts_update(struct nof_head *head, struct summaries *all)
{
	struct counts now = { .none = !nof_head_nr_usable(head) };

	if (!test_bit(NOF_HEAD_ADDED, &head->flags) || nof_head_removing(head))
		return;
	count_paths(head, &now.live, &now.expected);
	now.fewer = now.live < now.expected;
	alert_none(head, &now, all);
	alert_fewer(head, &now, all);
}

/* Events of one object, taken under subsys->lock and sent without it: recovery needs it */
struct object_events {
	struct nof_head	*head;	/* pinned, or NULL */
	struct nof_path	*path;
	u32		what;
};

/* Takes the events of the next head, maybe none; false if the list is empty. Caller holds subsys->lock. */
static bool events_take_head(struct nof_subsys *s, struct object_events *t, struct summaries *all)
{
	struct nof_head *head = list_first_entry_or_null(&s->event_heads, struct nof_head, pending.entry);

	if (!head)
		return false;
	list_del_init(&head->pending.entry);
	alerts_update(head, all);
	*t = (struct object_events){ .what = head->pending.events };
	if (t->what)
		t->head = nof_head_pin(head);
	head->pending.events = 0;
	return true;
}

static bool events_take_path(struct nof_subsys *s, struct object_events *t)
{
	struct nof_path *path = list_first_entry_or_null(&s->event_paths, struct nof_path, pending.entry);

	if (!path)
		return false;
	list_del_init(&path->pending.entry);
	/* the ADDED event will carry its whole state */
	*t = (struct object_events){ .what = path->shown ? path->pending.events : 0 };
	if (t->what)
		t->path = nof_path_pin(path);
	path->pending.events = 0;
	return true;
}

static void events_send(const struct object_events *t)
{
	enum nvmeof_event event;

	for (event = 0; event < BITS_PER_TYPE(t->what); event++) {
		if (!(t->what & BIT(event)))
			continue;
		if (t->head)
			nof_events->ns(t->head, event);
		else
			nof_events->path(t->path, event);
	}
	if (t->head)
		nof_head_unpin(t->head);
	if (t->path)
		nof_path_unpin(t->path);
}

/* Returns the number of objects; caller holds events_lock */
static u32 events_send_some(struct nof_subsys *s, struct summaries *all)
{
	struct object_events batch[EVENT_BATCH];
	u32 n = 0, i;

	mutex_lock(&s->lock);
	while (n < EVENT_BATCH && (events_take_head(s, &batch[n], all) || events_take_path(s, &batch[n])))
		n++;
	mutex_unlock(&s->lock);
	for (i = 0; i < n; i++)
		events_send(&batch[i]);
	return n;
}

static void alerts_log(struct nof_subsys *s, const struct summaries *all)
{
	const struct summary *gone = &all->gone, *back = &all->back, *fewer = &all->fewer;

	if (gone->nr)
		dev_warn_ratelimited(&s->dev,
				     "no usable path to %s (%u disks in all): I/O waits, see fast_io_fail_tmo\n",
				     gone->first, gone->nr);
	if (back->nr)
		dev_info_ratelimited(&s->dev, "a usable path to %s again, after %llu ms (%u disks in all)\n",
				     back->first, div_u64(ktime_get_boottime_ns() - back->since, NSEC_PER_MSEC),
				     back->nr);
	if (fewer->nr)
		dev_warn_ratelimited(&s->dev, "%s has %u of %u paths (%u disks with fewer in all)\n", fewer->first,
				     fewer->live, fewer->expected, fewer->nr);
}

static void events_work(struct work_struct *work)
{
	struct nof_subsys *s = container_of(work, struct nof_subsys, events_work);
	struct summaries all = {};
	u32 n;

	do {
		mutex_lock(&s->events_lock);
		n = events_send_some(s, &all);
		mutex_unlock(&s->events_lock);
	} while (n);
	alerts_log(s, &all);
}

void nof_events_flush(struct nof_subsys *s)
{
	mutex_lock(&s->events_lock);
	mutex_unlock(&s->events_lock);
}

void nof_events_init(struct nof_subsys *s)
{
	mutex_init(&s->events_lock);
	INIT_LIST_HEAD(&s->event_heads);
	INIT_LIST_HEAD(&s->event_paths);
	INIT_WORK(&s->events_work, events_work);
}

void nof_events_exit(struct nof_subsys *s)
{
	cancel_work_sync(&s->events_work);
}
