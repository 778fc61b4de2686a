/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The standard NVMe ioctls. Each returns 0, a negative errno, or the NVMe status of the command as a positive number.
 */
#ifndef NOF_CONTROL_IOCTL_H
#define NOF_CONTROL_IOCTL_H

#include <linux/blkdev.h>

struct nof_caller;
struct nof_ctrl;
struct nof_head;

/* ioctl of a controller's device node */
long nof_ctrl_ioctl(struct nof_ctrl *ctrl, unsigned int cmd, void __user *arg);
/* The head_ioctl of struct nof_control_ops */
int nof_head_ioctl(struct block_device *bdev, blk_mode_t mode, unsigned int cmd, unsigned long arg);
/* ioctl of a disk's block device node or generic node */
int nof_disk_ioctl(struct nof_head *head, const struct nof_caller *who, unsigned int cmd, void __user *arg);

#endif
