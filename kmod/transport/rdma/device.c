// SPDX-License-Identifier: GPL-2.0-only
/* RDMA devices, which may be removed at any time: then their queues have to go first. */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "transport/rdma/rdma.h"

static int rdma_device_add(struct ib_device *dev);
static void rdma_device_remove(struct ib_device *dev, void *data);

static struct ib_client client = {
	.name	= "nvmeof_rdma",
	.add	= rdma_device_add,
	.remove	= rdma_device_remove,
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);

static int rdma_device_add(struct ib_device *dev)
{
	struct nof_rdma_device *rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);

	if (!rdev)
		return -ENOMEM;
	rdev->dev = dev;
	spin_lock_init(&rdev->lock);
	INIT_LIST_HEAD(&rdev->queues);
	ib_set_client_data(dev, &client, rdev);
	mutex_lock(&devices_lock);
	list_add(&rdev->entry, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

static struct nof_rdma_device *rdma_device_find(const struct ib_device *dev)
{
	struct nof_rdma_device *rdev;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(rdev, &devices, entry)
		if (rdev->dev == dev)
			return rdev;
	return NULL;
}

static bool device_left(struct nof_rdma_device *rdev)
{
	bool left;

	/* who emptied it is done with the lock */
	spin_lock(&rdev->lock);
	left = list_empty(&rdev->queues);
	spin_unlock(&rdev->lock);
	return left;
}

/* Each controller loses its connections, and tries to get others: by the same address once it is back, maybe */
static void rdma_device_remove(struct ib_device *dev, void *data)
{
	struct nof_rdma_device *rdev = data;
	struct nof_rdma_queue *q;

	mutex_lock(&devices_lock);
	list_del(&rdev->entry);
	mutex_unlock(&devices_lock);
	spin_lock(&rdev->lock);
	rdev->gone = true;
	list_for_each_entry(q, &rdev->queues, entry)
		nof_queue_error(&q->q, -ENODEV, "RDMA device %s is being removed", dev_name(&dev->dev));
	spin_unlock(&rdev->lock);
	wait_var_event(&rdev->queues, device_left(rdev));
	kfree(rdev);
}

int nof_rdma_devices_init(void)
{
	return ib_register_client(&client);
}

void nof_rdma_devices_exit(void)
{
	ib_unregister_client(&client);
}

u32 nof_rdma_device_pages(const struct ib_device *dev)
{
	return min_t(u32, NOF_RDMA_LARGE, dev->attrs.max_fast_reg_page_list_len);
}

bool nof_rdma_device_gaps(const struct ib_device *dev)
{
	return dev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG;
}

/* Memory is registered for each command, and a page besides that of a misaligned beginning is the least */
static bool can(const struct ib_device *dev)
{
	return dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS && nof_rdma_device_pages(dev) >= 2;
}

int nof_rdma_device_join(struct nof_rdma_queue *q, struct ib_device *dev)
{
	struct nof_rdma_device *rdev;
	int err = -ENODEV;

	if (!can(dev)) {
		nof_queue_error(&q->q, -EOPNOTSUPP, "RDMA device %s cannot register memory by work requests",
				dev_name(&dev->dev));
		return -EOPNOTSUPP;
	}
	mutex_lock(&devices_lock);
	rdev = rdma_device_find(dev);
	if (rdev) {
		spin_lock(&rdev->lock);
		if (!rdev->gone) {
			list_add_tail(&q->entry, &rdev->queues);
			q->rdev = rdev;
			err = 0;
		}
		spin_unlock(&rdev->lock);
	}
	mutex_unlock(&devices_lock);
	return err;
}

void nof_rdma_device_leave(struct nof_rdma_queue *q)
{
	struct nof_rdma_device *rdev = q->rdev;

	if (!rdev)
		return;
	q->rdev = NULL;
	/* under the lock: it is freed once that is let go of, and the list is empty */
	spin_lock(&rdev->lock);
	list_del_init(&q->entry);
	wake_up_var(&rdev->queues);
	spin_unlock(&rdev->lock);
}
