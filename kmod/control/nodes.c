// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device nodes: /dev/nvmeof0c1 of a controller, and /dev/ngnvmeof0n1, the generic node of a disk, which takes
 * passthrough commands and has no page cache or partitions.
 */
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "compat/uring.h"
#include "control/control.h"
#include "control/passthru.h"
#include "control/rights.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/head.h"

/* The attributes belong to the class, so that they exist before udev learns of a device. */
static nof_class_const struct class ctrl_class = {
	.name		= "nvmeof",
	.dev_groups	= nof_ctrl_attr_groups,
	.dev_uevent	= nof_ctrl_uevent,
};

static nof_class_const struct class generic_class = {
	.name		= "nvmeof-generic",
};

#define NOF_MINORS	(1U << MINORBITS)

static dev_t ctrl_devt;
static DEFINE_IDA(ctrl_minors);

/* Succeeds in any state: NVME_IOCTL_RESET works on a lost controller, too, and files stay open over a reconnect. */
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

/*
 * As in struct nof_control_ops. The controller must have its name and all that attributes and ioctls read, and the
 * device of its subsystem must be added. Files may stay open after chardev_del() and then hold the last references.
 * Their ioctls fail, admin commands with -ENODEV.
 */
static int chardev_add(struct nof_ctrl *ctrl)
{
	int minor = ida_alloc_max(&ctrl_minors, NOF_MINORS - 1, GFP_KERNEL);
	int err;

	if (minor < 0)
		return minor;
	/* chardev_free() frees the minor number, also if this function fails */
	ctrl->dev.devt = MKDEV(MAJOR(ctrl_devt), minor);
	ctrl->dev.class = &ctrl_class;
	ctrl->dev.parent = &ctrl->subsys->dev;
	nof_uevent_init(ctrl);
	cdev_init(&ctrl->cdev, &chardev_fops);
	ctrl->cdev.owner = THIS_MODULE;
	err = cdev_device_add(&ctrl->cdev, &ctrl->dev);
	if (err)
		nof_uevent_exit(ctrl);
	return err;
}

static void chardev_del(struct nof_ctrl *ctrl)
{
	cdev_device_del(&ctrl->cdev, &ctrl->dev);
	nof_uevent_exit(ctrl);
}

static void chardev_free(struct nof_ctrl *ctrl)
{
	/* not in chardev_del(): udev may still process the removal of the node */
	if (ctrl->dev.devt)
		ida_free(&ctrl_minors, MINOR(ctrl->dev.devt));
}

static dev_t generic_devt;
static DEFINE_IDA(generic_minors);

/**
 * struct nof_generic - generic node; freed at the last close, which may follow the removal of the disk
 * @head:	a reference of nof_head_pin()
 */
struct nof_generic {
	struct device	dev;
	struct cdev	cdev;
	struct nof_head	*head;
};

static int generic_open(struct inode *inode, struct file *file)
{
	struct nof_generic *g = container_of(inode->i_cdev, struct nof_generic, cdev);

	get_device(&g->dev);
	atomic_inc(&g->head->generic_opens);
	file->private_data = g;
	return 0;
}

static int generic_release(struct inode *inode, struct file *file)
{
	struct nof_generic *g = file->private_data;

	atomic_dec(&g->head->generic_opens);
	put_device(&g->dev);
	return 0;
}

static struct nof_caller generic_caller(const struct file *file)
{
	return (struct nof_caller){
		.may_read	= file->f_mode & FMODE_READ,
		.may_write	= file->f_mode & FMODE_WRITE,
	};
}

static long generic_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct nof_caller who = generic_caller(file);
	struct nof_generic *g = file->private_data;

	return nof_disk_ioctl(g->head, &who, cmd, (void __user *)arg);
}

static int generic_uring_cmd(struct io_uring_cmd *ioucmd, unsigned int issue_flags)
{
	const struct nof_caller who = generic_caller(ioucmd->file);
	struct nof_generic *g = ioucmd->file->private_data;

	return nof_uring_io(ioucmd, issue_flags, g->head, &who);
}

static int generic_uring_poll(struct io_uring_cmd *ioucmd, struct io_comp_batch *iob, unsigned int poll_flags)
{
	struct nof_generic *g = ioucmd->file->private_data;

	return nof_uring_poll(ioucmd, g->head, iob);
}

static const struct file_operations generic_fops = {
	.owner			= THIS_MODULE,
	.open			= generic_open,
	.release		= generic_release,
	.unlocked_ioctl		= generic_ioctl,
	.compat_ioctl		= compat_ptr_ioctl,
	.uring_cmd		= generic_uring_cmd,
	.uring_cmd_iopoll	= generic_uring_poll,
};

static void generic_free(struct device *dev)
{
	struct nof_generic *g = container_of(dev, struct nof_generic, dev);

	/* not in generic_del(): udev may still process the removal of the node */
	ida_free(&generic_minors, MINOR(dev->devt));
	nof_head_unpin(g->head);
	kfree(g);
}

static struct nof_generic *generic_alloc(struct nof_head *head)
{
	struct nof_generic *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int minor;

	if (!g)
		return ERR_PTR(-ENOMEM);
	minor = ida_alloc_max(&generic_minors, NOF_MINORS - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(g);
		return ERR_PTR(minor);
	}
	device_initialize(&g->dev);
	g->dev.devt = MKDEV(MAJOR(generic_devt), minor);
	g->dev.class = &generic_class;
	g->dev.parent = &head->subsys->dev;
	g->dev.release = generic_free;
	g->head = nof_head_pin(head);
	return g;
}

static int generic_add(struct nof_head *head)
{
	struct nof_generic *g = generic_alloc(head);
	int err;

	if (IS_ERR(g))
		return PTR_ERR(g);
	err = dev_set_name(&g->dev, "ng%s", nof_head_name(head));
	if (!err) {
		cdev_init(&g->cdev, &generic_fops);
		g->cdev.owner = THIS_MODULE;
		err = cdev_device_add(&g->cdev, &g->dev);
	}
	if (err)
		put_device(&g->dev);
	else
		head->generic = g;
	return err;
}

static void generic_del(struct nof_head *head)
{
	struct nof_generic *g = head->generic;

	head->generic = NULL;
	cdev_device_del(&g->cdev, &g->dev);
	put_device(&g->dev);
}

int nof_nodes_init(void)
{
	int err = class_register(&ctrl_class);

	if (err)
		return err;
	err = class_register(&generic_class);
	if (err)
		goto exit_ctrl_class;
	err = alloc_chrdev_region(&ctrl_devt, 0, NOF_MINORS, "nvmeof");
	if (err)
		goto exit_generic_class;
	err = alloc_chrdev_region(&generic_devt, 0, NOF_MINORS, "nvmeof-generic");
	if (err)
		goto exit_ctrl_region;
	return 0;

exit_ctrl_region:
	unregister_chrdev_region(ctrl_devt, NOF_MINORS);
exit_generic_class:
	class_unregister(&generic_class);
exit_ctrl_class:
	class_unregister(&ctrl_class);
	return err;
}

void nof_nodes_exit(void)
{
	unregister_chrdev_region(generic_devt, NOF_MINORS);
	ida_destroy(&generic_minors);
	unregister_chrdev_region(ctrl_devt, NOF_MINORS);
	ida_destroy(&ctrl_minors);
	class_unregister(&generic_class);
	class_unregister(&ctrl_class);
}

const struct nof_control_ops nof_control = {
	.subsys_class	= &nof_subsys_class,
	.head_groups	= nof_head_attr_groups,
	.path_groups	= nof_path_attr_groups,
	.ctrl_add	= chardev_add,
	.ctrl_del	= chardev_del,
	.ctrl_release	= chardev_free,
	.head_add	= generic_add,
	.head_del	= generic_del,
	.head_ioctl	= nof_head_ioctl,
};
