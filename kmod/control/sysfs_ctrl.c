// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of /sys/class/nvmeof/nvmeof0c1, named as users of the in-tree host know them. Times are in seconds for
 * the same reason, with three decimals where they are not whole ("5", "0.100"), "off" where there is no bound.
 */
#include <linux/sysfs.h>
#include <linux/uuid.h>
#include "control/control.h"
#include "core/ctrl.h"
#include "core/state.h"

#define CTRL_ATTR(name, fmt, value)									\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)		\
{													\
	struct nof_ctrl *ctrl = to_nof_ctrl(dev);							\
													\
	return sysfs_emit(buf, fmt "\n", value);							\
}													\
static DEVICE_ATTR_RO(name)

CTRL_ATTR(transport, "%s", ctrl->opts.transport);
CTRL_ATTR(state, "%s", nof_state_name(nof_ctrl_state(ctrl)));
CTRL_ATTR(subsysnqn, "%s", ctrl->opts.subsysnqn);
CTRL_ATTR(hostnqn, "%s", ctrl->opts.hostnqn);
CTRL_ATTR(hostid, "%pUb", ctrl->opts.hostid);
CTRL_ATTR(cntlid, "%u", ctrl->cntlid);
CTRL_ATTR(serial, "%s", ctrl->serial);
CTRL_ATTR(model, "%s", ctrl->model);
CTRL_ATTR(firmware_rev, "%s", ctrl->firmware);
/* with the admin queue */
CTRL_ATTR(queue_count, "%u", READ_ONCE(ctrl->nr_default) + READ_ONCE(ctrl->nr_poll) + 1);
CTRL_ATTR(sqsize, "%u", READ_ONCE(ctrl->sqsize));
CTRL_ATTR(numa_node, "%d", dev_to_node(&ctrl->dev));
CTRL_ATTR(reconnects, "%u", READ_ONCE(ctrl->reconnects));

static ssize_t address_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct nof_opts *opts = &to_nof_ctrl(dev)->opts;
	int len;

	len = sysfs_emit(buf, "traddr=%s,trsvcid=%s", opts->traddr, opts->trsvcid);
	if (*opts->host_traddr)
		len += sysfs_emit_at(buf, len, ",host_traddr=%s", opts->host_traddr);
	if (*opts->host_iface)
		len += sysfs_emit_at(buf, len, ",host_iface=%s", opts->host_iface);
	return len + sysfs_emit_at(buf, len, "\n");
}
static DEVICE_ATTR_RO(address);

static ssize_t emit_time(char *buf, s64 ms)
{
	u32 s;

	if (ms < 0)
		return sysfs_emit(buf, "off\n");
	s = (u32)ms / MSEC_PER_SEC;
	ms = (u32)ms % MSEC_PER_SEC;
	return ms ? sysfs_emit(buf, "%u.%03u\n", s, (u32)ms) : sysfs_emit(buf, "%u\n", s);
}

#define CTRL_TIME_ATTR(name, field)									\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)		\
{													\
	return emit_time(buf, READ_ONCE(to_nof_ctrl(dev)->field));					\
}													\
static DEVICE_ATTR_RO(name)

CTRL_TIME_ATTR(kato, kato_ms);
CTRL_TIME_ATTR(reconnect_delay, opts.reconnect_delay_ms);
CTRL_TIME_ATTR(ctrl_loss_tmo, opts.ctrl_loss_tmo_ms);
CTRL_TIME_ATTR(fast_io_fail_tmo, opts.fast_io_fail_tmo_ms);
CTRL_TIME_ATTR(stall_tmo, opts.stall_tmo_ms);

static struct attribute *ctrl_attrs[] = {
	&dev_attr_transport.attr,
	&dev_attr_address.attr,
	&dev_attr_state.attr,
	&dev_attr_subsysnqn.attr,
	&dev_attr_hostnqn.attr,
	&dev_attr_hostid.attr,
	&dev_attr_cntlid.attr,
	&dev_attr_serial.attr,
	&dev_attr_model.attr,
	&dev_attr_firmware_rev.attr,
	&dev_attr_queue_count.attr,
	&dev_attr_sqsize.attr,
	&dev_attr_numa_node.attr,
	&dev_attr_reconnects.attr,
	&dev_attr_kato.attr,
	&dev_attr_reconnect_delay.attr,
	&dev_attr_ctrl_loss_tmo.attr,
	&dev_attr_fast_io_fail_tmo.attr,
	&dev_attr_stall_tmo.attr,
	NULL
};

static const struct attribute_group ctrl_group = { .attrs = ctrl_attrs };

const struct attribute_group *nof_ctrl_attr_groups[] = { &ctrl_group, NULL };
