// SPDX-License-Identifier: GPL-2.0-only
/* A namespace that a scan has found becomes a path: joined to the head that it belongs to, or refused for a reason. */
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/ana.h"
#include "mpath/duplicate.h"
#include "mpath/failover.h"
#include "mpath/head.h"
#include "mpath/notice.h"
#include "mpath/path.h"
#include "wire/identify.h"

static void attach_join(struct nof_path *path, struct nof_head *head, const struct nof_ns_format *format,
			u32 association)
{
	lockdep_assert_held(&head->subsys->lock);
	kref_get(&head->ref);
	path->head = head;
	scnprintf(path->name, sizeof(path->name), "%sn%u", nof_ctrl_name(path->ctrl), head->id);
	nof_failover_add(path);
	path->seen = true;
	path->association = association;
	path->ana_group = format->ana_group;
	/* made room for, but for the case of attach_as_last_resort() */
	if (nof_head_too_wide(head, path->ctrl, format))
		path->unfit = nof_path_unfit(path);
	nof_ana_set(path, nof_ana_state_of(path->ctrl, format->ana_group));
	nof_ana_look_for(path->ctrl, format->ana_group);
	if (test_and_clear_bit(NOF_HEAD_LINGERS, &head->flags)) {
		cancel_delayed_work(&head->removal_work);
		head->format.shared = format->shared;
		/* until it is applied the target refuses what is too much for it */
		nof_head_resize(head, format);
	}
	path->nr = nof_topology_changed();
	list_add_tail(&path->entry, &head->paths);
	head->nr_paths++;
	path->ctrl->nr_paths++;
	nof_head_join_effects(head);
	nof_head_publish(head);
}

/* Made room for, or so it was; then another path made the disk, or came to one that lingered */
static const char too_narrow[] = "the disk promises more than this path can do; tried again later";

static const char duplicate[] = "a disk of another subsystem has its identifiers; rescan when that has gone";

static const char other_pi[] = "protection information differs from the namespace's other paths";
static const char other_zones[] = "zone size differs from the namespace's other paths";
static const char more_zones[] = "a zoned namespace has another size than its disk, which stays as it is";

static const char other_size[] = "capacity or block size differs from the namespace's other paths";

/* A private namespace (NMIC bit 0 clear), or one without identifiers, is never joined to another path's head */
static struct nof_head *attach_find_head(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *f,
					 const char **why)
{
	struct nof_head *head;

	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		/* one that lingers has nobody to agree with */
		bool alone = !head->nr_paths, fixed = !alone || f->zone_blocks;

		if (test_bit(NOF_HEAD_REMOVING, &head->flags))
			continue;
		if (!nof_ns_ids_match(&head->format.ids, &f->ids)) {
			if (head->nsid == nsid && f->shared && head->format.shared && !alone)
				*why = "another path has this namespace ID with other identifiers";
			continue;
		}
		if (!alone && (!f->shared || !head->format.shared))
			*why = "a namespace that is not shared has the identifiers of another";
		else if (head->nsid != nsid)
			*why = "another path has these identifiers with another namespace ID";
		else if (head->format.zone_blocks != f->zone_blocks)
			*why = other_zones;
		else if (!nof_ns_same_pi(&head->format, f))
			*why = other_pi;
		else if ((fixed && head->format.nlbas != f->nlbas) || head->format.lba_shift != f->lba_shift)
			*why = other_size;
		else if (nof_head_too_wide(head, ctrl, f))
			*why = too_narrow;
		return head;
	}
	return NULL;
}

static const char no_memory[] = "out of memory; tried again later";
/* Whatever the errno: the driver core has others for lack of memory, too */
static const char no_disk[] = "cannot add the disk; tried again later";

enum nof_refusal nof_path_refusal(const char *why)
{
	if (why == no_memory)
		return NOF_REFUSED_NO_MEMORY;
	if (why == nof_head_busy || why == no_disk || why == too_narrow)
		return NOF_REFUSED_AGAIN;
	return why == other_size || why == other_pi ? NOF_REFUSED_LATER : NOF_REFUSED;
}

static const char too_many[] = "more namespaces than max_namespaces of the module";

/* A disk could not be shown */
static const char *attach_not_shown(const struct nof_head *head, int ret)
{
	if (ret == -EPROTO && head->zone_fault)
		return head->zone_fault;
	if (ret == -EEXIST)
		return duplicate;
	return ret == -ENOMEM ? no_memory : no_disk;
}

static const char *attach_not_made(int ret)
{
	if (ret == -EEXIST)
		return duplicate;
	return ret == -ENOMEM ? no_memory : "cannot create a disk";
}

/*
 * Requests that wait for any path keep the disk from coming to rest, and what they wait for may be this one: it takes
 * what it can of them, and the disk is narrowed when that is done.
 */
static bool attach_as_last_resort(struct nof_head *head, const char *why)
{
	return why == too_narrow && !nof_head_nr_usable(head);
}

/* Under subsys->lock: the one to join, or @new if there is none; NULL with neither, or with @why */
static struct nof_head *attach_head_for(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
					struct nof_head *new, const char **why)
{
	struct nof_head *head = attach_find_head(ctrl, nsid, format, why);
	int ret;

	if (attach_as_last_resort(head, *why))
		*why = NULL;
	if (*why)
		set_bit(NOF_CTRL_REFUSED, &ctrl->flags);
	/* the others may have changed likewise, and nobody has looked yet */
	if (*why == other_size || *why == other_pi)
		nof_paths_rescan_locked(head);
	if (!head && new) {
		ret = nof_head_enlist(new);
		if (ret)
			*why = ret == -ENOMEM ? no_memory : too_many;
	}
	return *why ? NULL : head ?: new;
}

static const char *attach_new(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association)
{
	struct nof_path *path = nof_path_alloc(ctrl, nsid);
	struct nof_head *head, *new = NULL;
	struct nof_subsys *s = ctrl->subsys;
	const char *why = NULL;
	int ret;

	if (!path)
		return no_memory;
	mutex_lock(&s->lock);
	head = attach_head_for(ctrl, nsid, format, NULL, &why);
	if (!head && !why) {
		/* no memory under this lock, which recovery needs; another may make the head meanwhile */
		mutex_unlock(&s->lock);
		new = nof_duplicate_refused(s, nsid, &format->ids) ? ERR_PTR(-EEXIST) :
								     nof_head_create(ctrl, nsid, format);
		if (IS_ERR(new)) {
			kobject_put(&path->kobj);
			return attach_not_made(PTR_ERR(new));
		}
		mutex_lock(&s->lock);
		head = attach_head_for(ctrl, nsid, format, new, &why);
	}
	if (head)
		attach_join(path, head, format, association);
	mutex_unlock(&s->lock);
	if (new && head != new)
		nof_head_drop(new);
	if (!head) {
		kobject_put(&path->kobj);
		return why;
	}
	nof_head_apply_size(head);
	/* the path is in place, so partitions can be read; it keeps the head, as nobody else removes it */
	ret = nof_head_show(head);
	if (ret)
		why = attach_not_shown(head, ret);
	if (why && head == new)
		nof_path_discard(path);
	return why ?: path->unfit ? nof_head_busy : NULL;
}

/*
 * The head that the namespace belongs to, in the state it is in, if it promises too much for this path; referenced. It
 * is that of the path there is, for as long as it is the same namespace, or the one to be joined.
 */
static struct nof_head *attach_too_wide(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s = ctrl->subsys;
	const char *why = NULL;
	struct nof_path *path;
	bool wide;

	mutex_lock(&s->lock);
	path = nof_path_of(ctrl, nsid);
	if (path && nof_head_is(path->head, ctrl, format)) {
		head = path->head;
		wide = !test_bit(NOF_HEAD_REMOVING, &head->flags) && nof_head_too_wide(head, ctrl, format);
	} else {
		head = attach_find_head(ctrl, nsid, format, &why);
		wide = why == too_narrow;
	}
	if (head && wide) {
		found = nof_head_pin(head);
	}
	mutex_unlock(&s->lock);
	return found;
}

/* Before its state is looked at under the lock: this waits */
static const char *attach_make_room(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head = attach_too_wide(ctrl, nsid, format);
	const char *why = NULL;

	if (head) {
		why = nof_head_narrow(head, ctrl, format);
		nof_head_unpin(head);
	}
	return why;
}

/* Takes note of what changed of a path that is there; @why: it does not fit, for now */
static void attach_update(struct nof_path *path, const struct nof_ns_format *format, u32 association, const char *why)
{
	bool moved = path->ana_group != format->ana_group, changed = moved || path->association != association;
	enum nof_unfit unfit = why ? nof_path_unfit(path) : NOF_FIT;

	path->seen = true;
	path->association = association;
	nof_head_join_effects(path->head);
	if (moved) {
		path->ana_group = format->ana_group;
		nof_ana_set(path, nof_ana_state_of(path->ctrl, path->ana_group));
		nof_ana_look_for(path->ctrl, path->ana_group);
	}
	if (changed || path->unfit != unfit) {
		WRITE_ONCE(path->unfit, unfit);
		nof_head_publish(path->head);
		nof_news_path(path, NVMEOF_EVENT_STATE);
	}
	nof_head_widen_later(path->head);
	if (!why && nof_head_resize(path->head, format))
		nof_paths_rescan_refused(path->ctrl->subsys);
}

const char *nof_path_attach(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association)
{
	const char *why = attach_make_room(ctrl, nsid, format);
	struct nof_subsys *s = ctrl->subsys;
	struct nof_path *path;
	bool same = false;
	const char *rest;
	int ret = 0;

	mutex_lock(&s->lock);
	path = nof_path_of(ctrl, nsid);
	if (path)
		same = nof_head_is(path->head, ctrl, format) && !test_bit(NOF_HEAD_REMOVING, &path->head->flags);
	if (same)
		attach_update(path, format, association, why);
	mutex_unlock(&s->lock);
	if (same)
		nof_head_apply_size(path->head);
	/* one whose disk could not be made visible when a path became usable */
	if (same && !why && !test_bit(NOF_HEAD_ADDED, &path->head->flags))
		ret = nof_head_show(path->head);
	if (ret)
		why = attach_not_shown(path->head, ret);
	if (same && !why && format->zone_blocks && path->head->format.nlbas != format->nlbas)
		why = more_zones;
	if (same)
		return why;
	/*
	 * another namespace now: nothing more may be written by the old name; or a head whose disk could not be added
	 */
	if (path) {
		path->replaced = true;
		nof_path_remove(path, false);
	}
	if (why && why != nof_head_busy)
		return why;
	/* too busy to make room: it may join all the same */
	rest = attach_new(ctrl, nsid, format, association);
	return why && rest == too_narrow ? why : rest;
}

void nof_path_confirm(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association)
{
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	path = nof_path_of(ctrl, nsid);
	if (path && nof_head_is(path->head, ctrl, format))
		path->association = association;
	mutex_unlock(&ctrl->subsys->lock);
}
