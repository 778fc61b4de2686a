// SPDX-License-Identifier: LGPL-2.1-or-later
int memory(struct nof_ctrl *ctrl)
{
	struct nvme_id_ctrl *id = kmalloc(sizeof(*id), GFP_KERNEL);	/* BAD */
	int ret;

	if (!id)
		return -ENOMEM;
	ret = nof_identify(ctrl, NVME_ID_CNS_CTRL, 0, id);
	if (ret)
		return ret;
	kfree(id);
	return 0;
}

int good(struct nof_ctrl *ctrl)
{
	struct nvme_id_ctrl *id = kmalloc(sizeof(*id), GFP_KERNEL);
	int ret;

	if (!id)
		return -ENOMEM;
	ret = nof_identify(ctrl, NVME_ID_CNS_CTRL, 0, id);
	if (ret)
		goto free;
	ctrl->nr_paths = 0;
free:
	kfree(id);
	return ret;
}

struct nof_cmd *returned(void)
{
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);

	if (!cmd)
		return NULL;
	cmd->len = 1;
	return cmd;
}

int pages(struct nof_ctrl *ctrl, u32 len)
{
	void *log;

	log = alloc_pages_exact(len, GFP_NOIO | __GFP_ZERO);	/* BAD */
	if (!log)
		return -ENOMEM;
	if (nof_get_log(ctrl, NVME_LOG_ANA, 0, 0, log, len))
		return -EIO;
	free_pages_exact(log, len);
	return 0;
}

int message(struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);	/* BAD */

	if (!skb)
		return -ENOMEM;
	if (nla_put_u32(skb, 1, 1))
		return -EMSGSIZE;
	return genlmsg_reply(skb, info);
}

int request(struct request_queue *q)
{
	struct request *rq = blk_mq_alloc_request(q, REQ_OP_DRV_IN, 0);	/* BAD */

	if (IS_ERR(rq))
		return PTR_ERR(rq);
	if (blk_rq_map_user(q, rq, NULL, NULL, 1, GFP_KERNEL))
		return -EFAULT;
	blk_mq_free_request(rq);
	return 0;
}

int disk(struct nof_subsys *s, struct queue_limits *limits)
{
	struct gendisk *disk = nof_limits_alloc_disk(&s->tags, limits, s);	/* BAD */

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	if (!s->nr_heads)
		return -ENODEV;
	put_disk(disk);
	return 0;
}

int number(struct nof_subsys *s, struct nof_head *head)
{
	int id = ida_alloc_min(&s->head_ids, 1, GFP_KERNEL);	/* BAD */

	if (id < 0)
		return id;
	if (!head->disk)
		return -EINVAL;
	head->id = id;
	return 0;
}

int nest(struct sk_buff *skb, struct nof_subsys *s)
{
	struct nlattr *nest = nla_nest_start(skb, NVMEOF_A_PATH);	/* BAD */

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u32(skb, NVMEOF_A_SUBSYS_ID, s->id))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int socket(struct nof_tcp_queue *q, struct net *net)
{
	struct socket *sock;
	int err;

	err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);	/* BAD */
	if (err)
		return err;
	err = tune(sock->sk);
	if (err)
		return err;
	q->sock = sock;
	return 0;
}

struct nof_ctrl *counted(void)
{
	struct nof_ctrl *ctrl = kzalloc(sizeof(*ctrl), GFP_KERNEL);

	if (!ctrl)
		return NULL;
	device_initialize(&ctrl->dev);
	if (nof_admin_init(ctrl)) {
		kfree(ctrl);	/* BAD */
		return NULL;
	}
	return ctrl;
}
