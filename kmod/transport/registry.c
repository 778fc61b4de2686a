// SPDX-License-Identifier: GPL-2.0-only
/* The transports there are. */
#include <linux/kmod.h>
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "transport/transport.h"

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
	return ret;
}
EXPORT_SYMBOL_GPL(nof_transport_register);

/* One controller of this transport that is still listed, with a reference */
static struct nof_ctrl *any_ctrl(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl, *found = NULL;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (!found && ctrl->transport == t)
				found = nof_ctrl_get(ctrl);
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	return found;
}

/* Nobody is creating a controller of this transport: that takes a reference on the module, which is going. */
static void delete_ctrls(const struct nof_transport *t)
{
	struct nof_ctrl *ctrl;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(ctrl, &s->ctrls, entry)
			if (ctrl->transport == t) {
				set_bit(NOF_CTRL_UNWANTED, &ctrl->flags);
				nof_ctrl_delete_start(ctrl);
			}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	while ((ctrl = any_ctrl(t))) {
		wait_for_completion(&ctrl->deleted);
		nof_ctrl_put(ctrl);
	}
	/* the rest of each deletion's work */
	flush_workqueue(nof_delete_wq);
}

void nof_transport_unregister(struct nof_transport *t)
{
	mutex_lock(&transports_lock);
	list_del(&t->entry);
	mutex_unlock(&transports_lock);
	delete_ctrls(t);
}
EXPORT_SYMBOL_GPL(nof_transport_unregister);

static struct nof_transport *try_get(const char *name)
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
	struct nof_transport *t = try_get(name);

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
