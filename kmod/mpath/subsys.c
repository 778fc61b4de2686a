// SPDX-License-Identifier: GPL-2.0-only
/* Registry of selectors; selector, policy and tag set of a subsystem; operations of mpath/ for core/. */
#include <linux/cache.h>
#include <linux/netlink.h>
#include <linux/sizes.h>
#include "compat/dispatch.h"
#include "compat/limits.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "core/upcalls.h"
#include "mpath/ana.h"
#include "mpath/complete.h"
#include "mpath/degrade.h"
#include "mpath/events.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "mpath/request.h"
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

/* No subsystem uses it any more, as each holds a reference on its module. */
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
	/* those of this module need no reference: the module outlives its subsystems */
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

/* Serializes changes of selectors; outer to subsys->lock */
static DEFINE_MUTEX(selector_lock);
/* Serializes changes of policy values: two that read the same old values would undo each other */
static DEFINE_MUTEX(change_lock);

static void subsys_init(struct nof_subsys *s)
{
	mutex_init(&s->tags_lock);
	spin_lock_init(&s->fence_lock);
	INIT_LIST_HEAD(&s->fences);
	s->selector_gen = 1;
	WRITE_ONCE(s->policy.fencing, NVMEOF_FENCING_AUTO);
	WRITE_ONCE(s->policy.quiesce_tmo, NVMEOF_DEF_QUIESCE_TMO);
	nof_degrade_init(s);
	nof_events_init(s);
	RCU_INIT_POINTER(s->selector, nof_selector_get(NVMEOF_DEF_IOPOLICY));
}

static void subsys_exit(struct nof_subsys *s)
{
	nof_degrade_exit(s);
	nof_events_exit(s);
	if (s->idle_queue) {
		blk_mq_destroy_queue(s->idle_queue);
		blk_put_queue(s->idle_queue);
	}
	if (s->tags_ready)
		blk_mq_free_tag_set(&s->tags);
	/* path sets are freed by an RCU and then an SRCU callback; hctx_exit() of idle_queue is an SRCU reader, too */
	rcu_barrier();
	srcu_barrier(&s->srcu);
	nof_selector_put(rcu_dereference_protected(s->selector, true));
}

static struct nof_selector *selector_install(struct nof_subsys *s, struct nof_selector *selector)
{
	lockdep_assert_held(&s->lock);
	return rcu_replace_pointer(s->selector, selector, lockdep_is_held(&s->lock));
}

/* Clears the selector's data in the paths. Outstanding requests no longer change it: their selector_gen is old. */
static void selector_forget(struct nof_subsys *s)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(s, head, path)
		atomic64_set(&path->sel, 0);
}

/*
 * numa, which keeps no data, is installed in between: callbacks of the old selector have ended before those of the new
 * one begin. I/O continues meanwhile.
 */
static void selector_change(struct nof_subsys *s, struct nof_selector *new)
{
	struct nof_selector *old;

	lockdep_assert_held(&selector_lock);
	mutex_lock(&s->lock);
	old = selector_install(s, &nof_selector_numa);
	/* pairs with request_started(): a reader of the new generation does not see the old selector */
	smp_store_release(&s->selector_gen, s->selector_gen == U16_MAX ? 1 : s->selector_gen + 1);
	mutex_unlock(&s->lock);
	synchronize_srcu(&s->srcu);
	nof_selector_put(old);
	mutex_lock(&s->lock);
	selector_forget(s);
	selector_install(s, new);
	mutex_unlock(&s->lock);
}

int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack)
{
	struct nof_selector *new = nof_selector_get(name);

	if (!new) {
		NL_SET_ERR_MSG(extack, "unknown iopolicy, VERSION_GET lists the available ones");
		return -ENOENT;
	}
	mutex_lock(&selector_lock);
	selector_change(s, new);
	mutex_unlock(&selector_lock);
	nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
	return 0;
}

/* Lingering disks follow the new value, counted from now */
static void subsys_update_linger(struct nof_subsys *s)
{
	struct nof_head *head;

	list_for_each_entry(head, &s->heads, entry)
		if (nof_head_state(head) == NOF_HEAD_LINGERING)
			nof_head_linger_until(head, s->policy.delayed_removal_secs);
}

static void subsys_set_policy(struct nof_subsys *s, const struct nof_policy *policy)
{
	bool linger;

	mutex_lock(&s->lock);
	linger = s->policy.delayed_removal_secs != policy->delayed_removal_secs;
	WRITE_ONCE(s->policy.spill_us, policy->spill_us);
	WRITE_ONCE(s->policy.spill_depth, policy->spill_depth);
	WRITE_ONCE(s->policy.degrade, policy->degrade);
	WRITE_ONCE(s->policy.fencing, policy->fencing);
	WRITE_ONCE(s->policy.delayed_removal_secs, policy->delayed_removal_secs);
	WRITE_ONCE(s->policy.quiesce_tmo, policy->quiesce_tmo);
	nof_degrade_update(s);
	if (linger)
		subsys_update_linger(s);
	mutex_unlock(&s->lock);
	nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
}

void nof_policy_begin(const struct nof_subsys *s, struct nof_policy *p)
{
	mutex_lock(&change_lock);
	*p = s->policy;
}

void nof_policy_commit(struct nof_subsys *s, const struct nof_policy *p)
{
	subsys_set_policy(s, p);
	mutex_unlock(&change_lock);
}

/* Bounds the memory of a subsystem's requests, however many queues it has, unless a tag count is given */
#define REQUEST_BYTES	SZ_16M

static u32 default_tags(const struct blk_mq_tag_set *set)
{
	/* the tag set has two pointers to each request */
	u32 each = ALIGN(sizeof(struct request) + set->cmd_size, cache_line_size()) + 2 * sizeof(struct request *);

	return clamp_t(u32, REQUEST_BYTES / each / set->nr_hw_queues, NOF_MIN_TAGS, NOF_DEF_TAGS);
}

/*
 * The first connect decides, by what it requests and not by what its controller grants, how many hardware contexts and
 * tags there are: other controllers may grant more, and all paths share the tags. Polled contexts come last, as in
 * blk-mq's maps.
 */
static int subsys_tags_init(struct nof_subsys *s, const struct nof_opts *opts)
{
	int ret = 0;

	mutex_lock(&s->tags_lock);
	if (s->tags_ready)
		goto unlock;
	s->nr_default = opts->nr_io_queues;
	s->nr_poll = opts->nr_poll_queues;
	s->tags.ops = &nof_mq_ops;
	s->tags.nr_hw_queues = s->nr_default + s->nr_poll;
	s->tags.nr_maps = s->nr_poll ? HCTX_MAX_TYPES : 1;
	s->tags.cmd_size = sizeof(struct nof_request);
	s->tags.queue_depth = opts->tags ?: default_tags(&s->tags);
	s->tags.numa_node = NUMA_NO_NODE;
	s->tags.timeout = NOF_IO_TIMEOUT;
	/* No elevator by default: it costs CPU time, and the target knows better how to order requests */
	s->tags.flags = NOF_DISPATCH_FLAGS | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	/*
	 * A CPU that goes offline must not wait for the requests of its queue: they may wait for a path, and connecting
	 * it may wait for the CPU (sk_set_memalloc() takes cpus_read_lock()). No interrupt is bound to our queues.
	 */
	s->tags.flags |= BLK_MQ_F_STACKING;
	s->tags.driver_data = s;
	ret = blk_mq_alloc_tag_set(&s->tags);
	if (ret)
		goto unlock;
	/*
	 * blk-mq freezes a queue, and so waits for its I/O, when its tag set becomes shared or unshared. An idle queue
	 * keeps the set shared, so the queues of disks are never frozen for that.
	 */
	s->idle_queue = nof_limits_alloc_queue(&s->tags);
	if (IS_ERR(s->idle_queue)) {
		ret = PTR_ERR(s->idle_queue);
		s->idle_queue = NULL;
		blk_mq_free_tag_set(&s->tags);
	}
	s->tags_ready = !ret;
unlock:
	mutex_unlock(&s->tags_lock);
	return ret;
}

static void subsys_ctrl_exit(struct nof_ctrl *ctrl)
{
	nof_fence_disarm(ctrl);
	nof_ana_exit(ctrl);
	bitmap_free(ctrl->recovery.lost_disks);
}

static void subsys_association_lost(struct nof_ctrl *ctrl)
{
	mutex_lock(&ctrl->subsys->lock);
	nof_probation_lost(ctrl);
	nof_ana_restart_timers(ctrl);
	mutex_unlock(&ctrl->subsys->lock);
}

const struct nof_mpath_ops nof_mpath = {
	.subsys_init		= subsys_init,
	.subsys_exit		= subsys_exit,
	.tags_init		= subsys_tags_init,
	.ctrl_init		= nof_ana_init,
	.ctrl_exit		= subsys_ctrl_exit,
	.association_begin	= nof_fence_arm,
	.read_ana		= nof_ana_read,
	.association_lost	= subsys_association_lost,
	.queues_cancelled	= nof_fence_start,
	.ccr_notice		= nof_fence_notice,
	.update_expected	= nof_ctrl_update_expected,
	.paths_lost		= nof_ctrl_paths_lost,
	.publish		= nof_paths_publish,
	.has_other_path		= nof_ctrl_has_other_path,
	.all_have_other_path	= nof_ctrl_all_have_other_path,
	.stall_reason		= nof_stall_reason,
	.may_detach		= nof_request_may_detach,
	.detached		= nof_request_detached,
};

void __init nof_mpath_init(void)
{
	static_call_update(nof_request_done, nof_request_complete);
	static_call_update(nof_requests_end, nof_requests_finish);
	nof_path_ktype_init();
}
