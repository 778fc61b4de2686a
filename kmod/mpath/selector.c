// SPDX-License-Identifier: GPL-2.0-only
/* The path selectors there are: those of this module, and of others. */
#include "mpath/selector.h"
#include "mpath/subsys.h"

static LIST_HEAD(selectors);
static DEFINE_MUTEX(selectors_lock);

static struct nof_selector *selector_find(const char *name)
{
	struct nof_selector *s;

	lockdep_assert_held(&selectors_lock);
	list_for_each_entry(s, &selectors, entry)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

int nof_selector_register(struct nof_selector *s)
{
	int ret = 0;

	if (s->api != NOF_SELECTOR_API) {
		pr_err("nvmeof: selector %s was built for another version of this module\n", s->name);
		return -EINVAL;
	}
	mutex_lock(&selectors_lock);
	if (selector_find(s->name))
		ret = -EEXIST;
	else
		list_add_tail(&s->entry, &selectors);
	mutex_unlock(&selectors_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(nof_selector_register);

/* No subsystem uses it: each holds a reference on its module. */
void nof_selector_unregister(struct nof_selector *s)
{
	mutex_lock(&selectors_lock);
	list_del(&s->entry);
	mutex_unlock(&selectors_lock);
}
EXPORT_SYMBOL_GPL(nof_selector_unregister);

struct nof_selector *nof_selector_get(const char *name)
{
	struct nof_selector *s;

	mutex_lock(&selectors_lock);
	s = selector_find(name);
	/* those of this module need no reference: it outlives its subsystems */
	if (s && s->owner != THIS_MODULE && !try_module_get(s->owner))
		s = NULL;
	mutex_unlock(&selectors_lock);
	return s;
}

void nof_selector_put(struct nof_selector *s)
{
	if (s->owner != THIS_MODULE)
		module_put(s->owner);
}

int nof_selector_for_each(int (*fn)(const struct nof_selector *s, void *arg), void *arg)
{
	struct nof_selector *s;
	int ret = 0;

	mutex_lock(&selectors_lock);
	list_for_each_entry(s, &selectors, entry) {
		ret = fn(s, arg);
		if (ret)
			break;
	}
	mutex_unlock(&selectors_lock);
	return ret;
}

static struct nof_selector *const built_in[] = {
	&nof_selector_numa,
	&nof_selector_round_robin,
	&nof_selector_queue_depth,
	&nof_selector_latency,
};

static void unregister_first(size_t n)
{
	while (n--)
		nof_selector_unregister(built_in[n]);
}

int nof_selectors_init(void)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(built_in); i++) {
		ret = nof_selector_register(built_in[i]);
		if (ret) {
			unregister_first(i);
			return ret;
		}
	}
	return 0;
}

void nof_selectors_exit(void)
{
	unregister_first(ARRAY_SIZE(built_in));
}
