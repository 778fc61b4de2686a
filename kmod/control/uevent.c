// SPDX-License-Identifier: GPL-2.0-only
/* Uevents of controllers, with the variables that the in-tree host's have: for rules of udev's. */
#include <linux/kobject.h>
#include <linux/nvme.h>
#include <linux/sched/mm.h>
#include "control/control.h"
#include "core/ctrl.h"

static int add_address(struct kobj_uevent_env *env, const char *name, const char *value)
{
	return add_uevent_var(env, "%s=%s", name, *value ? value : "none");
}

int nof_ctrl_uevent(nof_class_device *dev, struct kobj_uevent_env *env)
{
	const struct nof_ctrl *ctrl = container_of(dev, struct nof_ctrl, dev);
	const struct nof_opts *opts = &ctrl->opts;

	return add_uevent_var(env, "NVME_TRTYPE=%s", opts->transport) ?:
	       add_address(env, "NVME_TRADDR", opts->traddr) ?:
	       add_address(env, "NVME_TRSVCID", opts->trsvcid) ?:
	       add_address(env, "NVME_HOST_TRADDR", opts->host_traddr) ?:
	       add_address(env, "NVME_HOST_IFACE", opts->host_iface);
}

/* Recovery tells of itself: memory for that must not be got by writing to a disk that waits for it */
static void uevent_send(struct nof_ctrl *ctrl, char *variable)
{
	char *variables[] = { variable, NULL };
	unsigned int noio = memalloc_noio_save();

	kobject_uevent_env(&ctrl->dev.kobj, KOBJ_CHANGE, variables);
	memalloc_noio_restore(noio);
}

void nof_uevent_connected(struct nof_ctrl *ctrl)
{
	if (ctrl->discovery && READ_ONCE(ctrl->reconnects))
		uevent_send(ctrl, "NVME_EVENT=rediscover");
	uevent_send(ctrl, "NVME_EVENT=connected");
}

/* As in-tree: what the driver does not see to itself */
void nof_uevent_aen(struct nof_ctrl *ctrl, u8 type, u8 info, u8 log_page)
{
	char text[sizeof("NVME_AEN=0x00000000")];

	if (type == NVME_AER_NOTICE && info != NVME_AER_NOTICE_DISC_CHANGED)
		return;
	scnprintf(text, sizeof(text), "NVME_AEN=%#08x", type | info << 8 | log_page << 16);
	uevent_send(ctrl, text);
}
