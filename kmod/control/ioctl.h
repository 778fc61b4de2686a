/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The standard NVMe ioctls. Each returns 0, a negative errno, or the NVMe status of the command as a positive number.
 */
#ifndef NOF_CONTROL_IOCTL_H
#define NOF_CONTROL_IOCTL_H

#include <linux/compiler.h>

struct nof_caller;
struct nof_ctrl;
struct nof_head;

/* ioctl of a controller's device node */
long nof_ctrl_ioctl(struct nof_ctrl *ctrl, unsigned int cmd, void __user *arg);
/* ioctl of a disk's node, or of its generic node */
int nof_disk_ioctl(struct nof_head *head, const struct nof_caller *who, unsigned int cmd, void __user *arg);

#endif
