// SPDX-License-Identifier: GPL-2.0-only
/* Uevents of controllers, with the variables that the in-tree host's have: for rules of udev's. */
#include <linux/kobject.h>
#include <linux/nvme.h>
#include "control/control.h"
#include "core/ctrl.h"
#include "core/work.h"

/* ctrl->uevent.pending */
enum { CONNECTED, REDISCOVER, AEN };

/* Between two asynchronous events of one controller that are told: a target may have any number */
#define AEN_RATE	(HZ / 10)

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

static void uevent_send(struct nof_ctrl *ctrl, char *variable)
{
	char *variables[] = { variable, NULL };

	kobject_uevent_env(&ctrl->dev.kobj, KOBJ_CHANGE, variables);
}

/*
 * Apart from those who have something to tell: uevents take a mutex of the kernel's, whose owner may be writing to one
 * of our disks for memory, and recovery must not wait for that.
 */
static void uevent_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, uevent.work);
	char aen[sizeof("NVME_AEN=0x00000000")];

	if (test_and_clear_bit(REDISCOVER, &ctrl->uevent.pending))
		uevent_send(ctrl, "NVME_EVENT=rediscover");
	if (test_and_clear_bit(CONNECTED, &ctrl->uevent.pending))
		uevent_send(ctrl, "NVME_EVENT=connected");
	if (test_and_clear_bit(AEN, &ctrl->uevent.pending)) {
		scnprintf(aen, sizeof(aen), "NVME_AEN=%#08x", READ_ONCE(ctrl->uevent.aen));
		uevent_send(ctrl, aen);
	}
}

void nof_uevent_init(struct nof_ctrl *ctrl)
{
	INIT_WORK(&ctrl->uevent.work, uevent_work);
	ctrl->uevent.next = jiffies;
}

void nof_uevent_exit(struct nof_ctrl *ctrl)
{
	cancel_work_sync(&ctrl->uevent.work);
}

void nof_uevent_connected(struct nof_ctrl *ctrl)
{
	if (ctrl->discovery && READ_ONCE(ctrl->recovery.reconnects))
		set_bit(REDISCOVER, &ctrl->uevent.pending);
	set_bit(CONNECTED, &ctrl->uevent.pending);
	queue_work(nof_wq, &ctrl->uevent.work);
}

/* The same as the in-tree driver tells */
static bool is_told(u8 type, u8 info)
{
	switch (type) {
	case NVME_AER_ERROR:
		return info != NVME_AER_ERROR_PERSIST_INT_ERR;
	case NVME_AER_SMART:
	case NVME_AER_CSS:
	case NVME_AER_VS:
		return true;
	case NVME_AER_NOTICE:
		return info == NVME_AER_NOTICE_DISC_CHANGED;
	default:
		return false;
	}
}

void nof_uevent_aen(struct nof_ctrl *ctrl, u8 type, u8 info, u8 log_page)
{
	if (!is_told(type, info) || time_before(jiffies, ctrl->uevent.next))
		return;
	ctrl->uevent.next = jiffies + AEN_RATE;
	WRITE_ONCE(ctrl->uevent.aen, type | info << 8 | log_page << 16);
	set_bit(AEN, &ctrl->uevent.pending);
	queue_work(nof_wq, &ctrl->uevent.work);
}
