// SPDX-License-Identifier: GPL-2.0-only
/* Subsystems: found or made when a controller joins, gone when the last user leaves. */
#include <linux/netlink.h>
#include <linux/slab.h>
#include "compat/limits.h"
#include "control/control.h"
#include "core/event.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/request.h"
#include "mpath/selector.h"

#define DEFAULT_IOPOLICY	"numa"

LIST_HEAD(nof_subsystems);
DEFINE_MUTEX(nof_subsystems_lock);
atomic_t nof_topology_seq = ATOMIC_INIT(1);
static DEFINE_IDA(subsys_ids);

static void release(struct device *dev)
{
	struct nof_subsys *s = to_nof_subsys(dev);

	/* path sets are freed by callbacks */
	srcu_barrier(&s->srcu);
	cleanup_srcu_struct(&s->srcu);
	if (s->idle_queue) {
		blk_mq_destroy_queue(s->idle_queue);
		blk_put_queue(s->idle_queue);
	}
	if (s->tags_ready)
		blk_mq_free_tag_set(&s->tags);
	nof_selector_put(rcu_dereference_protected(s->selector, true));
	ida_destroy(&s->ctrl_ids);
	ida_destroy(&s->head_ids);
	ida_free(&subsys_ids, s->id);
	kfree(s);
}

static struct nof_subsys *alloc(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	struct nof_subsys *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int id;

	if (!s)
		return NULL;
	id = ida_alloc(&subsys_ids, GFP_KERNEL);
	if (id < 0 || init_srcu_struct(&s->srcu)) {
		if (id >= 0)
			ida_free(&subsys_ids, id);
		kfree(s);
		return NULL;
	}
	s->id = id;
	strscpy(s->nqn, nqn, sizeof(s->nqn));
	strscpy(s->hostnqn, hostnqn, sizeof(s->hostnqn));
	memcpy(s->hostid, hostid, sizeof(s->hostid));
	mutex_init(&s->lock);
	INIT_LIST_HEAD(&s->ctrls);
	INIT_LIST_HEAD(&s->heads);
	ida_init(&s->ctrl_ids);
	ida_init(&s->head_ids);
	device_initialize(&s->dev);
	s->dev.release = release;
	s->dev.class = &nof_subsys_class;
	RCU_INIT_POINTER(s->selector, nof_selector_get(DEFAULT_IOPOLICY));
	return s;
}

static struct nof_subsys *find(const char *nqn, const char *hostnqn, const u8 *hostid, struct netlink_ext_ack *extack)
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

static struct nof_subsys *add(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	struct nof_subsys *s = alloc(nqn, hostnqn, hostid);
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
	list_add_tail(&s->entry, &nof_subsystems);
	atomic_inc(&nof_topology_seq);
	nof_events->subsys(s, NVMEOF_EVENT_ADDED);
	return s;
}

struct nof_subsys *nof_subsys_join(const char *nqn, const char *hostnqn, const u8 *hostid,
				   struct netlink_ext_ack *extack)
{
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	s = find(nqn, hostnqn, hostid, extack);
	if (!s)
		s = add(nqn, hostnqn, hostid);
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
		atomic_inc(&nof_topology_seq);
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

int nof_subsys_set_iopolicy(struct nof_subsys *s, const char *name, struct netlink_ext_ack *extack)
{
	struct nof_selector *new = nof_selector_get(name), *old;

	if (!new) {
		NL_SET_ERR_MSG(extack, "no such iopolicy; VERSION_GET lists those that are there");
		return -ENOENT;
	}
	mutex_lock(&s->lock);
	old = rcu_replace_pointer(s->selector, new, lockdep_is_held(&s->lock));
	mutex_unlock(&s->lock);
	synchronize_srcu(&s->srcu);
	nof_selector_put(old);
	nof_events->subsys(s, NVMEOF_EVENT_CHANGED);
	return 0;
}

/*
 * The first controller with I/O queues decides how many hardware contexts there are; later ones map theirs onto them.
 * Polled contexts come last, as blk-mq's maps have it.
 */
int nof_subsys_tags_init(struct nof_subsys *s, u32 nr_default, u32 nr_poll, u32 depth)
{
	int ret = 0;

	mutex_lock(&s->lock);
	if (s->tags_ready)
		goto unlock;
	s->nr_default = nr_default;
	s->nr_poll = nr_poll;
	s->tags.ops = &nof_mq_ops;
	s->tags.nr_hw_queues = nr_default + nr_poll;
	s->tags.nr_maps = nr_poll ? HCTX_MAX_TYPES : 1;
	s->tags.queue_depth = depth;
	s->tags.cmd_size = sizeof(struct nof_request);
	s->tags.numa_node = NUMA_NO_NODE;
	s->tags.timeout = NOF_IO_TIMEOUT;
	/* Ordering is the target's business: an elevator between here and there costs and cannot know better */
	s->tags.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_BLOCKING | BLK_MQ_F_NO_SCHED_BY_DEFAULT;
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
	mutex_unlock(&s->lock);
	return ret;
}
