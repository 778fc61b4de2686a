// SPDX-License-Identifier: GPL-2.0-only
#include <linux/moduleparam.h>
#include "core/subsys.h"
#include "core/upcalls.h"
#include "mpath/duplicate.h"
#include "mpath/head.h"
#include "wire/identify.h"

static bool duplicate_ids;
module_param(duplicate_ids, bool, 0644);
MODULE_PARM_DESC(duplicate_ids, "also disks that have the identifiers of a disk of another subsystem (N: refused)");

/* The disk of @s that has one of the identifiers; under s->lock */
static struct nof_head *find_claimed(struct nof_subsys *s, const struct nof_ns_ids *ids)
{
	struct nof_head *head;

	list_for_each_entry(head, &s->heads, entry)
		if (test_bit(NOF_HEAD_CLAIMED, &head->flags) && nof_ns_ids_clash(&head->format.ids, ids))
			return head;
	return NULL;
}

/* Copies the name of another subsystem's disk that has one of the identifiers. Under nof_subsystems_lock. */
static bool find_other(const struct nof_subsys *of, const struct nof_ns_ids *ids, char *name)
{
	struct nof_head *other = NULL;
	struct nof_subsys *s;

	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s == of || !strcmp(s->nqn, of->nqn))
			continue;
		mutex_lock(&s->lock);
		other = find_claimed(s, ids);
		if (other)
			strscpy(name, nof_head_name(other), DISK_NAME_LEN);
		mutex_unlock(&s->lock);
		if (other)
			break;
	}
	return other;
}

static void warn_refused(const struct nof_subsys *s, u32 nsid, const char *name)
{
	dev_warn_ratelimited(&s->dev, "namespace %u is no disk: %s has its identifiers; see duplicate_ids\n", nsid,
			     name);
}

bool nof_duplicate_refused(const struct nof_subsys *s, u32 nsid, const struct nof_ns_ids *ids)
{
	char name[DISK_NAME_LEN];
	bool refused;

	if (READ_ONCE(duplicate_ids))
		return false;
	mutex_lock(&nof_subsystems_lock);
	refused = find_other(s, ids, name);
	mutex_unlock(&nof_subsystems_lock);
	if (refused)
		warn_refused(s, nsid, name);
	return refused;
}

int nof_duplicate_claim(struct nof_head *head)
{
	char name[DISK_NAME_LEN];
	bool refused;

	/* two that come at the same time: one of them */
	mutex_lock(&nof_subsystems_lock);
	refused = !READ_ONCE(duplicate_ids) && find_other(head->subsys, &head->format.ids, name);
	if (!refused)
		set_bit(NOF_HEAD_CLAIMED, &head->flags);
	mutex_unlock(&nof_subsystems_lock);
	if (refused)
		warn_refused(head->subsys, head->nsid, name);
	return refused ? -EEXIST : 0;
}

void nof_duplicate_tell(struct nof_head *head)
{
	char name[DISK_NAME_LEN];
	bool found;

	if (!READ_ONCE(duplicate_ids))
		return;
	mutex_lock(&nof_subsystems_lock);
	found = find_other(head->subsys, &head->format.ids, name);
	mutex_unlock(&nof_subsystems_lock);
	if (!found)
		return;
	dev_warn_ratelimited(&head->subsys->dev, "%s has the identifiers of %s, which is of another subsystem\n",
			     nof_head_name(head), name);
	nof_events->ns(head, NVMEOF_EVENT_SAME_IDS);
}

void nof_duplicate_release(struct nof_head *head)
{
	clear_bit(NOF_HEAD_CLAIMED, &head->flags);
}
