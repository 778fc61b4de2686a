// SPDX-License-Identifier: GPL-2.0-only
/* /dev/ngnvmeof0n1, a disk's generic node: for commands, and without a page cache or partitions. */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "control/control.h"
#include "control/ioctl.h"
#include "control/rights.h"
#include "control/uring.h"
#include "core/subsys.h"
#include "mpath/head.h"

#define NOF_GENERIC_MINORS	(1U << MINORBITS)

static dev_t first_devt;
static DEFINE_IDA(minors);

/**
 * struct nof_generic - its end is the last close, which may come after that of the disk
 * @head:	pinned
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

	/* only now: udev may read of a node that has just gone */
	ida_free(&minors, MINOR(dev->devt));
	nof_head_unpin(g->head);
	kfree(g);
}

static struct nof_generic *generic_alloc(struct nof_head *head)
{
	struct nof_generic *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int minor;

	if (!g)
		return ERR_PTR(-ENOMEM);
	minor = ida_alloc_max(&minors, NOF_GENERIC_MINORS - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(g);
		return ERR_PTR(minor);
	}
	device_initialize(&g->dev);
	g->dev.devt = MKDEV(MAJOR(first_devt), minor);
	g->dev.class = &nof_generic_class;
	g->dev.parent = &head->subsys->dev;
	g->dev.release = generic_free;
	g->head = nof_head_pin(head);
	return g;
}

int nof_generic_add(struct nof_head *head)
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

void nof_generic_del(struct nof_head *head)
{
	struct nof_generic *g = head->generic;

	head->generic = NULL;
	cdev_device_del(&g->cdev, &g->dev);
	put_device(&g->dev);
}

int nof_generic_init(void)
{
	return alloc_chrdev_region(&first_devt, 0, NOF_GENERIC_MINORS, "nvmeof-generic");
}

void nof_generic_exit(void)
{
	unregister_chrdev_region(first_devt, NOF_GENERIC_MINORS);
	ida_destroy(&minors);
}
