// SPDX-License-Identifier: GPL-2.0-only
/* The transports there are. */
#include <linux/kmod.h>
#include "core/orphans.h"
#include "core/transport.h"

static LIST_HEAD(transports);
static DEFINE_MUTEX(transports_lock);

static struct nof_transport *registry_find(const char *name)
{
	struct nof_transport *t;

	lockdep_assert_held(&transports_lock);
	list_for_each_entry(t, &transports, entry)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

int nof_transport_register(struct nof_transport *t)
{
	int ret = 0;

	if (t->api != NOF_TRANSPORT_API) {
		pr_err("nvmeof: transport %s was built for another version of this module\n", t->name);
		return -EINVAL;
	}
	if (WARN_ON_ONCE((t->options & NOF_OPT_POLL_QUEUES) && !t->poll))
		return -EINVAL;
	mutex_lock(&transports_lock);
	if (registry_find(t->name))
		ret = -EEXIST;
	else
		list_add_tail(&t->entry, &transports);
	mutex_unlock(&transports_lock);
	if (!ret)
		nof_orphans_call(t->name);
	return ret;
}
EXPORT_SYMBOL_GPL(nof_transport_register);

/* How long it may take from saying that controllers are to stay to unloading the module */
#define KEEP_TMO	(10 * HZ)

int nof_transport_keep(const char *name)
{
	struct nof_transport *t;

	mutex_lock(&transports_lock);
	t = registry_find(name);
	if (t) {
		t->kept = true;
		t->kept_until = jiffies + KEEP_TMO;
	}
	mutex_unlock(&transports_lock);
	return t ? 0 : -ENOENT;
}

void nof_transport_unregister(struct nof_transport *t)
{
	bool keep;

	mutex_lock(&transports_lock);
	list_del(&t->entry);
	keep = t->kept && time_before(jiffies, t->kept_until);
	mutex_unlock(&transports_lock);
	if (keep)
		nof_orphans_keep(t);
	else
		nof_orphans_delete(t);
}
EXPORT_SYMBOL_GPL(nof_transport_unregister);

struct nof_transport *nof_transport_find(const char *name)
{
	struct nof_transport *t;

	mutex_lock(&transports_lock);
	t = registry_find(name);
	if (t && !try_module_get(t->owner))
		t = NULL;
	mutex_unlock(&transports_lock);
	return t;
}

struct nof_transport *nof_transport_get(const char *name)
{
	struct nof_transport *t = nof_transport_find(name);

	if (t)
		return t;
	/*
	 * not waited for: we are in a handler of netlink's, under a lock that a module with a family of its own needs
	 */
	request_module_nowait("nvmeof-%s", name);
	return NULL;
}

void nof_transport_put(struct nof_transport *t)
{
	module_put(t->owner);
}

int nof_transport_for_each(int (*fn)(const struct nof_transport *t, void *arg), void *arg)
{
	struct nof_transport *t;
	int ret = 0;

	mutex_lock(&transports_lock);
	list_for_each_entry(t, &transports, entry) {
		ret = fn(t, arg);
		if (ret)
			break;
	}
	mutex_unlock(&transports_lock);
	return ret;
}
