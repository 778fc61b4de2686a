// SPDX-License-Identifier: GPL-2.0-only
/* Paths: joined to their head, taken off it. */
#include <linux/delay.h>
#include <linux/slab.h>
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/ana.h"
#include "mpath/head.h"
#include "mpath/path.h"

void nof_path_set_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct nof_path_set, rcu));
}

static void release(struct kobject *kobj)
{
	struct nof_path *path = container_of(kobj, struct nof_path, kobj);

	free_percpu(path->stats);
	nof_head_put(path->head);
	nof_ctrl_put(path->ctrl);
	kfree(path);
}

static const struct kobj_type path_ktype = {
	.release	= release,
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= nof_path_attr_groups,
};

static struct nof_path *alloc(struct nof_ctrl *ctrl, struct nof_head *head, u32 nsid)
{
	struct nof_path *path = kzalloc(sizeof(*path), GFP_KERNEL);

	if (!path)
		return NULL;
	path->stats = alloc_percpu(struct nof_path_stats);
	if (!path->stats) {
		kfree(path);
		return NULL;
	}
	kobject_init(&path->kobj, &path_ktype);
	path->ctrl = nof_ctrl_get(ctrl);
	kref_get(&head->ref);
	path->head = head;
	path->nsid = nsid;
	scnprintf(path->name, sizeof(path->name), "%sn%u", nof_ctrl_name(ctrl), head->id);
	return path;
}

static void join(struct nof_path *path, const struct nof_ns_format *format)
{
	struct nof_head *head = path->head;

	path->seen = true;
	path->ana_group = format->ana_group;
	path->ana_state = nof_ana_state_of(path->ctrl, format->ana_group);
	list_add_tail(&path->entry, &head->paths);
	head->nr_paths++;
	path->ctrl->nr_paths++;
	atomic_inc(&nof_topology_seq);
	nof_head_publish(head);
}

static struct nof_path *find_path(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_head *head;
	struct nof_path *path;

	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		list_for_each_entry(path, &head->paths, entry)
			if (path->ctrl == ctrl && path->nsid == nsid)
				return path;
	return NULL;
}

/* A private namespace (NMIC bit 0 clear), or one without identifiers, is never joined to another path's head */
static struct nof_head *find_head(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *f, const char **why)
{
	struct nof_head *head;

	list_for_each_entry(head, &ctrl->subsys->heads, entry) {
		if (test_bit(NOF_HEAD_REMOVING, &head->flags))
			continue;
		if (!nof_ns_ids_match(&head->format.ids, &f->ids)) {
			if (head->nsid == nsid && f->shared && head->format.shared)
				*why = "another path has this namespace ID with other identifiers";
			continue;
		}
		if (!f->shared || !head->format.shared)
			*why = "a namespace that is not shared has the identifiers of another";
		else if (head->nsid != nsid)
			*why = "another path has these identifiers with another namespace ID";
		else if (head->format.nlbas != f->nlbas || head->format.lba_shift != f->lba_shift)
			*why = "capacity or block size differs from the namespace's other paths";
		else
			*why = nof_head_misfit(head, ctrl, f);
		return head;
	}
	return NULL;
}

u32 nof_path_inflight(struct nof_path *path)
{
	return nof_queues_count(path->ctrl, path);
}

/*
 * Requests sent on this path hold no reference; they end by themselves, at the latest when a timeout or the deletion
 * takes the queues down.
 */
static void wait_unused(struct nof_path *path)
{
	synchronize_srcu(&path->ctrl->subsys->srcu);
	nof_queues_flush(path->ctrl);
	while (nof_path_inflight(path)) {
		usleep_range(900, 1100);
		nof_queues_flush(path->ctrl);
	}
	/* nof_cmd_complete() counts on the path after it has cleared the slot */
	synchronize_rcu();
}

static void unlink(struct nof_path *path)
{
	list_del_init(&path->entry);
	path->head->nr_paths--;
	path->ctrl->nr_paths--;
	path->usable = false;
	atomic_inc(&nof_topology_seq);
	nof_head_publish(path->head);
}

static void delist_head(struct nof_head *head)
{
	list_del_init(&head->entry);
	head->subsys->nr_heads--;
	atomic_inc(&nof_topology_seq);
}

/*
 * The disk could not be added. A path that another controller has joined meanwhile takes the head with it when it goes.
 */
static void discard_head(struct nof_head *head, struct nof_path *path)
{
	bool last;

	mutex_lock(&head->subsys->lock);
	if (path)
		unlink(path);
	last = !head->nr_paths;
	if (last)
		delist_head(head);
	mutex_unlock(&head->subsys->lock);
	if (path) {
		wait_unused(path);
		kobject_put(&path->kobj);
	}
	if (last)
		nof_head_drop(head);
}

/*
 * @graceful: the path still carries I/O, so that a disk losing its last path can write its page cache back first.
 * Whether it is the last is decided under the lock, and then no other path joins the head any more. It stays listed
 * until it is gone: should the connection fail meanwhile, a new path set is what ends the wait of its requests.
 * Context: under ctrl->scan_lock, or with the scan stopped: nobody else removes paths of this controller.
 */
void nof_path_remove(struct nof_path *path, bool graceful)
{
	struct nof_head *head = path->head;
	struct gendisk *disk = head->disk;
	struct nof_subsys *s = head->subsys;
	bool last;

	kref_get(&head->ref);
	/* another thread may put the disk: its name goes into our last event */
	get_device(disk_to_dev(disk));
	mutex_lock(&s->lock);
	last = head->nr_paths == 1;
	if (last)
		set_bit(NOF_HEAD_REMOVING, &head->flags);
	if (!last || !graceful)
		unlink(path);
	else
		nof_head_publish(head);	/* what waits for a path waits no longer */
	mutex_unlock(&s->lock);
	if (path->kobj.state_in_sysfs)
		kobject_del(&path->kobj);
	if (last)
		nof_head_remove(head);
	mutex_lock(&s->lock);
	if (last && graceful)
		unlink(path);
	if (last)
		delist_head(head);
	mutex_unlock(&s->lock);
	nof_events->path(path, NVMEOF_EVENT_REMOVED);
	wait_unused(path);
	kobject_put(&path->kobj);
	if (last)
		nof_head_drop(head);
	put_device(disk_to_dev(disk));
	nof_head_put(head);
}

/* After the disk is visible: every path that joined before has its directory made by the first to come here */
static void show_paths(struct nof_head *head)
{
	struct nof_path *path;

	mutex_lock(&head->subsys->lock);
	list_for_each_entry(path, &head->paths, entry) {
		if (path->kobj.state_in_sysfs || !head->paths_dir)
			continue;
		if (kobject_add(&path->kobj, head->paths_dir, "%s", path->name))
			dev_warn(&path->ctrl->dev, "%s: cannot be shown in sysfs\n", path->name);
		nof_events->path(path, NVMEOF_EVENT_ADDED);
	}
	mutex_unlock(&head->subsys->lock);
}

static const char *attach_new(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	const char *why = NULL;
	bool created = false;
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&s->lock);
	head = find_head(ctrl, nsid, format, &why);
	if (why)
		goto unlock;
	if (!head) {
		head = nof_head_create(ctrl, nsid, format);
		created = true;
	}
	if (IS_ERR(head)) {
		why = "cannot create a disk";
		goto unlock;
	}
	path = alloc(ctrl, head, nsid);
	if (path)
		join(path, format);
	else
		why = "out of memory";
	kref_get(&head->ref);
	mutex_unlock(&s->lock);
	/* the creator adds the disk; the path is in place, so partitions can be read */
	if (created && (why || nof_head_add(head))) {
		why = why ?: "cannot add the disk";
		discard_head(head, path);
	} else if (test_bit(NOF_HEAD_ADDED, &head->flags)) {
		show_paths(head);
	}
	nof_head_put(head);
	return why;
unlock:
	mutex_unlock(&s->lock);
	return why;
}

const char *nof_path_attach(struct nof_ctrl *ctrl, u32 nsid, const struct nof_ns_format *format)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_path *path;
	bool same = false;

	mutex_lock(&s->lock);
	path = find_path(ctrl, nsid);
	if (path)
		same = nof_ns_ids_equal(&path->head->format.ids, &format->ids) &&
		       path->head->lba_shift == format->lba_shift && !nof_head_misfit(path->head, ctrl, format);
	if (same) {
		path->seen = true;
		if (path->ana_group != format->ana_group) {
			path->ana_group = format->ana_group;
			path->ana_state = nof_ana_state_of(ctrl, path->ana_group);
			nof_head_publish(path->head);
			nof_events->path(path, NVMEOF_EVENT_STATE);
		}
		nof_head_resize(path->head, format);
	}
	mutex_unlock(&s->lock);
	if (same)
		return NULL;
	/* another namespace now, or less than the disk promises: nothing more may be written by the old name */
	if (path)
		nof_path_remove(path, false);
	return attach_new(ctrl, nsid, format);
}

static struct nof_path *next_path(struct nof_ctrl *ctrl, bool unseen_only)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_path *path, *found = NULL;
	struct nof_head *head;

	mutex_lock(&s->lock);
	list_for_each_entry(head, &s->heads, entry)
		list_for_each_entry(path, &head->paths, entry)
			if (path->ctrl == ctrl && !(unseen_only && path->seen))
				found = path;
	mutex_unlock(&s->lock);
	return found;
}

void nof_paths_remove(struct nof_ctrl *ctrl, bool graceful)
{
	struct nof_path *path;

	while ((path = next_path(ctrl, false)))
		nof_path_remove(path, graceful);
}

/* The scan could not look at it: it stays as it is. False if there is no such path. */
bool nof_path_keep(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	path = find_path(ctrl, nsid);
	if (path)
		path->seen = true;
	mutex_unlock(&ctrl->subsys->lock);
	return path;
}

void nof_paths_unsee(struct nof_ctrl *ctrl)
{
	struct nof_head *head;
	struct nof_path *path;

	mutex_lock(&ctrl->subsys->lock);
	list_for_each_entry(head, &ctrl->subsys->heads, entry)
		list_for_each_entry(path, &head->paths, entry)
			if (path->ctrl == ctrl)
				path->seen = false;
	mutex_unlock(&ctrl->subsys->lock);
}

void nof_paths_remove_unseen(struct nof_ctrl *ctrl)
{
	struct nof_path *path;

	while ((path = next_path(ctrl, true)))
		nof_path_remove(path, true);
}

void nof_path_stats_sum(const struct nof_path *path, struct nof_path_stats *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct nof_path_stats *st = per_cpu_ptr(path->stats, cpu);

		sum->ios += READ_ONCE(st->ios);
		sum->bytes_read += READ_ONCE(st->bytes_read);
		sum->bytes_written += READ_ONCE(st->bytes_written);
		sum->errors += READ_ONCE(st->errors);
		sum->retries += READ_ONCE(st->retries);
	}
}

struct nof_path *nof_path_find(const char *name)
{
	struct nof_path *path, *found = NULL;
	struct nof_head *head;
	struct nof_subsys *s;

	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		mutex_lock(&s->lock);
		list_for_each_entry(head, &s->heads, entry)
			list_for_each_entry(path, &head->paths, entry)
				if (!strcmp(path->name, name)) {
					kobject_get(&path->kobj);
					found = path;
				}
		mutex_unlock(&s->lock);
	}
	mutex_unlock(&nof_subsystems_lock);
	return found;
}
