// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of /sys/class/nvmeof-subsystem/nvmeof0. The disks are its children: the stock udev rules for by-id links
 * read serial, model and firmware_rev from the parents of a disk.
 */
#include <linux/string.h>
#include <linux/sysfs.h>
#include "control/control.h"
#include "control/rights.h"
#include "core/subsys.h"
#include "mpath/selector.h"
#include "mpath/subsys.h"

#define SUBSYS_SHOW_ONLY(name, fmt, value)								\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)		\
{													\
	struct nof_subsys *s = to_nof_subsys(dev);							\
													\
	return sysfs_emit(buf, fmt "\n", value);							\
}

#define SUBSYS_SHOW(name, fmt, value)									\
SUBSYS_SHOW_ONLY(name, fmt, value)									\
static DEVICE_ATTR_RO(name)

SUBSYS_SHOW(subsysnqn, "%s", s->nqn);
SUBSYS_SHOW(hostnqn, "%s", s->hostnqn);
SUBSYS_SHOW(hostid, "%pUb", s->hostid);
SUBSYS_SHOW(model, "%s", s->model);
SUBSYS_SHOW(serial, "%s", s->serial);
SUBSYS_SHOW(firmware_rev, "%s", s->firmware);
SUBSYS_SHOW(nr_ctrls, "%u", READ_ONCE(s->nr_ctrls));

/* s->lock keeps the selector, and its module, from going away. */
static ssize_t iopolicy_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nof_subsys *s = to_nof_subsys(dev);
	ssize_t len;

	mutex_lock(&s->lock);
	len = sysfs_emit(buf, "%s\n", rcu_dereference_protected(s->selector, lockdep_is_held(&s->lock))->name);
	mutex_unlock(&s->lock);
	return len;
}

static ssize_t iopolicy_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)
{
	char text[NVMEOF_POLICY_MAX + 2];	/* a newline may follow the name */
	int err;

	if (!nof_rights_may_configure())
		return -EPERM;
	if (count >= sizeof(text))
		return -EINVAL;
	memcpy(text, buf, count);
	text[count] = '\0';
	err = nof_subsys_set_iopolicy(to_nof_subsys(dev), strim(text), NULL);
	return err ?: count;
}
static DEVICE_ATTR_RW(iopolicy);

#define set_policy(s, member, value) do {								\
	struct nof_policy __p;										\
													\
	nof_policy_begin(s, &__p);									\
	__p.member = (value);										\
	nof_policy_commit(s, &__p);									\
} while (0)

/* A decimal number, optionally followed by a newline. */
static int parse_number(const char *buf, u32 most, u32 *value)
{
	int err = kstrtou32(buf, 10, value);

	return err ?: *value > most ? -ERANGE : 0;
}

#define POLICY_NUMBER(name, most)									\
SUBSYS_SHOW_ONLY(name, "%u", READ_ONCE(s->policy.name))							\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)	\
{													\
	u32 value;											\
	int err = nof_rights_may_configure() ? parse_number(buf, most, &value) : -EPERM;			\
													\
	if (err)											\
		return err;										\
	set_policy(to_nof_subsys(dev), name, value);							\
	return count;											\
}													\
static DEVICE_ATTR_RW(name)

POLICY_NUMBER(spill_us, NVMEOF_SPILL_US_MAX);
POLICY_NUMBER(spill_depth, NVMEOF_SPILL_DEPTH_MAX);
POLICY_NUMBER(delayed_removal_secs, NVMEOF_DELAYED_REMOVAL_MAX);
POLICY_NUMBER(quiesce_tmo, NVMEOF_QUIESCE_TMO_MAX);

#define POLICY_WORD(name, words)									\
SUBSYS_SHOW_ONLY(name, "%s", words[READ_ONCE(s->policy.name)])						\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)	\
{													\
	int value = nof_rights_may_configure() ? sysfs_match_string(words, buf) : -EPERM;			\
													\
	if (value < 0)											\
		return value;										\
	set_policy(to_nof_subsys(dev), name, value);							\
	return count;											\
}													\
static DEVICE_ATTR_RW(name)

static const char * const switch_words[] = { "off", "on" };
static const char * const fencing_words[] = {
	[NVMEOF_FENCING_IMMEDIATE]	= "immediate",
	[NVMEOF_FENCING_SAFE]		= "safe",
	[NVMEOF_FENCING_AUTO]		= "auto",
};

POLICY_WORD(degrade, switch_words);
POLICY_WORD(fencing, fencing_words);

static struct attribute *subsys_attrs[] = {
	&dev_attr_subsysnqn.attr,
	&dev_attr_hostnqn.attr,
	&dev_attr_hostid.attr,
	&dev_attr_model.attr,
	&dev_attr_serial.attr,
	&dev_attr_firmware_rev.attr,
	&dev_attr_nr_ctrls.attr,
	&dev_attr_iopolicy.attr,
	&dev_attr_spill_us.attr,
	&dev_attr_spill_depth.attr,
	&dev_attr_degrade.attr,
	&dev_attr_fencing.attr,
	&dev_attr_delayed_removal_secs.attr,
	&dev_attr_quiesce_tmo.attr,
	NULL
};

static const struct attribute_group subsys_group = { .attrs = subsys_attrs };

static const struct attribute_group *subsys_groups[] = { &subsys_group, NULL };

/* The attributes belong to the class, so that they exist before udev learns of a device. */
nof_class_const struct class nof_subsys_class = {
	.name		= "nvmeof-subsystem",
	.dev_groups	= subsys_groups,
};
