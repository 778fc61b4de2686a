// SPDX-License-Identifier: GPL-2.0-only
#include <linux/moduleparam.h>
#include "core/ctrl.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/twins.h"

static bool duplicate_ids;
module_param(duplicate_ids, bool, 0644);
MODULE_PARM_DESC(duplicate_ids, "also disks that have the identifiers of a disk of another subsystem (N: held back)");

/* Under s->lock */
static struct nof_head *find_claimed(struct nof_subsys *s, const struct nof_head *head)
{
	struct nof_head *other;

	list_for_each_entry(other, &s->heads, entry)
		if (test_bit(NOF_HEAD_CLAIMS, &other->flags) &&
		    nof_ns_ids_clash(&other->format.ids, &head->format.ids))
			return other;
	return NULL;
}

static void say_twin(struct nof_head *head, const struct nof_head *other, bool held_back)
{
	const char *name = nof_head_name(other);

	if (held_back)
		dev_warn_ratelimited(&head->subsys->dev,
				     "namespace %u is held back: %s, of another subsystem, has its identifiers\n",
				     head->nsid, name);
	else
		dev_warn_ratelimited(&head->subsys->dev,
				     "%s has the identifiers of %s, which is of another subsystem\n",
				     nof_head_name(head), name);
}

/* Whether there is one, which is said. Under nof_subsystems_lock. */
static bool has_twin(struct nof_head *head, bool held_back)
{
	struct nof_head *other;
	struct nof_subsys *s;
	bool found = false;

	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s == head->subsys)
			continue;
		mutex_lock(&s->lock);
		other = find_claimed(s, head);
		if (other)
			say_twin(head, other, held_back);
		found |= other != NULL;
		mutex_unlock(&s->lock);
	}
	return found;
}

int nof_twins_claim(struct nof_head *head)
{
	bool held_back = !READ_ONCE(duplicate_ids);

	mutex_lock(&nof_subsystems_lock);
	held_back = held_back && has_twin(head, true);
	if (held_back)
		head->subsys->has_twins = true;
	else
		set_bit(NOF_HEAD_CLAIMS, &head->flags);
	mutex_unlock(&nof_subsystems_lock);
	return held_back ? -EEXIST : 0;
}

void nof_twins_tell(struct nof_head *head)
{
	bool found;

	if (!READ_ONCE(duplicate_ids))
		return;
	mutex_lock(&nof_subsystems_lock);
	found = has_twin(head, false);
	mutex_unlock(&nof_subsystems_lock);
	if (found)
		nof_events->ns(head, NVMEOF_EVENT_SAME_IDS);
}

void nof_twins_release(struct nof_head *head)
{
	struct nof_subsys *s;
	struct nof_ctrl *ctrl;

	if (!test_bit(NOF_HEAD_CLAIMS, &head->flags))
		return;
	mutex_lock(&nof_subsystems_lock);
	clear_bit(NOF_HEAD_CLAIMS, &head->flags);
	list_for_each_entry(s, &nof_subsystems, entry) {
		if (!s->has_twins)
			continue;
		s->has_twins = false;
		mutex_lock(&s->lock);
		list_for_each_entry(ctrl, &s->ctrls, entry)
			nof_scan_start(ctrl);
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
}
