// SPDX-License-Identifier: GPL-2.0-only
/* Subsystems: found or created when a controller joins, removed when the last user leaves. */
#include <linux/netlink.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "core/numbers.h"
#include "core/subsys.h"
#include "core/upcalls.h"

LIST_HEAD(nof_subsystems);
DEFINE_MUTEX(nof_subsystems_lock);
atomic64_t nof_topology_seq = ATOMIC64_INIT(1);
const struct nof_event_ops *nof_events;
/* Has a lock of its own: the last reference to a subsystem may be dropped without nof_subsystems_lock */
static struct nof_numbers subsys_numbers = NOF_NUMBERS_INIT(subsys_numbers);

/* How many numbers of removed subsystems, and of the namespaces of each, are remembered */
#define PAST_SUBSYSTEMS		64
#define PAST_NAMESPACES		256

/* First number for discovery, whose controllers come and go: low numbers are left to subsystems with disks */
#define DISCOVERY_NUMBERS	1000

/* The last close of a removed disk may release its subsystem after it has released the module: the exit waits */
static atomic_t nr_subsystems = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(none_left);

static void subsys_release(struct device *dev)
{
	struct nof_subsys *s = to_nof_subsys(dev);

	nof_mpath.subsys_exit(s);
	cleanup_srcu_struct(&s->srcu);
	ida_destroy(&s->ctrl_ids);
	nof_numbers_trim(s->number->inner, PAST_NAMESPACES);
	nof_number_keep(&subsys_numbers, s->number, PAST_SUBSYSTEMS);
	kfree(s);
	/* until it no longer uses none_left: see nof_subsystems_wait() */
	rcu_read_lock();
	if (atomic_dec_and_test(&nr_subsystems))
		wake_up(&none_left);
	rcu_read_unlock();
}

/* The key has everything that distinguishes subsystems: see subsys_find() */
static struct nof_number *subsys_number(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	char *key = kasprintf(GFP_KERNEL, "%s %s %pUb", nqn, hostnqn, hostid);
	struct nof_number *number = key ? nof_number_alloc(key, true) : NULL;

	kfree(key);
	if (!number)
		return NULL;
	if (nof_number_take(&subsys_numbers, number, strcmp(nqn, NVME_DISC_SUBSYS_NAME) ? 0 : DISCOVERY_NUMBERS,
			    GFP_KERNEL)) {
		nof_number_free(number);
		return NULL;
	}
	return number;
}

void nof_subsystems_wait(void)
{
	wait_event(none_left, !atomic_read(&nr_subsystems));
	synchronize_rcu();
}

void nof_subsystems_exit(void)
{
	nof_numbers_exit(&subsys_numbers);
}

static struct nof_subsys *subsys_alloc(const char *nqn, const char *hostnqn, const u8 *hostid)
{
	struct nof_subsys *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->number = subsys_number(nqn, hostnqn, hostid);
	if (!s->number)
		goto free;
	if (init_srcu_struct(&s->srcu))
		goto keep_number;
	s->id = s->number->nr;
	strscpy(s->nqn, nqn, sizeof(s->nqn));
	strscpy(s->hostnqn, hostnqn, sizeof(s->hostnqn));
	memcpy(s->hostid, hostid, sizeof(s->hostid));
	mutex_init(&s->lock);
	INIT_LIST_HEAD(&s->ctrls);
	INIT_LIST_HEAD(&s->heads);
	ida_init(&s->ctrl_ids);
	device_initialize(&s->dev);
	s->dev.release = subsys_release;
	atomic_inc(&nr_subsystems);
	s->dev.class = nof_control.subsys_class;
	nof_mpath.subsys_init(s);
	return s;
keep_number:
	nof_number_keep(&subsys_numbers, s->number, PAST_SUBSYSTEMS);
free:
	kfree(s);
	return NULL;
}

static struct nof_subsys *subsys_find(const char *nqn, const char *hostnqn, const u8 *hostid,
				      struct netlink_ext_ack *extack)
{
	struct nof_subsys *s;

	lockdep_assert_held(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		bool same_nqn = !strcmp(s->hostnqn, hostnqn), same_id = !memcmp(s->hostid, hostid, sizeof(s->hostid));

		if (same_nqn != same_id) {
			NL_SET_ERR_MSG(extack, "host NQN and host ID are not the pair that is in use: use one pair");
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
	unsigned int noio = memalloc_noio_save(); /* scans need the lock, and I/O may wait for a scan */
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	s = subsys_find(nqn, hostnqn, hostid, extack);
	if (!s)
		s = subsys_add(nqn, hostnqn, hostid);
	if (!IS_ERR(s))
		s->users++;
	mutex_unlock(&nof_subsystems_lock);
	memalloc_noio_restore(noio);
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

struct nof_subsys *nof_subsys_next_lock(struct nof_subsys *s)
{
	if (s) {
		mutex_unlock(&s->lock);
		s = list_next_entry(s, entry);
	} else {
		mutex_lock(&nof_subsystems_lock);
		s = list_first_entry(&nof_subsystems, struct nof_subsys, entry);
	}
	if (list_entry_is_head(s, &nof_subsystems, entry)) {
		mutex_unlock(&nof_subsystems_lock);
		return NULL;
	}
	mutex_lock(&s->lock);
	return s;
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
