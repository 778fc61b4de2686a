// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RDMA transport: devices, setup and teardown of a queue's connection and queue pair, ops table, module. A device
 * may be removed at any time; its queues are taken down first.
 */
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "compat/dispatch.h"
#include "core/direct.h"
#include "core/source.h"
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
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -ENODEV, "RDMA device %s %s", dev_name(&rdev->dev->dev), why);
	spin_unlock(&rdev->lock);
}

/*
 * A port may lose its link for a short time only, and its connections stay. The watch of the core notices the silence;
 * port_err tells it the reason.
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

	/* wait until device_leave() has released the lock */
	spin_lock(&rdev->lock);
	left = list_empty(&rdev->queues);
	spin_unlock(&rdev->lock);
	return left;
}

/* Controllers lose their connections and reconnect, possibly by the same address once the device is back */
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

static int devices_init(void)
{
	return ib_register_client(&client);
}

static void devices_exit(void)
{
	ib_unregister_client(&client);
}

/* Returns the maximum number of pages of a memory region */
static u32 device_pages(const struct ib_device *dev)
{
	return min_t(u32, NOF_RDMA_LARGE, dev->attrs.max_fast_reg_page_list_len);
}

static bool device_gaps(const struct ib_device *dev)
{
	return dev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG;
}

/*
 * The next two functions are not inlined: tests probe them to simulate capable devices (tests/kmod/direct).
 */
noinline bool nof_rdma_device_p2p(struct ib_device *dev)
{
	return IS_ENABLED(CONFIG_PCI_P2PDMA) && ib_dma_pci_p2p_dma_supported(dev);
}

/* A GPU provider needs a PCI device, which a software device is not, and may sleep */
noinline bool nof_rdma_device_gpu(struct ib_device *dev)
{
	return NOF_DISPATCH_SLEEPS && dev->dma_device && dev_is_pci(dev->dma_device);
}

/*
 * Memory is registered for each command. A region has to hold the block layer's smallest request, a page of the host,
 * and one page more, as the first may be misaligned.
 */
static bool device_usable(const struct ib_device *dev)
{
	return dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS &&
	       device_pages(dev) * NOF_RDMA_UNIT > PAGE_SIZE;
}

/* Adds the queue to the device until device_leave(). -ENODEV: device is being removed; -EOPNOTSUPP: not usable. */
static int device_join(struct nof_rdma_queue *q, struct ib_device *dev)
{
	struct nof_rdma_device *rdev;
	int err = -ENODEV;

	if (!device_usable(dev)) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EOPNOTSUPP,
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

static void device_leave(struct nof_rdma_queue *q)
{
	struct nof_rdma_device *rdev = q->rdev;

	if (!rdev)
		return;
	q->rdev = NULL;
	/* wake under the lock: the device is freed once the list is empty and the lock released */
	spin_lock(&rdev->lock);
	list_del_init(&q->entry);
	wake_up_var(&rdev->queues);
	spin_unlock(&rdev->lock);
}

/*
 * Interrupt moderation: for a busy queue the device waits for several completions before it interrupts; otherwise it
 * interrupts for each. DIM measures the load and selects the step, as for the queues of the verbs core. Steps have no
 * more completions than are reaped at a time, and last no longer than a round trip.
 */
static const struct { u8 usec, completions; } moderation_steps[RDMA_DIM_PARAMS_NUM_PROFILES] = {
	{ 1, 1 }, { 1, 2 }, { 2, 4 }, { 2, 8 }, { 4, 8 }, { 8, 16 }, { 16, 16 }, { 16, 32 }, { 32, 32 },
};

static void moderation_work(struct work_struct *work)
{
	struct dim *dim = container_of(work, struct dim, work);
	struct nof_rdma_queue *q = container_of(dim, struct nof_rdma_queue, dim);
	u32 step = min_t(u32, dim->profile_ix, ARRAY_SIZE(moderation_steps) - 1);

	dim->state = DIM_START_MEASURE;
	rdma_set_cq_moderation(q->cq, moderation_steps[step].completions, moderation_steps[step].usec);
}

/* If the device supports it, and unless it is disabled ("rdma dev set ... adaptive-moderation off") */
static void moderation_begin(struct nof_rdma_queue *q)
{
	struct ib_device *dev = q->rdev->dev;

	if (!q->q.qid || q->q.type == NOF_QUEUE_POLL || !dev->ops.modify_cq || !dev->use_cq_dim)
		return;
	q->dim = (struct dim){
		.state = DIM_START_MEASURE,
		.tune_state = DIM_GOING_RIGHT,
		.profile_ix = RDMA_DIM_START_PROFILE,
	};
	INIT_WORK(&q->dim.work, moderation_work);
	q->moderated = true;
}

/* Must be called after the last completion */
static void moderation_end(struct nof_rdma_queue *q)
{
	if (q->moderated)
		cancel_work_sync(&q->dim.work);
	q->moderated = false;
}

static void slot_init(struct nof_rdma_queue *q, struct nof_rdma_slot *slot, u32 i)
{
	slot->send_cqe.done = nof_rdma_send_done;
	slot->reg_cqe.done = nof_rdma_reg_done;
	slot->inv_cqe.done = nof_rdma_inv_done;
	slot->sge[0].addr = q->sqes_dma + i * sizeof(*q->sqes);
	slot->sge[0].length = sizeof(*q->sqes);
	slot->sge[0].lkey = q->pd->local_dma_lkey;
	slot->reg.wr.opcode = IB_WR_REG_MR;
	slot->reg.wr.wr_cqe = &slot->reg_cqe;
	slot->reg.wr.next = &slot->send;
	slot->send.opcode = IB_WR_SEND;
	slot->send.wr_cqe = &slot->send_cqe;
	slot->send.sg_list = slot->sge;
	slot->inv.opcode = IB_WR_LOCAL_INV;
	slot->inv.wr_cqe = &slot->inv_cqe;
	slot->inv.send_flags = IB_SEND_SIGNALED;
	slot->waits = 0;
	slot->registered = slot->detaching = false;
	slot->mapped = NOF_RDMA_NOTHING;
}

static void slots_init(struct nof_rdma_queue *q)
{
	u32 i;

	for (i = 0; i < q->q.nr_slots; i++)
		slot_init(q, nof_rdma_nth(q, i), i);
	q->head = NULL;
	q->tail = NULL;
	q->posted = q->done = q->unsignalled = 0;
	atomic_set(&q->wqes, 0);
	atomic_set(&q->owed, 0);
}

/* Delay before a connect is retried after -EAGAIN (busy target, stale connection), doubled each time */
#define CONNECT_RETRY_MS	50
#define CONNECT_RETRY_MAX_MS	1000

/* Orders READY and STOPPED: conn_stop() finds READY set, or it is not set any more */
static DEFINE_MUTEX(ready_lock);

static void *map_array(struct nof_rdma_queue *q, size_t size, enum dma_data_direction dir, u64 *dma)
{
	void *mem = kzalloc(size, GFP_KERNEL);

	if (!mem)
		return NULL;
	*dma = ib_dma_map_single(q->rdev->dev, mem, size, dir);
	if (!ib_dma_mapping_error(q->rdev->dev, *dma))
		return mem;
	kfree(mem);
	return NULL;
}

static void unmap_array(struct nof_rdma_queue *q, void *mem, size_t size, enum dma_data_direction dir, u64 dma)
{
	if (!mem)
		return;
	ib_dma_unmap_single(q->rdev->dev, dma, size, dir);
	kfree(mem);
}

static size_t sqes_size(const struct nof_rdma_queue *q)
{
	return q->q.nr_slots * sizeof(*q->sqes);
}

static size_t resps_size(const struct nof_rdma_queue *q)
{
	return q->nr_recvs * sizeof(*q->resps);
}

static int make_arrays(struct nof_rdma_queue *q)
{
	q->sqes = map_array(q, sqes_size(q), DMA_TO_DEVICE, &q->sqes_dma);
	q->resps = map_array(q, resps_size(q), DMA_FROM_DEVICE, &q->resps_dma);
	q->recvs = kvcalloc(q->nr_recvs, sizeof(*q->recvs), GFP_KERNEL);
	return q->sqes && q->resps && q->recvs ? 0 : -ENOMEM;
}

static void free_arrays(struct nof_rdma_queue *q)
{
	unmap_array(q, q->sqes, sqes_size(q), DMA_TO_DEVICE, q->sqes_dma);
	unmap_array(q, q->resps, resps_size(q), DMA_FROM_DEVICE, q->resps_dma);
	kvfree(q->recvs);
	q->sqes = NULL;
	q->resps = NULL;
	q->recvs = NULL;
}

static u32 nr_large(const struct nof_rdma_queue *q)
{
	/* few admin commands have that much data: one at a time suffices */
	return q->q.qid ? max_t(u32, q->q.limit / NOF_RDMA_LARGE_PART, 4) : 1;
}

static int make_large(struct nof_rdma_queue *q)
{
	struct ib_mr *mr;
	u32 i;

	for (i = 0; q->max_large > NOF_RDMA_SMALL && i < nr_large(q); i++) {
		mr = ib_alloc_mr(q->pd, q->mr_type, q->max_large);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		list_add(&mr->qp_entry, &q->large);
		q->has_large = true;
	}
	return 0;
}

static int make_mrs(struct nof_rdma_queue *q)
{
	u32 pages = min_t(u32, NOF_RDMA_SMALL, q->max_large), i;

	for (i = 0; i < q->q.nr_slots; i++) {
		struct ib_mr *mr = ib_alloc_mr(q->pd, q->mr_type, pages);

		if (IS_ERR(mr))
			return PTR_ERR(mr);
		nof_rdma_nth(q, i)->small = mr;
	}
	return make_large(q);
}

static void free_mrs(struct nof_rdma_queue *q)
{
	struct ib_mr *mr, *next;
	u32 i;

	for (i = 0; i < q->q.nr_slots; i++) {
		if (nof_rdma_nth(q, i)->small)
			ib_dereg_mr(nof_rdma_nth(q, i)->small);
		nof_rdma_nth(q, i)->small = NULL;
	}
	list_for_each_entry_safe(mr, next, &q->large, qp_entry) {
		list_del(&mr->qp_entry);
		ib_dereg_mr(mr);
	}
}

/* Spreads the queues over the interrupt vectors */
static u32 pick_vector(const struct nof_rdma_queue *q)
{
	u32 n = q->rdev->dev->num_comp_vectors;

	return n && q->q.qid ? (q->q.qid - 1) % n : 0;
}

static void cq_event(struct ib_event *event, void *context)
{
	struct nof_rdma_queue *q = context;

	nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EIO, "completion queue: %s", ib_event_msg(event->event));
}

static void qp_event(struct ib_event *event, void *context)
{
	struct nof_rdma_queue *q = context;

	/* part of connect and teardown */
	if (event->event == IB_EVENT_COMM_EST || event->event == IB_EVENT_QP_LAST_WQE_REACHED ||
	    nof_rdma_stopped(q))
		return;
	nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EIO, "queue pair: %s", ib_event_msg(event->event));
}

static int make_cq(struct nof_rdma_queue *q)
{
	struct ib_cq_init_attr attr = {
		/* each work request may complete with an error; plus the two markers of ib_drain_qp() */
		.cqe = q->max_wrs + q->nr_recvs + 2,
		.comp_vector = pick_vector(q),
	};
	struct ib_cq *cq = ib_create_cq(q->rdev->dev, nof_rdma_recv_event, cq_event, q, &attr);

	if (IS_ERR(cq))
		return PTR_ERR(cq);
	irq_poll_init(&q->iop, NOF_RDMA_REAP * 8, nof_rdma_recv_irq_poll);
	q->cq = cq;
	moderation_begin(q);
	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	return 0;
}

static int make_qp(struct nof_rdma_queue *q)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = q,
		.send_cq = q->cq,
		.recv_cq = q->cq,
		.cap = {
			/* plus the marker of ib_drain_qp() */
			.max_send_wr = q->max_wrs + 1,
			.max_recv_wr = q->nr_recvs + 1,
			.max_send_sge = 1 + q->inline_sges,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int err = rdma_create_qp(q->id, q->pd, &attr);

	if (!err)
		q->qp = q->id->qp;
	return err;
}

/* Sizes the queue within the limits of device and controller */
static int queue_size_resources(struct nof_rdma_queue *q)
{
	const struct ib_device_attr *attrs = &q->rdev->dev->attrs;
	u32 sgls = q->q.qid ? q->q.ctrl->ident.sgls : 0;
	u32 limit = q->q.limit, capsule = sgls & NOF_SGLS_OFFSET ? q->q.ctrl->ident.ioccsz : 0;
	/* a registration, a send and an invalidation per command, plus those not yet known to be complete */
	u32 wanted = 3 * limit + 4 * NOF_RDMA_SIGNAL;

	q->max_large = device_pages(q->rdev->dev);
	q->mr_type = device_gaps(q->rdev->dev) ? IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG;
	q->inline_sges = min_t(u32, NOF_RDMA_INLINE, attrs->max_send_sge - 1);
	/* ICDOFF would need a gap in the capsule */
	q->inline_room = capsule > sizeof(struct nvme_command) && !q->q.ctrl->ident.icdoff ?
			 capsule - sizeof(struct nvme_command) : 0;
	/* receives are reposted in batches of up to NOF_RDMA_REAP */
	q->nr_recvs = limit + NOF_RDMA_REAP;
	q->max_wrs = wanted;
	if (q->q.qid && !(sgls & NOF_SGLS_KEYED)) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EOPNOTSUPP,
				"controller does not support keyed SGL descriptors (SGLS 0x%x)", sgls);
		return -EOPNOTSUPP;
	}
	if (attrs->max_qp_wr < max_t(u32, wanted, q->nr_recvs) + 1) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -ENOSPC,
				"RDMA device %s has room for %d work requests only: try a smaller queue size",
				 dev_name(&q->rdev->dev->dev), attrs->max_qp_wr);
		return -ENOSPC;
	}
	return 0;
}

static int conn_create(struct nof_rdma_queue *q)
{
	int err;

	spin_lock_init(&q->sq_lock);
	spin_lock_init(&q->cq_lock);
	spin_lock_init(&q->large_lock);
	INIT_LIST_HEAD(&q->large);
	err = queue_size_resources(q) ?: make_arrays(q);
	if (err)
		return err;
	q->pd = ib_alloc_pd(q->rdev->dev, 0);
	if (IS_ERR(q->pd)) {
		err = PTR_ERR(q->pd);
		q->pd = NULL;
		return err;
	}
	err = make_mrs(q) ?: make_cq(q) ?: make_qp(q);
	if (err)
		return err;
	slots_init(q);
	return nof_rdma_recv_init(q);
}

/* From here on conn_stop() takes the connection down */
static int conn_set_ready(struct nof_rdma_queue *q)
{
	bool ready;

	mutex_lock(&ready_lock);
	ready = !nof_rdma_stopped(q);
	if (ready)
		set_bit(NOF_RDMA_READY, &q->flags);
	mutex_unlock(&ready_lock);
	return ready ? 0 : -ECANCELED;
}

/* False: conn_stop() takes the connection down */
static bool conn_clear_ready(struct nof_rdma_queue *q)
{
	bool mine;

	mutex_lock(&ready_lock);
	mine = !nof_rdma_stopped(q);
	if (mine)
		clear_bit(NOF_RDMA_READY, &q->flags);
	mutex_unlock(&ready_lock);
	return mine;
}

/* Puts the queue pair in error and waits for all posted work: the device accesses no memory of the queue afterwards. */
static void conn_quiesce(struct nof_rdma_queue *q)
{
	if (!q->qp || test_and_set_bit(NOF_RDMA_DRAINED, &q->flags))
		return;
	/* not while another thread is in rdma_connect(): nof_rdma_cm_destroy() informs the peer then */
	if (q->id && smp_load_acquire(&q->step) == NOF_RDMA_CM_UP)
		rdma_disconnect(q->id);
	/* a polled queue has no poller any more: turn its interrupts on */
	nof_rdma_recv_event(q->cq, q);
	ib_drain_qp(q->qp);
	/* wait for reap() of the last batch */
	spin_lock_bh(&q->cq_lock);
	spin_unlock_bh(&q->cq_lock);
}

static void conn_destroy(struct nof_rdma_queue *q)
{
	conn_quiesce(q);
	/* before the queue pair: CM events may arrive until then */
	nof_rdma_cm_destroy(q);
	if (q->qp)
		ib_destroy_qp(q->qp);
	if (q->cq) {
		irq_poll_disable(&q->iop);
		/* nof_rdma_recv_irq_poll() may still be about to arm the completion queue */
		spin_lock_bh(&q->cq_lock);
		spin_unlock_bh(&q->cq_lock);
		moderation_end(q);
		ib_destroy_cq(q->cq);
	}
	if (q->pd) {
		free_mrs(q);
		ib_dealloc_pd(q->pd);
	}
	q->qp = NULL;
	q->cq = NULL;
	q->pd = NULL;
	q->has_large = false;
	if (q->rdev)
		free_arrays(q);
	device_leave(q);
	clear_bit(NOF_RDMA_READY, &q->flags);
	clear_bit(NOF_RDMA_DRAINED, &q->flags);
}

static int conn_try(struct nof_rdma_queue *q)
{
	int err = nof_rdma_cm_resolve(q);

	if (!err)
		err = device_join(q, q->id->device);
	if (!err)
		err = conn_create(q);
	if (!err)
		err = conn_set_ready(q);
	if (!err)
		err = nof_rdma_cm_connect(q);
	return err;
}

static void conn_info(struct nof_queue *queue, struct nof_transport_info *info)
{
	const struct nof_rdma_queue *q = to_rdma_queue(queue);

	if (!queue->qid) {
		strscpy(info->device, dev_name(&q->rdev->dev->dev), sizeof(info->device));
		info->port = q->port;
		rdma_read_gids(q->id, (union ib_gid *)info->gid, NULL);
	} else {
		info->in_capsule = q->inline_room;
	}
	info->posts += READ_ONCE(q->count.posts);
	info->work_requests += READ_ONCE(q->count.wrs);
	info->cqes += READ_ONCE(q->count.cqes);
	info->registrations += READ_ONCE(q->count.regs);
	info->invalidations += READ_ONCE(q->count.invs);
	info->remote_invalidations += READ_ONCE(q->count.remote_invs);
}

/* No further attempt: the queue was stopped, has failed for good, or its deadline has passed */
static bool conn_over(const struct nof_rdma_queue *q)
{
	return nof_rdma_stopped(q) || test_bit(NOF_Q_ERROR, &q->q.flags) || time_after_eq(jiffies, q->q.deadline);
}

/* struct nof_transport.start_queue, .stop_queue, .free_queue */
static int conn_start(struct nof_queue *queue)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	unsigned int noio = memalloc_noio_save();
	u32 delay = CONNECT_RETRY_MS;
	int err;

	while ((err = conn_try(q)) == -EAGAIN) {
		if (!conn_clear_ready(q)) {
			err = -ECANCELED;
			break;
		}
		conn_destroy(q);
		nof_rdma_cm_sleep(q, jiffies + msecs_to_jiffies(delay));
		delay = min_t(u32, 2 * delay, CONNECT_RETRY_MAX_MS);
		if (conn_over(q)) {
			err = nof_rdma_stopped(q) ? -ECANCELED : -EBUSY;
			break;
		}
	}
	memalloc_noio_restore(noio);
	return err;
}

static void conn_stop(struct nof_queue *queue)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);
	bool ready;

	mutex_lock(&ready_lock);
	set_bit(NOF_RDMA_STOPPED, &q->flags);
	ready = test_bit(NOF_RDMA_READY, &q->flags);
	mutex_unlock(&ready_lock);
	smp_mb(); /* required before wake_up_var() */
	wake_up_var(&q->step);
	if (ready)
		conn_quiesce(q);
}

static void conn_free(struct nof_queue *queue)
{
	struct nof_rdma_queue *q = to_rdma_queue(queue);

	conn_destroy(q);
	clear_bit(NOF_RDMA_STOPPED, &q->flags);
}

static void rdma_limits(struct nof_ctrl *ctrl, struct nof_transport_limits *lim)
{
	const struct nof_rdma_queue *q = to_rdma_queue(rcu_dereference_protected(ctrl->queues.admin, true));
	u32 pages = q->max_large;
	bool gaps = q->mr_type == IB_MR_TYPE_SG_GAPS;

	/* the first page may be misaligned */
	lim->max_data = (pages - 1) * NOF_RDMA_UNIT;
	lim->max_segments = gaps ? pages : pages - 1;
	lim->virt_boundary = gaps ? 0 : NOF_RDMA_UNIT - 1;
	lim->p2p = nof_rdma_device_p2p(q->rdev->dev);
	lim->gpu = nof_rdma_device_gpu(q->rdev->dev);
	if (lim->p2p)
		nof_direct_enable();
}

static struct nof_transport rdma_transport = {
	.name		= "rdma",
	.owner		= THIS_MODULE,
	.api		= NOF_TRANSPORT_API,
	.queue_size	= sizeof(struct nof_rdma_queue),
	.slot_size	= sizeof(struct nof_rdma_slot),
	.options	= NOF_OPT_HOST_TRADDR | NOF_OPT_HOST_IFACE | NOF_OPT_TOS | NOF_OPT_POLL_QUEUES |
			  NOF_OPT_ACK,
	.holds_reads	= true,
	.ctrl_init	= nof_addr_init,
	.ctrl_exit	= nof_addr_exit,
	.same_addr	= nof_addr_same,
	.limits		= rdma_limits,
	.start_queue	= conn_start,
	.stop_queue	= conn_stop,
	.free_queue	= conn_free,
	.prepare	= nof_rdma_data_prepare,
	.release	= nof_rdma_data_release,
	.queue_cmd	= nof_rdma_send_cmd,
	.commit		= nof_rdma_send_commit,
	.poll		= nof_rdma_recv_poll,
	.detach		= nof_rdma_recv_detach,
	.vital		= nof_rdma_recv_vital,
	.info		= conn_info,
};

static int __init nof_rdma_init(void)
{
	int err = devices_init();

	if (err)
		return err;
	err = nof_transport_register(&rdma_transport);
	if (err)
		devices_exit();
	return err;
}

static void __exit nof_rdma_exit(void)
{
	nof_transport_unregister(&rdma_transport);
	devices_exit();
}

module_init(nof_rdma_init);
module_exit(nof_rdma_exit);

MODULE_DESCRIPTION("NVMe over Fabrics host: RDMA transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
MODULE_ALIAS("nvmeof-rdma");
