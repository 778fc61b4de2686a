// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of the disk /sys/block/nvmeof0n1; udev's stock rules need wwid and nsid. */
#include <linux/jiffies.h>
#include <linux/nvme.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uuid.h>
#include "control/control.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/subsys.h"
#include "mpath/fence.h"
#include "mpath/head.h"
#include "wire/identify.h"

static struct nof_head *to_head(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

#define NS_ATTR(name, fmt, value)									\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)		\
{													\
	struct nof_head *head = to_head(dev);								\
													\
	return sysfs_emit(buf, fmt "\n", value);							\
}													\
static DEVICE_ATTR_RO(name)

NS_ATTR(wwid, "%s", head->wwid);
NS_ATTR(nsid, "%u", head->nsid);
NS_ATTR(uuid, "%pUb", &head->format.ids.uuid);
NS_ATTR(nguid, "%pUb", head->format.ids.nguid);
NS_ATTR(eui, "%8ph", head->format.ids.eui64);
NS_ATTR(csi, "%u", head->format.ids.csi);
/* per block, as stored by the target */
NS_ATTR(metadata_bytes, "%u", head->format.pi_bytes);
NS_ATTR(waiting, "%d", atomic_read(&head->waiting));
NS_ATTR(held, "%u", nof_fence_held(head));
NS_ATTR(nr_usable, "%u", nof_head_nr_usable(head));

/* Reading nuse sends an Identify command, at most one in this interval. */
#define NUSE_RATE	(5 * HZ)

static int nuse_update(struct nof_head *head)
{
	struct nvme_id_ns *id = kmalloc(sizeof(*id), GFP_KERNEL);
	struct nof_ctrl *ctrl;
	int ret = -ENOTCONN;

	if (!id)
		return -ENOMEM;
	ctrl = nof_head_live_ctrl(head);
	if (ctrl)
		ret = nof_identify_unprivileged(ctrl, NVME_ID_CNS_NS, head->nsid, id);
	if (!ret)
		WRITE_ONCE(head->nuse.blocks, le64_to_cpu(id->nuse));
	if (ctrl)
		nof_ctrl_put(ctrl);
	kfree(id);
	return ret > 0 ? -EIO : ret;
}

/* Blocks in use, as in-tree since 6.9. The scan that creates the head sets the first value. */
static ssize_t nuse_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nof_head *head = to_head(dev);
	unsigned long at = READ_ONCE(head->nuse.at);
	int ret = 0;

	if ((!at || time_after(jiffies, at + NUSE_RATE)) && cmpxchg(&head->nuse.at, at, jiffies | 1) == at)
		ret = nuse_update(head);
	return ret ?: sysfs_emit(buf, "%llu\n", READ_ONCE(head->nuse.blocks));
}
static DEVICE_ATTR_RO(nuse);

static struct attribute *ns_attrs[] = {
	&dev_attr_wwid.attr,
	&dev_attr_nsid.attr,
	&dev_attr_uuid.attr,
	&dev_attr_nguid.attr,
	&dev_attr_eui.attr,
	&dev_attr_csi.attr,
	&dev_attr_metadata_bytes.attr,
	&dev_attr_nuse.attr,
	&dev_attr_waiting.attr,
	&dev_attr_held.attr,
	&dev_attr_nr_usable.attr,
	NULL
};

/*
 * Hides identifiers that the namespace does not have, and attributes of blocks if it has no block device. Both are
 * fixed before the disk is added.
 */
static umode_t ns_visible(struct kobject *kobj, struct attribute *a, int n)
{
	const struct nof_ns_format *format = &to_head(kobj_to_dev(kobj))->format;
	u8 have = format->ids.have;

	if (nof_format_is_generic(format) && (a == &dev_attr_metadata_bytes.attr || a == &dev_attr_nuse.attr))
		return 0;
	if ((a == &dev_attr_uuid.attr && !(have & NOF_ID_UUID)) ||
	    (a == &dev_attr_nguid.attr && !(have & NOF_ID_NGUID)) ||
	    (a == &dev_attr_eui.attr && !(have & NOF_ID_EUI64)))
		return 0;
	return a->mode;
}

static const struct attribute_group ns_group = {
	.attrs		= ns_attrs,
	.is_visible	= ns_visible,
};

const struct attribute_group *nof_head_attr_groups[] = { &ns_group, NULL };
