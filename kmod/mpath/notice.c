// SPDX-License-Identifier: GPL-2.0-only
/*
 * Telling that disks have no usable path, or fewer than were connected for: an event for each, a line in the log for
 * all that a subsystem loses at once. In a work of its own, so that what publishes path sets does not wait for
 * listeners.
 */
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"

/* Disks of one kind of news, and the first of them */
struct news {
	u32	nr;
	char	first[NVMEOF_NAME_MAX + 1];
	u64	since;
	u32	live;
	u32	expected;
};

/* Whether it is missed at controllers that have no path to it: one that is never joined is its own one's alone */
static bool may_join(const struct nof_head *head)
{
	return head->format.shared && head->format.ids.have;
}

/* Paths outlast the loss of their connection. Controllers that owe paths count, whether they have one here or not. */
static void notice_count(struct nof_head *head, struct nof_notice *n)
{
	struct nof_ctrl *ctrl;
	struct nof_path *path;
	u32 live = 0, expected = 0;
	bool joins = may_join(head);

	list_for_each_entry(ctrl, &head->subsys->ctrls, entry)
		expected += joins && nof_ctrl_owes_paths(ctrl);
	list_for_each_entry(path, &head->paths, entry) {
		bool is_live = nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_LIVE;

		live += is_live;
		expected += nof_ctrl_state(path->ctrl) < NVMEOF_CTRL_DELETING &&
			    !(joins && nof_ctrl_owes_paths(path->ctrl));
	}
	WRITE_ONCE(n->nr_live, live);
	WRITE_ONCE(n->nr_expected, expected);
}

static bool notice_look(struct nof_head *head)
{
	struct nof_notice *n = &head->notice;

	lockdep_assert_held(&head->subsys->lock);
	notice_count(head, n);
	n->none = !nof_head_nr_usable(head);
	n->fewer = n->nr_live < n->nr_expected;
	return test_bit(NOF_HEAD_ADDED, &head->flags) && !test_bit(NOF_HEAD_REMOVING, &head->flags) &&
	       (n->none != n->none_told || n->fewer != n->fewer_told);
}

void nof_notice_head(struct nof_head *head)
{
	if (notice_look(head))
		queue_work(nof_wq, &head->subsys->notice_work);
}

void nof_notice_ctrl(struct nof_ctrl *ctrl)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head;
	bool news = false;

	mutex_lock(&s->lock);
	list_for_each_entry(head, &s->heads, entry)
		news |= notice_look(head);
	mutex_unlock(&s->lock);
	if (news)
		queue_work(nof_wq, &s->notice_work);
}

static void notice_add(struct news *news, const struct nof_head *head)
{
	if (news->nr++)
		return;
	strscpy(news->first, nof_head_name(head), sizeof(news->first));
	news->since = head->notice.none_since;
	news->live = head->notice.nr_live;
	news->expected = head->notice.nr_expected;
}

static void tell_none(struct nof_head *head, struct news *gone, struct news *back, struct news *fewer)
{
	struct nof_notice *n = &head->notice;

	if (n->none == n->none_told)
		return;
	n->none_told = n->none;
	if (n->none)
		n->none_since = ktime_get_boottime_ns();
	notice_add(n->none ? gone : back, head);
	/* not logged while there was none at all */
	if (!n->none && n->fewer && n->fewer_told)
		notice_add(fewer, head);
	nof_events->ns(head, n->none ? NVMEOF_EVENT_NO_PATH : NVMEOF_EVENT_PATH_BACK);
}

static void tell_fewer(struct nof_head *head, struct news *fewer)
{
	struct nof_notice *n = &head->notice;

	if (n->fewer == n->fewer_told)
		return;
	n->fewer_told = n->fewer;
	if (n->fewer && !n->none)
		notice_add(fewer, head);
	nof_events->ns(head, n->fewer ? NVMEOF_EVENT_FEWER_PATHS : NVMEOF_EVENT_ALL_PATHS);
}

/* Returns of how many disks */
static u32 notice_tell_some(struct nof_subsys *s, struct news *gone, struct news *back, struct news *fewer)
{
	struct nof_head *head;
	u32 n = 0;

	list_for_each_entry(head, &s->heads, entry) {
		if (n == NOF_TELL_AT_ONCE || !notice_look(head))
			continue;
		tell_none(head, gone, back, fewer);
		tell_fewer(head, fewer);
		n++;
	}
	return n;
}

static void notice_work(struct work_struct *work)
{
	struct nof_subsys *s = container_of(work, struct nof_subsys, notice_work);
	struct news gone = {}, back = {}, fewer = {};
	u32 n;

	do {
		mutex_lock(&s->lock);
		n = notice_tell_some(s, &gone, &back, &fewer);
		mutex_unlock(&s->lock);
	} while (n == NOF_TELL_AT_ONCE);
	if (gone.nr)
		dev_warn_ratelimited(&s->dev, "no usable path to %s (%u disks in all): I/O waits, or fails, as set\n",
				     gone.first, gone.nr);
	if (back.nr)
		dev_info_ratelimited(&s->dev, "a usable path to %s again, after %llu ms (%u disks in all)\n",
				     back.first, div_u64(ktime_get_boottime_ns() - back.since, NSEC_PER_MSEC),
				     back.nr);
	if (fewer.nr)
		dev_warn_ratelimited(&s->dev, "%s has %u of %u paths (%u disks with fewer in all)\n", fewer.first,
				     fewer.live, fewer.expected, fewer.nr);
}

void nof_notice_init(struct nof_subsys *s)
{
	INIT_WORK(&s->notice_work, notice_work);
}

void nof_notice_exit(struct nof_subsys *s)
{
	cancel_work_sync(&s->notice_work);
}
