/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The standard NVMe ioctls. Each returns 0, a negative errno, or the NVMe status of the command as a positive number.
 */
#ifndef NOF_CONTROL_IOCTL_H
#define NOF_CONTROL_IOCTL_H

#include <linux/compiler.h>
#include <linux/nvme_ioctl.h>
#include <linux/types.h>

struct nof_ctrl;
struct nof_head;
struct nvme_command;

/* ioctl of a controller's device node */
long nof_ctrl_ioctl(struct nof_ctrl *ctrl, unsigned int cmd, void __user *arg);

/* The submission queue entry that a passthrough command describes: -EINVAL for what is not passed on. */
int nof_passthru_sqe(const struct nvme_passthru_cmd64 *p, struct nvme_command *sqe);

/*
 * Send a passthrough command. @p->addr, ->data_len: the caller's buffer. @result: dwords 0 and 1 of the completion,
 * set unless a negative errno is returned. Process context, sleep. Permission is the caller's business.
 */
int nof_passthru_admin(struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p, u64 *result);
/* @ctrl: which has to take it; NULL: any that the disk has a path by */
int nof_passthru_io(struct nof_head *head, const struct nof_ctrl *ctrl, const struct nvme_passthru_cmd64 *p,
		    u64 *result);

#endif
