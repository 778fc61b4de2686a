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

static const char *const refusals[NOF_NR_REFUSALS] = {
	[NOF_REFUSED_NO_MEMORY]	= "out of memory; tried again later",
	/* whatever the errno: the driver core has others for lack of memory, too */
	[NOF_REFUSED_NO_DISK]	= "cannot add the disk; tried again later",
	[NOF_REFUSED_BUSY]	= "the disk has to promise less, but requests under way do not end; tried again later",
	/* room was made, and then another path made the disk, or came to one that lingered */
	[NOF_REFUSED_TOO_NARROW] = "the disk promises more than this path can do; tried again later",
	[NOF_REFUSED_SIZE]	= "capacity or block size differs from the namespace's other paths",
	[NOF_REFUSED_PI]	= "protection information differs from the namespace's other paths",
	[NOF_REFUSED_ZONE_SIZE]	= "zone size differs from the namespace's other paths",
	[NOF_REFUSED_ZONE_COUNT] = "a zoned namespace has another size than its disk, which stays as it is",
	[NOF_REFUSED_ZONES]	= "its zones cannot be used",	/* head->zone_fault says more */
	[NOF_REFUSED_IDS]	= "another path has this namespace ID with other identifiers",
	[NOF_REFUSED_PRIVATE]	= "a namespace that is not shared has the identifiers of another",
	[NOF_REFUSED_NSID]	= "another path has these identifiers with another namespace ID",
	[NOF_REFUSED_DUPLICATE]	= "a disk of another subsystem has its identifiers; rescan when that has gone",
	[NOF_REFUSED_TOO_MANY]	= "more namespaces than max_namespaces of the module",
	[NOF_REFUSED_LIMITS]	= "the block layer refuses the limits that all paths can keep",
	[NOF_REFUSED_CREATE]	= "cannot create a disk",
};

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

/* A private namespace (NMIC bit 0 clear), or one without identifiers, is never joined to another path's head */
static struct nof_head *attach_find_head(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *f,
					 enum nof_refusal *refusal)
{
	struct nof_head *head;

	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		/* one that lingers has nobody to agree with */
		bool alone = !head->nr_paths, fixed = !alone || f->zone_blocks;

		if (test_bit(NOF_HEAD_REMOVING, &head->flags))
			continue;
		if (!nof_ns_ids_match(&head->format.ids, &f->ids)) {
			if (head->nsid == nsid && f->shared && head->format.shared && !alone)
				*refusal = NOF_REFUSED_IDS;
			continue;
		}
		if (!alone && (!f->shared || !head->format.shared))
			*refusal = NOF_REFUSED_PRIVATE;
		else if (head->nsid != nsid)
			*refusal = NOF_REFUSED_NSID;
		else if (head->format.zone_blocks != f->zone_blocks)
			*refusal = NOF_REFUSED_ZONE_SIZE;
		else if (!nof_ns_same_pi(&head->format, f))
			*refusal = NOF_REFUSED_PI;
		else if ((fixed && head->format.nlbas != f->nlbas) || head->format.lba_shift != f->lba_shift)
			*refusal = NOF_REFUSED_SIZE;
		else if (nof_head_too_wide(head, ctrl, f))
			*refusal = NOF_REFUSED_TOO_NARROW;
		return head;
	}
	return NULL;
}

/* A disk could not be made, or not be shown. @other: for errors that say nothing more */
static enum nof_refusal attach_refusal(int err, enum nof_refusal other)
{
	switch (err) {
	case 0:		return NOF_ATTACHED;
	case -EPROTO:	return NOF_REFUSED_ZONES;
	case -EEXIST:	return NOF_REFUSED_DUPLICATE;
	case -ENOMEM:	return NOF_REFUSED_NO_MEMORY;
	default:	return other;
	}
}

/*
 * Requests that wait for any path keep the disk from coming to rest, and what they wait for may be this one: it takes
 * what it can of them, and the disk is narrowed when that is done.
 */
static bool attach_as_last_resort(struct nof_head *head, enum nof_refusal refusal)
{
	return refusal == NOF_REFUSED_TOO_NARROW && !nof_head_nr_usable(head);
}

static enum nof_refusal attach_show(struct nof_head *head, const char **text)
{
	enum nof_refusal refusal = attach_refusal(nof_head_show(head), NOF_REFUSED_NO_DISK);

	if (refusal == NOF_REFUSED_ZONES)
		*text = head->zone_fault;
	return refusal;
}

/* Under subsys->lock: the one to join, or @new if there is none; NULL with neither, or with @refusal */
static struct nof_head *attach_head_for(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
					struct nof_head *new, enum nof_refusal *refusal)
{
	struct nof_head *head = attach_find_head(ctrl, nsid, format, refusal);
	int ret;

	if (attach_as_last_resort(head, *refusal))
		*refusal = NOF_ATTACHED;
	if (*refusal)
		set_bit(NOF_CTRL_REFUSED, &ctrl->flags);
	/* the others may have changed likewise, and nobody has looked yet */
	if (*refusal == NOF_REFUSED_SIZE || *refusal == NOF_REFUSED_PI)
		nof_paths_rescan_locked(head);
	if (!head && new) {
		ret = nof_head_enlist(new);
		if (ret)
			*refusal = ret == -ENOMEM ? NOF_REFUSED_NO_MEMORY : NOF_REFUSED_TOO_MANY;
	}
	return *refusal ? NULL : head ?: new;
}

static enum nof_refusal attach_new(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association,
				   const char **text)
{
	enum nof_refusal refusal = NOF_ATTACHED;
	struct nof_path *path = nof_path_alloc(ctrl, nsid);
	struct nof_head *head, *new = NULL;
	struct nof_subsys *s = ctrl->subsys;

	if (!path)
		return NOF_REFUSED_NO_MEMORY;
	mutex_lock(&s->lock);
	head = attach_head_for(ctrl, nsid, format, NULL, &refusal);
	if (!head && !refusal) {
		/* no memory under this lock, which recovery needs; another may make the head meanwhile */
		mutex_unlock(&s->lock);
		new = nof_duplicate_refused(s, nsid, &format->ids) ? ERR_PTR(-EEXIST) :
								     nof_head_create(ctrl, nsid, format);
		if (IS_ERR(new)) {
			kobject_put(&path->kobj);
			return attach_refusal(PTR_ERR(new), NOF_REFUSED_CREATE);
		}
		mutex_lock(&s->lock);
		head = attach_head_for(ctrl, nsid, format, new, &refusal);
	}
	if (head)
		attach_join(path, head, format, association);
	mutex_unlock(&s->lock);
	if (new && head != new)
		nof_head_drop(new);
	if (!head) {
		kobject_put(&path->kobj);
		return refusal;
	}
	nof_head_apply_size(head);
	/* the path is in place, so partitions can be read; it keeps the head, as nobody else removes it */
	refusal = attach_show(head, text);
	if (refusal && head == new)
		nof_path_discard(path);
	return refusal ?: path->unfit ? NOF_REFUSED_BUSY : NOF_ATTACHED;
}

/*
 * The head that the namespace belongs to, in the state it is in, if it promises too much for this path; referenced. It
 * is that of the path there is, for as long as it is the same namespace, or the one to be joined.
 */
static struct nof_head *attach_too_wide(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s = ctrl->subsys;
	enum nof_refusal refusal = NOF_ATTACHED;
	struct nof_path *path;
	bool wide;

	mutex_lock(&s->lock);
	path = nof_path_of(ctrl, nsid);
	if (path && nof_head_is(path->head, ctrl, format)) {
		head = path->head;
		wide = !test_bit(NOF_HEAD_REMOVING, &head->flags) && nof_head_too_wide(head, ctrl, format);
	} else {
		head = attach_find_head(ctrl, nsid, format, &refusal);
		wide = refusal == NOF_REFUSED_TOO_NARROW;
	}
	if (head && wide)
		found = nof_head_pin(head);
	mutex_unlock(&s->lock);
	return found;
}

/* Before its state is looked at under the lock: this waits */
static enum nof_refusal attach_make_room(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_head *head = attach_too_wide(ctrl, nsid, format);
	enum nof_refusal refusal = NOF_ATTACHED;

	if (head) {
		refusal = nof_head_narrow(head, ctrl, format);
		nof_head_unpin(head);
	}
	return refusal;
}

/* Takes note of what changed of a path that is there; @fits: it can do what the disk promises */
static void attach_update(struct nof_path *path, const struct nof_ns_format *format, u32 association, bool fits)
{
	bool moved = path->ana_group != format->ana_group, changed = moved || path->association != association;
	enum nof_unfit unfit = fits ? NOF_FIT : nof_path_unfit(path);

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
	if (fits && nof_head_resize(path->head, format))
		nof_paths_rescan_refused(path->ctrl->subsys);
}

static enum nof_refusal attach_or_update(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format,
					 u32 association, const char **text)
{
	enum nof_refusal room = attach_make_room(ctrl, nsid, format), refusal = room;
	struct nof_subsys *s = ctrl->subsys;
	struct nof_path *path;
	bool same = false;

	mutex_lock(&s->lock);
	path = nof_path_of(ctrl, nsid);
	if (path)
		same = nof_head_is(path->head, ctrl, format) && !test_bit(NOF_HEAD_REMOVING, &path->head->flags);
	if (same)
		attach_update(path, format, association, !room);
	mutex_unlock(&s->lock);
	if (same) {
		nof_head_apply_size(path->head);
		/* one whose disk could not be made visible when a path became usable */
		if (!refusal && !test_bit(NOF_HEAD_ADDED, &path->head->flags))
			refusal = attach_show(path->head, text);
		if (!refusal && format->zone_blocks && path->head->format.nlbas != format->nlbas)
			refusal = NOF_REFUSED_ZONE_COUNT;
		return refusal;
	}
	/*
	 * another namespace now: nothing more may be written by the old name; or a head whose disk could not be added
	 */
	if (path) {
		path->replaced = true;
		nof_path_remove(path, false);
	}
	if (room && room != NOF_REFUSED_BUSY)
		return room;
	/* too busy to make room: it may join all the same */
	refusal = attach_new(ctrl, nsid, format, association, text);
	return room && refusal == NOF_REFUSED_TOO_NARROW ? room : refusal;
}

enum nof_refusal nof_path_attach(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format, u32 association,
				 const char **text)
{
	enum nof_refusal refusal;

	*text = NULL;
	refusal = attach_or_update(ctrl, nsid, format, association, text);
	*text = *text ?: refusals[refusal];
	return refusal;
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
