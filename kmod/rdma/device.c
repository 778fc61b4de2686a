// SPDX-License-Identifier: GPL-2.0-only
/* RDMA devices, which may be removed at any time: then their queues have to go first. */
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "compat/dispatch.h"
#include "rdma/rdma.h"

static int rdma_device_add(struct ib_device *dev);
static void rdma_device_remove(struct ib_device *dev, void *data);

static struct ib_client client = {
	.name	= "nvmeof_rdma",
	.add	= rdma_device_add,
	.remove	= rdma_device_remove,
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);

static void port_state(struct nof_rdma_device *rdev, u32 port, int err)
{
	struct nof_rdma_queue *q;

	spin_lock(&rdev->lock);
	list_for_each_entry(q, &rdev->queues, entry)
		if (q->port == port)
			WRITE_ONCE(q->port_err, err);
	spin_unlock(&rdev->lock);
}

static void device_lost(struct nof_rdma_device *rdev, const char *why)
{
	struct nof_rdma_queue *q;

	spin_lock(&rdev->lock);
	list_for_each_entry(q, &rdev->queues, entry)
		nof_queue_error(&q->q, NOF_CAUSE_HERE, -ENODEV, "RDMA device %s %s", dev_name(&rdev->dev->dev), why);
	spin_unlock(&rdev->lock);
}

/*
 * A port without a link may have one again in a moment, and its connections stand: that is silence, which others notice
 * and this one explains.
 */
static void device_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct nof_rdma_device *rdev = container_of(handler, struct nof_rdma_device, handler);

	switch (event->event) {
	case IB_EVENT_PORT_ERR:
		port_state(rdev, event->element.port_num, -ENETDOWN);
		break;
	case IB_EVENT_PORT_ACTIVE:
		port_state(rdev, event->element.port_num, 0);
		break;
	case IB_EVENT_DEVICE_FATAL:
		device_lost(rdev, "has failed");
		break;
	default:
		break;
	}
}

static int rdma_device_add(struct ib_device *dev)
{
	struct nof_rdma_device *rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);

	if (!rdev)
		return -ENOMEM;
	rdev->dev = dev;
	spin_lock_init(&rdev->lock);
	INIT_LIST_HEAD(&rdev->queues);
	ib_set_client_data(dev, &client, rdev);
	INIT_IB_EVENT_HANDLER(&rdev->handler, dev, device_event);
	ib_register_event_handler(&rdev->handler);
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

	mutex_lock(&devices_lock);
	list_del(&rdev->entry);
	mutex_unlock(&devices_lock);
	spin_lock(&rdev->lock);
	rdev->gone = true;
	spin_unlock(&rdev->lock);
	device_lost(rdev, "is being removed");
	ib_unregister_event_handler(&rdev->handler);
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

/*
 * The two that follow are functions of their own file for a reason: tests have a device that claims to be capable by a
 * probe at their first instruction (tests/direct).
 */
bool nof_rdma_device_p2p(struct ib_device *dev)
{
	return IS_ENABLED(CONFIG_PCI_P2PDMA) && ib_dma_pci_p2p_dma_supported(dev);
}

/* What maps such memory wants a PCI device, and to sleep: a device made of software has none */
bool nof_rdma_device_gpu(struct ib_device *dev)
{
	return NOF_DISPATCH_SLEEPS && dev->dma_device && dev_is_pci(dev->dma_device);
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
		nof_queue_error(&q->q, NOF_CAUSE_HERE, -EOPNOTSUPP,
				"RDMA device %s cannot register memory by work requests", dev_name(&dev->dev));
		return -EOPNOTSUPP;
	}
	mutex_lock(&devices_lock);
	rdev = rdma_device_find(dev);
	if (rdev) {
		spin_lock(&rdev->lock);
		if (!rdev->gone) {
			list_add_tail(&q->entry, &rdev->queues);
			q->rdev = rdev;
			q->port = q->id->port_num;
			q->port_err = 0;
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
