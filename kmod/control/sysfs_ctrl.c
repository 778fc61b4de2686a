// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes of /sys/class/nvmeof/nvmeof0c1, with names and units of the in-tree host. Times are in seconds, with three
 * decimals if they are not whole ("5", "0.100"), or "off" without a limit.
 */
#include <linux/nvme.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uuid.h>
#include "control/connect_options.h"
#include "control/control.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/options.h"
#include "core/state.h"
#include "core/upcalls.h"

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
CTRL_ATTR(serial, "%s", ctrl->ident.serial);
CTRL_ATTR(model, "%s", ctrl->ident.model);
CTRL_ATTR(firmware_rev, "%s", ctrl->ident.firmware);
/* includes the admin queue */
CTRL_ATTR(queue_count, "%u", READ_ONCE(ctrl->queues.nr_default) + READ_ONCE(ctrl->queues.nr_poll) + 1);
CTRL_ATTR(sqsize, "%u", READ_ONCE(ctrl->sqsize));
CTRL_ATTR(numa_node, "%d", dev_to_node(&ctrl->dev));
CTRL_ATTR(reconnects, "%u", READ_ONCE(ctrl->recovery.reconnects));
CTRL_ATTR(cntrltype, "%s", ctrl->discovery ? "discovery" : "io");

static ssize_t dctype_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	static const char * const names[] = {
		[NVME_DCTYPE_NOT_REPORTED] = "none", [NVME_DCTYPE_DDC] = "ddc", [NVME_DCTYPE_CDC] = "cdc",
	};
	u8 type = to_nof_ctrl(dev)->ident.dctype;

	return sysfs_emit(buf, "%s\n", type < ARRAY_SIZE(names) ? names[type] : "reserved");
}
static DEVICE_ATTR_RO(dctype);

/* Writing any text starts the action; the write does not wait for it to finish. */
#define CTRL_DO_ATTR(name, begin)									\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)	\
{													\
	struct nof_ctrl *ctrl = to_nof_ctrl(dev);							\
													\
	return !nof_rights_may_configure() ? -EPERM : (begin) ?: (ssize_t)count;				\
}													\
static DEVICE_ATTR_WO(name)

static int ctrl_rescan(struct nof_ctrl *ctrl)
{
	nof_scan_start(ctrl);
	return 0;
}

CTRL_DO_ATTR(reset_controller, nof_ctrl_reset(ctrl, NULL));
CTRL_DO_ATTR(rescan_controller, ctrl_rescan(ctrl));
CTRL_DO_ATTR(delete_controller, nof_ctrl_delete(ctrl, NULL));

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

CTRL_TIME_ATTR(kato, ka.tmo_ms);
CTRL_TIME_ATTR(stall_tmo, opts.stall_tmo_ms);

/* Whole seconds, as in-tree. With @may_be_off also "off" or a negative number. */
static int parse_time(const char *buf, bool may_be_off, s32 *ms)
{
	int s, err;

	if (may_be_off && sysfs_streq(buf, "off")) {
		*ms = -1;
		return 0;
	}
	err = kstrtoint(buf, 10, &s);
	if (err)
		return err;
	if (s > (may_be_off ? S32_MAX : NOF_MAX_TIME_MS) / (s32)MSEC_PER_SEC || (s < 1 && !may_be_off))
		return -ERANGE;
	*ms = s < 0 ? -1 : s * (s32)MSEC_PER_SEC;
	return 0;
}

#define CTRL_TIME_ATTR_RW(name, time, may_be_off)							\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)		\
{													\
	return emit_time(buf, READ_ONCE(to_nof_ctrl(dev)->opts.name##_ms));				\
}													\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t count)	\
{													\
	struct nof_ctrl *ctrl = to_nof_ctrl(dev);							\
	s32 ms;												\
	const struct nof_timeouts times = { .time = &ms };							\
	int err = nof_rights_may_configure() ? parse_time(buf, may_be_off, &ms) : -EPERM;			\
													\
	err = err ?: nof_opts_set_timeouts(ctrl, &times);							\
	if (err)											\
		return err;										\
	nof_events->ctrl(ctrl, NVMEOF_EVENT_CHANGED, nof_ctrl_state(ctrl));				\
	return count;											\
}													\
static DEVICE_ATTR_RW(name)

CTRL_TIME_ATTR_RW(reconnect_delay, delay_ms, false);
CTRL_TIME_ATTR_RW(ctrl_loss_tmo, loss_ms, true);
CTRL_TIME_ATTR_RW(fast_io_fail_tmo, fail_ms, true);

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
	&dev_attr_cntrltype.attr,
	&dev_attr_dctype.attr,
	&dev_attr_reset_controller.attr,
	&dev_attr_rescan_controller.attr,
	&dev_attr_delete_controller.attr,
	&dev_attr_kato.attr,
	&dev_attr_reconnect_delay.attr,
	&dev_attr_ctrl_loss_tmo.attr,
	&dev_attr_fast_io_fail_tmo.attr,
	&dev_attr_stall_tmo.attr,
	NULL
};

static const struct attribute_group ctrl_group = { .attrs = ctrl_attrs };

const struct attribute_group *nof_ctrl_attr_groups[] = { &ctrl_group, NULL };
