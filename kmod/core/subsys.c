// SPDX-License-Identifier: GPL-2.0-only
/* Subsystems: found or made when a controller joins, gone when the last user leaves. */
#include <linux/netlink.h>
#include <linux/slab.h>
#include "compat/dispatch.h"
#include "compat/limits.h"
#include "control/control.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/health.h"
#include "mpath/path.h"
#include "mpath/request.h"
#include "mpath/selector.h"
#include "mpath/selectors.h"

LIST_HEAD(nof_subsystems);
DEFINE_MUTEX(nof_subsystems_lock);
atomic64_t nof_topology_seq = ATOMIC64_INIT(1);
static struct nof_numbers subsys_ids = { .ida = IDA_INIT(subsys_ids.ida) };
/* One change of a selector at a time; outer to subsys->lock */
static DEFINE_MUTEX(selector_lock);

static void subsys_release(struct device *dev)
{
	struct nof_subsys *s = to_nof_subsys(dev);

	nof_health_exit(s);
	nof_notice_exit(s);
	if (s->idle_queue) {
		blk_mq_destroy_queue(s->idle_queue);
		blk_put_queue(s->idle_queue);
	}
	if (s->tags_ready)
		blk_mq_free_tag_set(&s->tags);
	/* path sets are freed by callbacks, first of one and then of the other; contexts that end are readers, too */
	rcu_barrier();
	srcu_barrier(&s->srcu);
	cleanup_srcu_struct(&s->srcu);
	nof_selector_put(rcu_dereference_protected(s->selector, true));
	nof_numbers_exit(&s->ctrl_ids);
	nof_numbers_exit(&s->head_ids);
	nof_number_give(&subsys_ids, s->id);
	kfree(s);
}

static struct nof_subsys *subsys_alloc(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	struct nof_subsys *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int id;

	if (!s)
		return NULL;
	id = nof_number_take(&subsys_ids, 0);
	if (id < 0 || init_srcu_struct(&s->srcu)) {
		if (id >= 0)
			nof_number_give(&subsys_ids, id);
		kfree(s);
		return NULL;
	}
	s->id = id;
	strscpy(s->nqn, nqn, sizeof(s->nqn));
	strscpy(s->hostnqn, hostnqn, sizeof(s->hostnqn));
	memcpy(s->hostid, hostid, sizeof(s->hostid));
	mutex_init(&s->lock);
	mutex_init(&s->tags_lock);
	INIT_LIST_HEAD(&s->ctrls);
	INIT_LIST_HEAD(&s->heads);
	spin_lock_init(&s->fence_lock);
	INIT_LIST_HEAD(&s->fences);
	s->selector_gen = 1;
	WRITE_ONCE(s->policy.fencing, NVMEOF_FENCING_AUTO);
	nof_health_init(s);
	nof_notice_init(s);
	nof_numbers_init(&s->ctrl_ids);
	nof_numbers_init(&s->head_ids);
	device_initialize(&s->dev);
	s->dev.release = subsys_release;
	s->dev.class = &nof_subsys_class;
	RCU_INIT_POINTER(s->selector, nof_selector_get(NVMEOF_DEF_IOPOLICY));
	return s;
}

static struct nof_subsys *subsys_find(const char *nqn, const char *hostnqn, const u8 *hostid,
				      struct netlink_ext_ack *extack)
{
	struct nof_subsys *s;

	lockdep_assert_held(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		bool same_nqn = !strcmp(s->hostnqn, hostnqn), same_id = !memcmp(s->hostid, hostid, sizeof(s->hostid));

		if (same_nqn != same_id) {
			NL_SET_ERR_MSG(extack, "this host NQN or host ID is in use with another host ID or host NQN");
			return ERR_PTR(-EINVAL);
		}
		if (same_nqn && !strcmp(s->nqn, nqn))
			return s;
	}
	return NULL;
}

static struct nof_subsys *subsys_add(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	struct nof_subsys *s = subsys_alloc(nqn, hostnqn, hostid);
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	ret = dev_set_name(&s->dev, "nvmeof%u", s->id);
	if (!ret)
		ret = device_add(&s->dev);
	if (ret) {
		nof_subsys_put(s);
		return ERR_PTR(ret);
	}
	s->nr = nof_topology_changed();
	list_add_tail(&s->entry, &nof_subsystems);
	nof_events->subsys(s, NVMEOF_EVENT_ADDED);
	return s;
}

struct nof_subsys *nof_subsys_join(const char *nqn, const char *hostnqn, const u8 *hostid,
				   struct netlink_ext_ack *extack)
{
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	s = subsys_find(nqn, hostnqn, hostid, extack);
	if (!s)
		s = subsys_add(nqn, hostnqn, hostid);
	if (!IS_ERR(s))
		s->users++;
	mutex_unlock(&nof_subsystems_lock);
	return s;
}

void nof_subsys_enter(struct nof_subsys *s)
{
	mutex_lock(&nof_subsystems_lock);
	s->users++;
	mutex_unlock(&nof_subsystems_lock);
}

void nof_subsys_leave(struct nof_subsys *s)
{
	bool last;

	mutex_lock(&nof_subsystems_lock);
	last = !--s->users;
	if (last) {
		list_del(&s->entry);
		nof_topology_changed();
	}
	mutex_unlock(&nof_subsystems_lock);
	if (!last)
		return;
	nof_events->subsys(s, NVMEOF_EVENT_REMOVED);
	device_del(&s->dev);
	nof_subsys_put(s);
}

struct nof_subsys *nof_subsys_find(u32 id)
{
	struct nof_subsys *s, *found = NULL;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry)
		if (s->id == id)
			found = nof_subsys_get(s);
	mutex_unlock(&nof_subsystems_lock);
	return found;
}

static struct nof_selector *install(struct nof_subsys *s, struct nof_selector *selector)
{
	lockdep_assert_held(&s->lock);
	return rcu_replace_pointer(s->selector, selector, lockdep_is_held(&s->lock));
}

/* What the paths hold for the selector is cleared, and what requests under way would give it back does not count */
static void forget_selector(struct nof_subsys *s)
{
	struct nof_head *head;
	struct nof_path *path;

	nof_for_each_path(s, head, path)
		atomic64_set(&path->sel, 0);
}

/*
 * In between, the one that keeps nothing is in place: the callbacks of the old one have ended before those of the new
 * one begin. I/O goes on all the time.
 */
static void change_selector(struct nof_subsys *s, struct nof_selector *new)
{
	struct nof_selector *old;

	lockdep_assert_held(&selector_lock);
	mutex_lock(&s->lock);
	old = install(s, &nof_selector_numa);
	/* who sees the new number does not see the old selector */
	smp_store_release(&s->selector_gen, s->selector_gen == U16_MAX ? 1 : s->selector_gen + 1);
	mutex_unlock(&s->lock);
	synchronize_srcu(&s->srcu);
	nof_selector_put(old);
	mutex_lock(&s->lock);
	forget_selector(s);
	install(s, new);
	mutex_unlock(&s->lock);
}

int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack)
{
	struct nof_selector *new = nof_selector_get(name);

	if (!new) {
		NL_SET_ERR_MSG(extack, "no such iopolicy; VERSION_GET lists those that are there");
		return -ENOENT;
	}
	mutex_lock(&selector_lock);
	change_selector(s, new);
	mutex_unlock(&selector_lock);
	nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
	return 0;
}

/* One that lingers follows the new value, from now */
static void update_linger(struct nof_subsys *s)
{
	struct nof_head *head;

	list_for_each_entry(head, &s->heads, entry)
		if (test_bit(NOF_HEAD_LINGERS, &head->flags))
			nof_head_linger_until(head, s->policy.delayed_removal_secs);
}

void nof_subsys_set_policy(struct nof_subsys *s, const struct nof_policy *policy)
{
	bool linger;

	mutex_lock(&s->lock);
	linger = s->policy.delayed_removal_secs != policy->delayed_removal_secs;
	WRITE_ONCE(s->policy.spill_us, policy->spill_us);
	WRITE_ONCE(s->policy.spill_depth, policy->spill_depth);
	WRITE_ONCE(s->policy.degrade, policy->degrade);
	WRITE_ONCE(s->policy.fencing, policy->fencing);
	WRITE_ONCE(s->policy.delayed_removal_secs, policy->delayed_removal_secs);
	nof_health_update(s);
	if (linger)
		update_linger(s);
	mutex_unlock(&s->lock);
	nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
}

/*
 * What the first connect asks for, not what its controller grants, decides how many hardware contexts there are, and
 * how many tags: other controllers may grant more, and the tags have to do for all paths together. Polled contexts come
 * last, as blk-mq's maps have it.
 */
int nof_subsys_tags_init(struct nof_subsys *s, const struct nof_opts *opts)
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
	s->tags.queue_depth = opts->tags;
	s->tags.cmd_size = sizeof(struct nof_request);
	s->tags.numa_node = NUMA_NO_NODE;
	s->tags.timeout = NOF_IO_TIMEOUT;
	/* Ordering is the target's business: an elevator between here and there costs and cannot know better */
	s->tags.flags = BLK_MQ_F_SHOULD_MERGE | NOF_DISPATCH_FLAGS | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
	/*
	 * A CPU that goes does not wait for the requests of its queue: they may wait for a path, and who connects that,
	 * for the CPU (sk_set_memalloc() takes cpus_read_lock()). No interrupt is bound to our queues.
	 */
	s->tags.flags |= BLK_MQ_F_STACKING;
	s->tags.driver_data = s;
	ret = blk_mq_alloc_tag_set(&s->tags);
	if (ret)
		goto unlock;
	/*
	 * The block layer freezes a tag set's queue when a second one joins, or the second but last leaves: a wait for
	 * I/O, in the middle of our own business. With a queue that never has I/O, that one is frozen, and no other
	 * ever.
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
