// SPDX-License-Identifier: LGPL-2.1-or-later
int unchecked(struct nvme_passthru_cmd *p, void __user *arg)
{
	copy_from_user(p, arg, sizeof(*p));	/* BAD */
	return 0;
}

int negative(struct nvme_passthru_cmd *p, void __user *arg)
{
	return copy_from_user(p, arg, sizeof(*p));	/* BAD */
}

int good(struct nvme_passthru_cmd *p, void __user *arg)
{
	return copy_from_user(p, arg, sizeof(*p)) ? -EFAULT : 0;
}

int twice(struct header *h, struct body *b, void __user *arg)
{
	if (copy_from_user(h, arg, sizeof(*h)))
		return -EFAULT;
	if (h->len > sizeof(*b))
		return -EINVAL;
	if (copy_from_user(b, arg, h->len))	/* BAD */
		return -EFAULT;
	return 0;
}

int unset(void __user *arg)
{
	struct nvme_passthru_cmd p;

	p.opcode = 0;
	if (copy_to_user(arg, &p, sizeof(p)))	/* BAD */
		return -EFAULT;
	return 0;
}

int set(void __user *arg)
{
	struct nvme_passthru_cmd p;

	memset(&p, 0, sizeof(p));
	if (copy_to_user(arg, &p, sizeof(p)))
		return -EFAULT;
	return 0;
}

int attribute(struct sk_buff *skb)
{
	nla_put_u32(skb, 1, 1);	/* BAD */
	return nla_put_u32(skb, 2, 2);
}

int header(struct sk_buff *skb)
{
	void *hdr = genlmsg_put(skb, 0, 0, &nof_genl_family, 0, 1);	/* BAD */

	genlmsg_end(skb, hdr);
	return 0;
}

static const struct genl_ops ops[] = {
	{
		.cmd	= NVMEOF_CMD_CTRL_DEL,
		.doit	= nof_genl_ctrl_del,	/* BAD */
	}, {
		.cmd	= NVMEOF_CMD_CTRL_NEW,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nof_genl_ctrl_new,
	}, {
		.cmd	= NVMEOF_CMD_CTRL_GET,
		.doit	= nof_genl_ctrl_get,
	},
};

bool first(struct nof_reply *ntf)
{
	ntf->skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_NOIO);
	if (!ntf->skb)
		return false;
	ntf->hdr = genlmsg_put(ntf->skb, 0, 0, &nof_genl_family, 0, 1);
	nla_put_u32(ntf->skb, 1, 1);
	return true;
}
