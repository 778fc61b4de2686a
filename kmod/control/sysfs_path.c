// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of a path, /sys/block/nvmeof0n1/paths/nvmeof0c1n1. A path is a kobject with kobj_sysfs_ops, no device. */
#include <linux/sysfs.h>
#include "control/control.h"
#include "core/ctrl.h"
#include "core/state.h"
#include "mpath/path.h"
#include "mpath/path_stats.h"

#define PATH_ATTR(name, fmt, value)									\
static ssize_t name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)		\
{													\
	struct nof_path *path = container_of(kobj, struct nof_path, kobj);				\
													\
	return sysfs_emit(buf, fmt "\n", value);							\
}													\
static struct kobj_attribute path_attr_##name = __ATTR_RO(name)

PATH_ATTR(state, "%s", nof_state_name(nof_ctrl_state(path->ctrl)));
PATH_ATTR(ana_state, "%s", nof_ana_state_name(READ_ONCE(path->ana_state)));
PATH_ATTR(ana_grpid, "%u", READ_ONCE(path->ana_group));
PATH_ATTR(ana_since, "%llu", READ_ONCE(path->ana_since));	/* CLOCK_BOOTTIME, ns */
PATH_ATTR(usable, "%d", READ_ONCE(path->usable));
PATH_ATTR(degraded, "%d", nof_path_degraded(path));
PATH_ATTR(suspect, "%d", READ_ONCE(path->ctrl->suspect));
PATH_ATTR(probation, "%d", READ_ONCE(path->ctrl->probation.on));
PATH_ATTR(inflight, "%u", nof_path_inflight(path));
PATH_ATTR(aborts, "%d", atomic_read(&path->aborts));

#define PATH_STAT_ATTR(name)										\
static ssize_t name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)		\
{													\
	struct nof_path_stats sum;									\
													\
	nof_path_stats_sum(container_of(kobj, struct nof_path, kobj), &sum);				\
	return sysfs_emit(buf, "%llu\n", sum.name);							\
}													\
static struct kobj_attribute path_attr_##name = __ATTR_RO(name)

PATH_STAT_ATTR(ios);
PATH_STAT_ATTR(bytes_read);
PATH_STAT_ATTR(bytes_written);
PATH_STAT_ATTR(errors);
PATH_STAT_ATTR(retries);
PATH_STAT_ATTR(failovers_from);
PATH_STAT_ATTR(failovers_to);

/* One line with the counter of each bucket. */
static ssize_t emit_hist(struct kobject *kobj, char *buf, bool write)
{
	u64 nr[NVMEOF_HIST_BUCKETS];
	int i, len = 0;

	nof_path_hist_sum(container_of(kobj, struct nof_path, kobj), write, nr);
	for (i = 0; i < NVMEOF_HIST_BUCKETS; i++)
		len += sysfs_emit_at(buf, len, "%llu%c", nr[i], i + 1 < NVMEOF_HIST_BUCKETS ? ' ' : '\n');
	return len;
}

#define PATH_HIST_ATTR(name, write)									\
static ssize_t name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)		\
{													\
	return emit_hist(kobj, buf, write);								\
}													\
static struct kobj_attribute path_attr_##name = __ATTR_RO(name)

PATH_HIST_ATTR(latency_read, false);
PATH_HIST_ATTR(latency_write, true);

static struct attribute *path_attrs[] = {
	&path_attr_state.attr,
	&path_attr_ana_state.attr,
	&path_attr_ana_grpid.attr,
	&path_attr_ana_since.attr,
	&path_attr_usable.attr,
	&path_attr_degraded.attr,
	&path_attr_suspect.attr,
	&path_attr_probation.attr,
	&path_attr_inflight.attr,
	&path_attr_aborts.attr,
	&path_attr_ios.attr,
	&path_attr_bytes_read.attr,
	&path_attr_bytes_written.attr,
	&path_attr_errors.attr,
	&path_attr_retries.attr,
	&path_attr_failovers_from.attr,
	&path_attr_failovers_to.attr,
	&path_attr_latency_read.attr,
	&path_attr_latency_write.attr,
	NULL
};

static const struct attribute_group path_group = { .attrs = path_attrs };

const struct attribute_group *nof_path_attr_groups[] = { &path_group, NULL };
