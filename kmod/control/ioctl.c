// SPDX-License-Identifier: GPL-2.0-only
/* The standard NVMe ioctls of controller nodes, block devices and generic nodes. */
#include <linux/blkdev.h>
#include <linux/capability.h>
#include <linux/compat.h>
#include <linux/nvme.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include "compat/uring.h"
#include "control/passthru.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "core/state.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"
#include "wire/identify.h"

/* The two passthrough structures differ only in the result, which follows the timeout. */
#define PASSTHRU_ARGS	offsetofend(struct nvme_passthru_cmd, timeout_ms)

static_assert(PASSTHRU_ARGS == offsetofend(struct nvme_passthru_cmd64, timeout_ms));
static_assert(offsetof(struct nvme_passthru_cmd, cdw10) == offsetof(struct nvme_passthru_cmd64, cdw10));

/*
 * struct nvme_user_io as 32-bit programs pass it, without the padding at its end that 64-bit alignment adds. The ioctl
 * number contains the size, so it differs as well.
 */
#define USER_IO_ARGS	offsetofend(struct nvme_user_io, appmask)
#define SUBMIT_IO_32	_IOC(_IOC_WRITE, 'N', _IOC_NR(NVME_IOCTL_SUBMIT_IO), USER_IO_ARGS)

static_assert(SUBMIT_IO_32 != NVME_IOCTL_SUBMIT_IO);

/* For a 32-bit caller only the lower half of an address is valid, as in-tree. */
static u64 user_addr(u64 addr)
{
	return in_compat_syscall() ? lower_32_bits(addr) : addr;
}

static int get_passthru(struct nvme_passthru_cmd64 *p, void __user *arg)
{
	memset(p, 0, sizeof(*p));
	if (copy_from_user(p, arg, PASSTHRU_ARGS))
		return -EFAULT;
	p->addr = user_addr(p->addr);
	return 0;
}

/* A command that completed has a result, whatever its NVMe status (@ret > 0). */
static int put_result(int ret, u64 result, void __user *arg, bool wide)
{
	struct nvme_passthru_cmd64 __user *to64 = arg;
	struct nvme_passthru_cmd __user *to = arg;

	if (ret < 0)
		return ret;
	if (wide ? put_user(result, &to64->result) : put_user((u32)result, &to->result))
		return -EFAULT;
	return ret;
}

static int admin_send(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, const struct nof_grant *grant,
		      void __user *arg, bool wide)
{
	struct iov_iter data;
	u64 result = 0;
	int ret;

	/* bit 0 of the opcode: from the host to the controller */
	ret = import_ubuf(p->opcode & 1 ? ITER_SOURCE : ITER_DEST, u64_to_user_ptr(p->addr), p->data_len, &data);
	if (ret)
		return ret;
	ret = nof_passthru_admin(ctrl, p, grant, &data, &result);
	return put_result(ret, result, arg, wide);
}

static int ioctl_admin(struct nof_ctrl *ctrl, void __user *arg, bool wide)
{
	const struct nof_caller who = { .ctrl = ctrl };
	struct nvme_passthru_cmd64 p;
	struct nof_grant grant;

	return get_passthru(&p, arg) ?: nof_rights_check_admin(&who, NULL, &p, &grant) ?:
	       admin_send(ctrl, &p, &grant, arg, wide);
}

static int ioctl_io(const struct nof_caller *who, struct nof_head *head, struct nvme_passthru_cmd64 *p, bool vec,
		    u64 *result)
{
	struct nof_grant grant;
	const struct nof_passthru_io io = { .p = p, .grant = &grant, .only = who->ctrl, .vec = vec };

	return nof_rights_check_io(who, head, p, &grant) ?: nof_passthru_execute(head, &io, result);
}

/* NVME_IOCTL_SUBMIT_IO, the oldest interface: Read, Write or Compare with a length in blocks. */
static int ioctl_submit_io(const struct nof_caller *who, struct nof_head *head, void __user *arg)
{
	struct nvme_passthru_cmd64 p = { .nsid = head->nsid };
	struct nvme_user_io io = {};
	u64 result;

	/* a namespace of an unknown command set has no blocks */
	if (nof_format_is_generic(&head->format))
		return -EOPNOTSUPP;
	if (copy_from_user(&io, arg, USER_IO_ARGS))
		return -EFAULT;
	if (io.flags)
		return -EINVAL;
	if (io.metadata)
		return -EOPNOTSUPP;
	if (io.opcode != nvme_cmd_read && io.opcode != nvme_cmd_write && io.opcode != nvme_cmd_compare)
		return -EINVAL;
	p.opcode = io.opcode;
	p.addr = user_addr(io.addr);
	p.cdw10 = lower_32_bits(io.slba);
	p.cdw11 = upper_32_bits(io.slba);
	p.cdw12 = io.nblocks | (u32)io.control << 16;
	p.data_len = (io.nblocks + 1U) * nof_ns_block_bytes(&head->format, p.cdw12);
	p.cdw13 = io.dsmgmt;
	p.cdw14 = io.reftag;
	p.cdw15 = io.apptag | (u32)io.appmask << 16;
	return ioctl_io(who, head, &p, false, &result);
}

static int disk_admin_cmd(const struct nof_caller *who, struct nof_head *head, void __user *arg, bool wide)
{
	struct nvme_passthru_cmd64 p;
	struct nof_grant grant;
	struct nof_ctrl *ctrl;
	int ret;

	ret = get_passthru(&p, arg) ?: nof_rights_check_admin(who, head, &p, &grant);
	if (ret)
		return ret;
	ctrl = nof_head_live_ctrl(head);
	if (!ctrl)
		return -EAGAIN;
	ret = admin_send(ctrl, &p, &grant, arg, wide);
	nof_ctrl_put(ctrl);
	return ret;
}

static int disk_io_cmd(const struct nof_caller *who, struct nof_head *head, void __user *arg, bool wide, bool vec)
{
	struct nvme_passthru_cmd64 p;
	u64 result = 0;
	int ret;

	ret = get_passthru(&p, arg);
	if (ret)
		return ret;
	ret = ioctl_io(who, head, &p, vec, &result);
	return put_result(ret, result, arg, wide);
}

int nof_disk_ioctl(struct nof_head *head, const struct nof_caller *who, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case NVME_IOCTL_ID:
		/* the NSID is the return value: a large one must not be taken for an error */
		force_successful_syscall_return();
		return head->nsid;
	case NVME_IOCTL_ADMIN_CMD:
		return disk_admin_cmd(who, head, arg, false);
	case NVME_IOCTL_ADMIN64_CMD:
		return disk_admin_cmd(who, head, arg, true);
	case NVME_IOCTL_IO_CMD:
		return disk_io_cmd(who, head, arg, false, false);
	case NVME_IOCTL_IO64_CMD:
		return disk_io_cmd(who, head, arg, true, false);
	case NVME_IOCTL_IO64_CMD_VEC:
		return disk_io_cmd(who, head, arg, true, true);
	case NVME_IOCTL_SUBMIT_IO:
	case SUBMIT_IO_32:
		return ioctl_submit_io(who, head, arg);
	default:
		return -ENOTTY;
	}
}

int nof_head_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd, unsigned long arg)
{
	const struct nof_caller who = {
		.may_read	= (mode & BLK_OPEN_READ) != 0,
		.may_write	= (mode & BLK_OPEN_WRITE) != 0,
		.partition	= bdev_is_partition(bdev),
	};

	return nof_disk_ioctl(bdev->bd_disk->private_data, &who, cmd, (void __user *)arg);
}

static bool head_has_path(const struct nof_head *head, const struct nof_ctrl *ctrl)
{
	struct nof_path *path;

	list_for_each_entry(path, &head->paths, entry)
		if (path->ctrl == ctrl)
			return true;
	return false;
}

/*
 * Returns the head of namespace @nsid if @ctrl has a path to it, else NULL. The caller gets references on the head and
 * its disk, which keep both allocated if the disk is removed.
 */
static struct nof_head *ctrl_find_head(struct nof_ctrl *ctrl, u32 nsid)
{
	struct nof_subsys *s = ctrl->subsys;
	struct nof_head *head, *found = NULL;

	mutex_lock(&s->lock);
	list_for_each_entry(head, &s->heads, entry) {
		if (head->nsid != nsid || !test_bit(NOF_HEAD_ADDED, &head->flags) || !head_has_path(head, ctrl))
			continue;
		found = nof_head_pin(head);
		break;
	}
	mutex_unlock(&s->lock);
	return found;
}

/* An I/O command at a controller's node: p.nsid selects the namespace, and only this controller may execute it. */
static int ctrl_io_cmd(struct nof_ctrl *ctrl, void __user *arg, bool wide, bool vec)
{
	const struct nof_caller who = { .ctrl = ctrl };
	struct nvme_passthru_cmd64 p;
	struct nof_head *head;
	u64 result = 0;
	int ret;

	ret = get_passthru(&p, arg);
	if (ret)
		return ret;
	head = ctrl_find_head(ctrl, p.nsid);
	if (!head)
		return -EINVAL;
	ret = ioctl_io(&who, head, &p, vec, &result);
	nof_head_unpin(head);
	return put_result(ret, result, arg, wide);
}

/* As with the in-tree host, returns when the controller is live again. Waits for one connect attempt at most. */
static int ctrl_reset_wait(struct nof_ctrl *ctrl)
{
	long left = msecs_to_jiffies(ctrl->opts.connect_tmo_ms);
	int err;

	err = nof_ctrl_reset(ctrl, NULL);
	if (err)
		return err;
	left = wait_event_interruptible_timeout(ctrl->state_wq, nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE ||
						nof_state_ends(nof_ctrl_state(ctrl)), left);
	/* not -ERESTARTSYS: the reset is done and must not be repeated after the signal handler */
	if (left < 0)
		return -EINTR;
	return nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE ? 0 : -ENOTCONN;
}

/*
 * open() has checked CAP_SYS_ADMIN, but the file may have been passed to a process without it, which could then read
 * every namespace of the controller.
 */
long nof_ctrl_ioctl(struct nof_ctrl *ctrl, unsigned int cmd, void __user *arg)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	switch (cmd) {
	case NVME_IOCTL_ADMIN_CMD:
		return ioctl_admin(ctrl, arg, false);
	case NVME_IOCTL_ADMIN64_CMD:
		return ioctl_admin(ctrl, arg, true);
	case NVME_IOCTL_IO_CMD:
		return ctrl_io_cmd(ctrl, arg, false, false);
	case NVME_IOCTL_IO64_CMD:
		return ctrl_io_cmd(ctrl, arg, true, false);
	case NVME_IOCTL_IO64_CMD_VEC:
		return ctrl_io_cmd(ctrl, arg, true, true);
	case NVME_IOCTL_RESET:
		return ctrl_reset_wait(ctrl);
	case NVME_IOCTL_SUBSYS_RESET:
		return nof_ctrl_reset_subsys(ctrl);
	case NVME_IOCTL_RESCAN:
		return nof_ctrl_rescan(ctrl, NULL);
	default:
		return -ENOTTY;
	}
}
