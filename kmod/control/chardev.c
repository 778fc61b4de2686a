// SPDX-License-Identifier: GPL-2.0-only
/* /dev/nvmeof0c1, a controller's device node. */
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include "control/control.h"
#include "control/ioctl.h"
#include "control/uring.h"
#include "core/ctrl.h"
#include "core/subsys.h"

#define NOF_MINORS	(1U << MINORBITS)

static dev_t first_devt;
static DEFINE_IDA(minors);

/* A controller that is not live may be opened all the same: reset and rescan, and waiting for it, need a file. */
static int chardev_open(struct inode *inode, struct file *file)
{
	struct nof_ctrl *ctrl = container_of(inode->i_cdev, struct nof_ctrl, cdev);

	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	file->private_data = nof_ctrl_get(ctrl);
	return 0;
}

static int chardev_release(struct inode *inode, struct file *file)
{
	nof_ctrl_put(file->private_data);
	return 0;
}

static long chardev_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return nof_ctrl_ioctl(file->private_data, cmd, (void __user *)arg);
}

static int chardev_uring_cmd(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	return nof_uring_admin(ioucmd, issue_flags, ioucmd->file->private_data);
}

static const struct file_operations chardev_fops = {
	.owner		= THIS_MODULE,
	.open		= chardev_open,
	.release	= chardev_release,
	.unlocked_ioctl	= chardev_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.uring_cmd	= chardev_uring_cmd,
};

int nof_chardev_add(struct nof_ctrl *ctrl)
{
	int minor = ida_alloc_max(&minors, NOF_MINORS - 1, GFP_KERNEL);

	if (minor < 0)
		return minor;
	ctrl->dev.devt = MKDEV(MAJOR(first_devt), minor);
	ctrl->dev.class = &nof_ctrl_class;
	ctrl->dev.parent = &ctrl->subsys->dev;
	nof_uevent_init(ctrl);
	cdev_init(&ctrl->cdev, &chardev_fops);
	ctrl->cdev.owner = THIS_MODULE;
	return cdev_device_add(&ctrl->cdev, &ctrl->dev);
}

void nof_chardev_del(struct nof_ctrl *ctrl)
{
	cdev_device_del(&ctrl->cdev, &ctrl->dev);
	nof_uevent_exit(ctrl);
}

void nof_chardev_release(struct nof_ctrl *ctrl)
{
	/* not earlier: udev may still handle the removed node */
	if (ctrl->dev.devt)
		ida_free(&minors, MINOR(ctrl->dev.devt));
}

int nof_chardev_init(void)
{
	return alloc_chrdev_region(&first_devt, 0, NOF_MINORS, "nvmeof");
}

void nof_chardev_exit(void)
{
	unregister_chrdev_region(first_devt, NOF_MINORS);
	ida_destroy(&minors);
}
