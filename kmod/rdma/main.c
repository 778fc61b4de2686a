// SPDX-License-Identifier: GPL-2.0-only
/* The RDMA transport: module and ops table */
#include <linux/module.h>
#include "core/direct.h"
#include "core/source.h"
#include "rdma/rdma.h"

static void limits(struct nof_ctrl *ctrl, struct nof_transport_limits *lim)
{
	const struct nof_rdma_queue *q = to_rdma_queue(rcu_dereference_protected(ctrl->admin, true));
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
	.limits		= limits,
	.start_queue	= nof_rdma_conn_start,
	.stop_queue	= nof_rdma_conn_stop,
	.free_queue	= nof_rdma_conn_free,
	.prepare	= nof_rdma_data_prepare,
	.release	= nof_rdma_data_release,
	.queue_cmd	= nof_rdma_send_cmd,
	.commit		= nof_rdma_send_commit,
	.poll		= nof_rdma_recv_poll,
	.detach		= nof_rdma_recv_detach,
	.vital		= nof_rdma_recv_vital,
	.info		= nof_rdma_conn_info,
};

static int __init nof_rdma_init(void)
{
	int err = nof_rdma_devices_init();

	if (err)
		return err;
	err = nof_transport_register(&rdma_transport);
	if (err)
		nof_rdma_devices_exit();
	return err;
}

static void __exit nof_rdma_exit(void)
{
	nof_transport_unregister(&rdma_transport);
	nof_rdma_devices_exit();
}

module_init(nof_rdma_init);
module_exit(nof_rdma_exit);

MODULE_DESCRIPTION("NVMe over Fabrics host: RDMA transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
MODULE_ALIAS("nvmeof-rdma");
