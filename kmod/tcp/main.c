// SPDX-License-Identifier: GPL-2.0-only
/* The TCP transport: module and ops table */
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <net/sock.h>
#include "core/source.h"
#include "tcp/tcp.h"

/*
 * Targets bound the length of a command before they know its namespace (nvmet: 4 MiB), and what is in flight between
 * two looks at the peer's acknowledgements has to stay below 4 GiB.
 */
#define MAX_DATA	SZ_4M

static void limits(struct nof_ctrl *ctrl, struct nof_transport_limits *lim)
{
	lim->max_segments = U16_MAX;
	lim->max_data = MAX_DATA;
	lim->virt_boundary = 0;
	lim->pi = true;
}

static int tcp_start_queue(struct nof_queue *queue)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);
	/* A reconnect may be what the writeback of memory waits for. */
	unsigned int noio = memalloc_noio_save();
	int err;

	err = nof_tcp_sock_open(q) ?: nof_tcp_sock_connect(q) ?: nof_tcp_handshake(q);
	memalloc_noio_restore(noio);
	return err;
}

static void stop_queue(struct nof_queue *queue)
{
	nof_tcp_sock_stop(to_tcp_queue(queue));
}

static void free_queue(struct nof_queue *queue)
{
	nof_tcp_sock_close(to_tcp_queue(queue));
}

static void nudge(struct nof_queue *queue)
{
	nof_tcp_sock_nudge(to_tcp_queue(queue));
}

static void vital(struct nof_queue *queue, struct nof_vital *v)
{
	nof_tcp_sock_vital(to_tcp_queue(queue), v);
}

static struct nof_transport tcp_transport = {
	.name		= "tcp",
	.owner		= THIS_MODULE,
	.api		= NOF_TRANSPORT_API,
	.queue_size	= sizeof(struct nof_tcp_queue),
	.slot_size	= sizeof(struct nof_tcp_cmd),
	.options	= NOF_OPT_HOST_TRADDR | NOF_OPT_HOST_IFACE | NOF_OPT_TOS | NOF_OPT_HDR_DIGEST |
			  NOF_OPT_DATA_DIGEST | NOF_OPT_POLL_QUEUES,
	.ctrl_init	= nof_addr_init,
	.ctrl_exit	= nof_addr_exit,
	.same_addr	= nof_addr_same,
	.limits		= limits,
	.start_queue	= tcp_start_queue,
	.stop_queue	= stop_queue,
	.free_queue	= free_queue,
	.queue_cmd	= nof_tcp_send_cmd,
	.commit		= nof_tcp_send_commit,
	.poll		= nof_tcp_recv_poll,
	.detach		= nof_tcp_recv_detach,
	.vital		= vital,
	.nudge		= nudge,
};

/*
 * The first socket of a machine that is a way out for memory (sk_set_memalloc()), and the end of the last, have the
 * network stack's code patched, which interrupts every CPU. With a reference of the module's own that does not come
 * with each connect and disconnect.
 */
static int __init nof_tcp_init(void)
{
	int err;

	nof_tcp_wq = alloc_workqueue("nvmeof_tcp", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	if (!nof_tcp_wq)
		return -ENOMEM;
	static_branch_inc(&memalloc_socks_key);
	err = nof_transport_register(&tcp_transport);
	if (err)
		goto dec_memalloc;
	return 0;

dec_memalloc:
	static_branch_dec(&memalloc_socks_key);
	destroy_workqueue(nof_tcp_wq);
	return err;
}

static void __exit nof_tcp_exit(void)
{
	nof_transport_unregister(&tcp_transport);
	static_branch_dec(&memalloc_socks_key);
	destroy_workqueue(nof_tcp_wq);
	nof_tcp_batch_exit();
}

module_init(nof_tcp_init);
module_exit(nof_tcp_exit);

MODULE_DESCRIPTION("NVMe over Fabrics host: TCP transport");
MODULE_LICENSE("GPL");
MODULE_VERSION(NVMEOF_VERSION);
MODULE_ALIAS("nvmeof-tcp");
