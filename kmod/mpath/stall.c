// SPDX-License-Identifier: GPL-2.0-only
/* A controller completes nothing (core/watch.c): whether its paths' siblings say that it is its own fault. */
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/stall.h"

/* Milliseconds: another controller stalled less than this ago: it is not the path */
#define STALL_AGAIN	60000

static bool head_elsewhere(struct nof_head *head, struct nof_ctrl *ctrl)
{
	struct nof_path *path;
	bool mine = false, other = false;

	list_for_each_entry(path, &head->paths, entry) {
		if (path->ctrl == ctrl)
			mine = true;
		else if (path->usable && nof_ctrl_state(path->ctrl) == NVMEOF_CTRL_LIVE &&
			 !READ_ONCE(path->ctrl->stalled))
			other = true;
	}
	return mine && other;
}

/* Some head of this controller has a usable path by another one */
static bool stall_elsewhere(struct nof_ctrl *ctrl)
{
	struct nof_head *head;

	lockdep_assert_held(&ctrl->subsys->lock);
	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		if (head_elsewhere(head, ctrl))
			return true;
	return false;
}

bool nof_stall_elsewhere(struct nof_ctrl *ctrl)
{
	bool has;

	mutex_lock(&ctrl->subsys->lock);
	has = stall_elsewhere(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
	return has;
}

/* Whether the other paths to namespaces that wait for this controller did something since this was last asked */
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

	return READ_ONCE(w->still) ||
	       (READ_ONCE(w->stalls) && time_before(jiffies, READ_ONCE(w->stalled_at) + msecs_to_jiffies(STALL_AGAIN)));
}

/*
 * Slow storage behind both paths is no stall: another one must have done I/O of the same namespace meanwhile, or not
 * have been asked. The latter is a guess, which is not made of one after the other.
 */
static const char *stall_verdict(struct nof_ctrl *ctrl, bool alone)
{
	bool moved = false, fresh = true;
	struct nof_ctrl *other;
	struct nof_head *head;

	if (!stall_elsewhere(ctrl))
		return NULL;
	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		moved |= others_complete(ctrl, head);
	list_for_each_entry(other, &ctrl->subsys->ctrls, entry)
		fresh &= other == ctrl || !slow_of_late(other);
	if (moved)
		return "others complete";
	return fresh && alone ? "others are idle" : NULL;
}

const char *nof_stall_verdict(struct nof_ctrl *ctrl, bool alone)
{
	const char *why;

	mutex_lock(&ctrl->subsys->lock);
	why = stall_verdict(ctrl, alone);
	mutex_unlock(&ctrl->subsys->lock);
	return why;
}
