// SPDX-License-Identifier: LGPL-2.1-or-later
static void *prepare(struct nof_request *req)
{
	return kmalloc(req->len, GFP_KERNEL);	/* BAD */
}

static struct sk_buff *tell(void)
{
	return genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL | __GFP_NOWARN);	/* BAD */
}

static void *good(struct nof_request *req)
{
	return kmalloc(req->len, GFP_NOIO);
}

static int init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	hctx->driver_data = kzalloc_node(sizeof(struct nof_hctx), GFP_KERNEL, hctx->numa_node);
	return hctx->driver_data ? 0 : -ENOMEM;
}

static int queues(void)
{
	slow_wq = alloc_workqueue("nvmeof-slow", WQ_UNBOUND, 0);	/* BAD */
	good_wq = alloc_workqueue("nvmeof-good", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return slow_wq && good_wq ? 0 : -ENOMEM;
}

static void later(struct nof_ctrl *ctrl)
{
	schedule_work(&ctrl->ana_work);	/* BAD */
	queue_work(system_wq, &ctrl->ana_work);	/* BAD */
	queue_work(nof_wq, &ctrl->ana_work);
}

const struct blk_mq_ops ops = {
	.init_hctx	= init_hctx,
};
