// SPDX-License-Identifier: GPL-2.0-only
/* Changes to policy values, one after another: two that read the same old values would undo one another. */
#include <linux/mutex.h>
#include "control/policy.h"
#include "core/subsys.h"
#include "mpath/subsys.h"

/* Before subsys->lock. */
static DEFINE_MUTEX(change_lock);

void nof_policy_begin(const struct nof_subsys *s, struct nof_policy *p)
{
	mutex_lock(&change_lock);
	*p = s->policy;
}

void nof_policy_commit(struct nof_subsys *s, const struct nof_policy *p)
{
	nof_subsys_set_policy(s, p);
	mutex_unlock(&change_lock);
}
