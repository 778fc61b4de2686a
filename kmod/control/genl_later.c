// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests whose end takes time: writing back to disks that go away, commands to a target. Handlers run under the lock
 * that registering a family takes for itself: with one of them waiting, any module that comes would stop the requests
 * of all families. So the rest runs in a work, and sends the acknowledgement when it is done.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include "control/genl.h"
#include "core/ctrl.h"

struct nof_later {
	struct work_struct	work;
	struct nof_ctrl		*ctrl;
	nof_later_fn		*finish;
	struct net		*net;
	struct sock		*sk;		/* of who asked */
	struct nlmsghdr		request;
	u32			portid;
	struct sk_buff		*skb;
};

static struct workqueue_struct *later_wq;

/* Longer ones are cut */
#define MESSAGE_MAX	160

static void genl_later_drop(struct nof_later *later)
{
	sock_put(later->sk);
	put_net(later->net);
	kfree(later);
}

/* What the kernel itself answers: nlmsgerr, cut short after the header of the request, and the reason */
static bool put_ack(struct nof_later *later, int err, const char *reason)
{
	u16 flags = NLM_F_CAPPED | (reason ? NLM_F_ACK_TLVS : 0);
	struct nlmsgerr *body;
	struct nlmsghdr *nlh;

	nlh = nlmsg_put(later->skb, later->portid, later->request.nlmsg_seq, NLMSG_ERROR, sizeof(*body), flags);
	if (!nlh)
		return false;
	body = nlmsg_data(nlh);
	body->error = err;
	body->msg = later->request;
	if (reason && nla_put(later->skb, NLMSGERR_ATTR_MSG, min(strlen(reason), MESSAGE_MAX - 1UL) + 1, reason))
		return false;
	nlmsg_end(later->skb, nlh);
	return true;
}

/* A socket that was closed meanwhile has given its port ID back, and another may have that by now */
static bool is_asked_for(const struct nof_later *later, int err)
{
	return !sock_flag(later->sk, SOCK_DEAD) && (err || later->request.nlmsg_flags & NLM_F_ACK);
}

static void later_work(struct work_struct *work)
{
	struct nof_later *later = container_of(work, struct nof_later, work);
	struct netlink_ext_ack extack = {};
	int err = later->finish(later->ctrl, &extack);

	/* first: whoever has the answer may want the name */
	nof_ctrl_put(later->ctrl);
	if (is_asked_for(later, err) && put_ack(later, err, extack._msg))
		genlmsg_unicast(later->net, later->skb, later->portid);
	else
		nlmsg_free(later->skb);
	genl_later_drop(later);
}

struct nof_later *nof_later_new(struct sk_buff *skb, struct genl_info *info, struct nof_ctrl *ctrl,
				nof_later_fn *finish)
{
	struct nof_later *later = kzalloc(sizeof(*later), GFP_KERNEL);

	if (later)
		later->skb = nlmsg_new(sizeof(struct nlmsgerr) + nla_total_size(MESSAGE_MAX), GFP_KERNEL);
	if (!later || !later->skb) {
		GENL_SET_ERR_MSG(info, "no memory for the answer");
		kfree(later);
		return NULL;
	}
	INIT_WORK(&later->work, later_work);
	later->ctrl = nof_ctrl_get(ctrl);
	later->finish = finish;
	later->net = get_net(genl_info_net(info));
	later->sk = NETLINK_CB(skb).sk;
	sock_hold(later->sk);
	later->request = *info->nlhdr;
	later->portid = info->snd_portid;
	return later;
}

int nof_later_end(struct nof_later *later, int err)
{
	if (err) {
		nof_ctrl_put(later->ctrl);
		nlmsg_free(later->skb);
		genl_later_drop(later);
		return err;
	}
	queue_work(later_wq, &later->work);
	/* netlink_rcv_skb() takes this for: no acknowledgement now */
	return -EINTR;
}

int nof_later_init(void)
{
	later_wq = alloc_workqueue("nvmeof-answer", WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	return later_wq ? 0 : -ENOMEM;
}

void nof_later_exit(void)
{
	destroy_workqueue(later_wq);
}
