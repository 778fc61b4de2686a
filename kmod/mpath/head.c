// SPDX-License-Identifier: GPL-2.0-only
/* Namespace heads: references, state, lookup, rescans, command effects. */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/numbers.h"
#include "core/subsys.h"
#include "core/work.h"
#include "mpath/head.h"
#include "mpath/path.h"

/* Bound on disks of a subsystem, whatever its target offers */
#define MAX_NAMESPACES	4096
static unsigned int max_namespaces = MAX_NAMESPACES;
module_param(max_namespaces, uint, 0644);
MODULE_PARM_DESC(max_namespaces, "maximum number of disks per subsystem (default " __stringify(MAX_NAMESPACES) ")");

static void head_release(struct kref *ref)
{
	struct nof_head *head = container_of(ref, struct nof_head, ref);
	struct nof_subsys *s = head->subsys;

	/* the last set is empty: no path refers to it, so it has no reader */
	kfree(rcu_access_pointer(head->set));
	if (head->id)
		nof_number_keep(s->number->inner, head->number, nof_head_max());
	else
		nof_number_free(head->number);
	kfree(head);
	nof_subsys_put(s);
}

/* Predecessors of each state. A disk that becomes visible while its last path is removed stays REMOVING. */
static const u8 head_before[] = {
	[NOF_HEAD_NEW]		= BIT(NOF_HEAD_HIDDEN),
	[NOF_HEAD_HIDDEN]	= BIT(NOF_HEAD_NEW) | BIT(NOF_HEAD_HIDDEN),
	[NOF_HEAD_VISIBLE]	= BIT(NOF_HEAD_NEW) | BIT(NOF_HEAD_HIDDEN) | BIT(NOF_HEAD_LINGERING),
	[NOF_HEAD_LINGERING]	= BIT(NOF_HEAD_VISIBLE),
	[NOF_HEAD_REMOVING]	= BIT(NOF_HEAD_NEW) | BIT(NOF_HEAD_HIDDEN) | BIT(NOF_HEAD_VISIBLE) |
				  BIT(NOF_HEAD_LINGERING) | BIT(NOF_HEAD_REMOVING),
	[NOF_HEAD_GONE]		= BIT(NOF_HEAD_REMOVING),
};

bool nof_head_set_state(struct nof_head *head, enum nof_head_state to)
{
	bool follows = head_before[to] & BIT(head->state);

	lockdep_assert_held(&head->subsys->lock);
	if (follows)
		WRITE_ONCE(head->state, to);
	return follows;
}

void nof_head_put(struct nof_head *head)
{
	kref_put(&head->ref, head_release);
}

void nof_head_unpin(struct nof_head *head)
{
	put_device(disk_to_dev(head->disk));
	nof_head_put(head);
}

u64 nof_head_size(const struct nof_head *head)
{
	return (u64)get_capacity(head->disk) << SECTOR_SHIFT;
}

u32 nof_head_nr_usable(struct nof_head *head)
{
	struct nof_path_set *set;
	int idx = srcu_read_lock(&head->subsys->srcu);
	u32 nr;

	set = srcu_dereference(head->set, &head->subsys->srcu);
	nr = set ? set->nr_usable : 0;
	srcu_read_unlock(&head->subsys->srcu, idx);
	return nr;
}

void nof_head_read_partitions(struct nof_head *head)
{
	lockdep_assert_held(&head->subsys->lock);
	if (test_and_clear_bit(NOF_HEAD_PARTS_UNREAD, &head->flags))
		queue_work(nof_disk_wq, &head->show.part_work);
}

u32 nof_head_max(void)
{
	return READ_ONCE(max_namespaces);
}

void nof_head_update_effects(struct nof_head *head)
{
	u8 csi = head->format.ids.csi;
	struct nof_path *path;
	u32 opcode;

	lockdep_assert_held(&head->subsys->lock);
	for (opcode = 0; opcode < ARRAY_SIZE(head->effects.of); opcode++) {
		u8 of = head->nr_paths ? U8_MAX : 0;

		/* a command may take any path */
		list_for_each_entry(path, &head->paths, entry) {
			const struct nof_effects *effects = nof_ctrl_effects(path->ctrl, csi);

			of &= effects ? effects->of[opcode] : 0;
		}
		WRITE_ONCE(head->effects.of[opcode], of);
	}
}

void nof_head_show_later(struct nof_head *head)
{
	lockdep_assert_held(&head->subsys->lock);
	if (nof_head_set_state(head, NOF_HEAD_NEW))
		queue_work(nof_wq, &head->show.work);
}

bool nof_head_wanted(struct nof_subsys *s, u32 nsid)
{
	struct nof_head *head;
	bool wanted;

	mutex_lock(&s->lock);
	wanted = s->nr_heads < nof_head_max();
	if (!wanted)
		list_for_each_entry(head, &s->heads, entry)
			wanted |= head->nsid == nsid;
	mutex_unlock(&s->lock);
	return wanted;
}

struct nof_head *nof_head_find(const char *name)
{
	struct nof_head *head, *found = NULL;
	struct nof_subsys *s;

	nof_for_each_subsys(s) {
		list_for_each_entry(head, &s->heads, entry)
			if (test_bit(NOF_HEAD_ADDED, &head->flags) && !strcmp(nof_head_name(head), name))
				found = nof_head_pin(head);
	}
	return found;
}

struct nof_ctrl *nof_head_live_ctrl(struct nof_head *head)
{
	struct nof_ctrl *best = NULL;
	struct nof_path *path;

	mutex_lock(&head->subsys->lock);
	list_for_each_entry(path, &head->paths, entry) {
		if (nof_ctrl_state(path->ctrl) != NVMEOF_CTRL_LIVE)
			continue;
		best = path->ctrl;
		if (path->usable)
			break;
	}
	if (best)
		nof_ctrl_get(best);
	mutex_unlock(&head->subsys->lock);
	return best;
}

void nof_paths_rescan_refused(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	lockdep_assert_held(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (test_bit(NOF_CTRL_REFUSED, &ctrl->flags))
			nof_scan_start(ctrl);
}

void nof_paths_rescan_locked(struct nof_head *head)
{
	struct nof_path *path;

	lockdep_assert_held(&head->subsys->lock);
	list_for_each_entry(path, &head->paths, entry)
		nof_scan_start(path->ctrl);
}

void nof_paths_rescan(struct nof_head *head)
{
	mutex_lock(&head->subsys->lock);
	nof_paths_rescan_locked(head);
	mutex_unlock(&head->subsys->lock);
}

void nof_paths_rescan_all(struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;

	mutex_lock(&s->lock);
	list_for_each_entry(ctrl, &s->ctrls, entry)
		if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE)
			nof_scan_start(ctrl);
	mutex_unlock(&s->lock);
}
