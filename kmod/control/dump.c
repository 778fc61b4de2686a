// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink dumps: every object of a kind, a message each.
 *
 * A dump goes on over several calls with no lock held between them. It resumes behind the last object by the number
 * that each got when it came, so whatever stays is in it once, whatever comes and goes meanwhile. If something did, the
 * sequence number makes netlink set NLM_F_DUMP_INTR: what came or went may be in it or not.
 */
#include "control/genl.h"
#include "control/put.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"

/* What is kept between calls: numbers, 0 before the first */
struct nof_dump {
	u64	subsys;		/* all before this are done with */
	u64	object;		/* of this subsystem: the last one in the dump; of paths, the namespace it is at */
	u64	path;		/* of that namespace: the last one in the dump */
};

static_assert(sizeof(struct nof_dump) <= sizeof_field(struct netlink_callback, ctx));

/* What is used during one call */
struct walk {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	struct nof_dump		*state;
	struct nlattr		**attrs;
	u8			cmd;
	u8			left;	/* objects until the lock is let go: recovery may want it */
};

#define AT_ONCE		8

/* Puts the objects of one subsystem with put_one() until that fails. Under s->lock. */
typedef int (*walk_fn)(struct walk *w, struct nof_subsys *s);

/* @last: number of the last one that is in the dump */
#define put_one(w, put, what, last) ({							\
	int __err = 0;									\
	void *__hdr;									\
											\
	if ((what)->nr > *(last) && !(w)->left) {					\
		__err = -EAGAIN;							\
	} else if ((what)->nr > *(last)) {						\
		(w)->left--;								\
		__hdr = begin_object(w);						\
		__err = __hdr ? (put)((w)->skb, what) : -EMSGSIZE;			\
		end_object(w, __hdr, __err);						\
		if (!__err)								\
			*(last) = (what)->nr;						\
	}										\
	__err;										\
})

static void *begin_object(struct walk *w)
{
	void *hdr = genlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq, &nof_genl_family,
				NLM_F_MULTI, w->cmd);

	if (hdr)
		genl_dump_check_consistent(w->cb, hdr);
	return hdr;
}

static void end_object(struct walk *w, void *hdr, int err)
{
	if (!err)
		genlmsg_end(w->skb, hdr);
	else if (hdr)
		genlmsg_cancel(w->skb, hdr);
}

static bool wants_subsys(const struct walk *w, const struct nof_subsys *s)
{
	struct nlattr *id = w->attrs[NVMEOF_A_SUBSYS_ID];

	return !id || nla_get_u32(id) == s->id;
}

static int walk_subsystems(struct walk *w, walk_fn fn)
{
	struct nof_dump *at = w->state;
	struct nof_subsys *s;
	int err;

	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s->nr < at->subsys)
			continue;
		if (s->nr > at->subsys)
			*at = (struct nof_dump){ .subsys = s->nr };
		do {
			w->left = AT_ONCE;
			mutex_lock(&s->lock);
			err = fn(w, s);
			mutex_unlock(&s->lock);
		} while (err == -EAGAIN);
		if (err)
			return err;
		*at = (struct nof_dump){ .subsys = s->nr + 1 };
	}
	return 0;
}

/* Not 0, which netlink takes for "no sequence kept". */
static u32 topology_seq(void)
{
	return (u32)atomic64_read(&nof_topology_seq) | BIT(31);
}

static int dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, walk_fn fn)
{
	struct walk w = {
		.skb = skb, .cb = cb, .cmd = cmd,
		.state = (void *)cb->ctx, .attrs = nof_genl_dump_attrs(cb),
	};
	int err;

	mutex_lock(&nof_subsystems_lock);
	cb->seq = topology_seq();
	err = walk_subsystems(&w, fn);
	/* A subsystem may have changed after the first look at the sequence and before its turn: what follows tells. */
	cb->seq = topology_seq();
	mutex_unlock(&nof_subsystems_lock);

	/*
	 * A full message is how every call but the last ends. With nothing in it, one object is larger than a
	 * message: an error.
	 */
	if (err && !(err == -EMSGSIZE && skb->len))
		return err;
	return skb->len;
}

/* An attribute that only a do of this command takes. */
static int dump_refuse(struct netlink_callback *cb, int attr)
{
	struct nlattr *a = nof_genl_dump_attrs(cb)[attr];

	if (!a)
		return 0;
	nof_genl_bad(cb->extack, a, "names one object: not for a dump");
	return -EINVAL;
}

static int check_subsys(struct netlink_callback *cb)
{
	struct nlattr *id = nof_genl_dump_attrs(cb)[NVMEOF_A_SUBSYS_ID];
	struct nof_subsys *s;

	if (!id)
		return 0;
	s = nof_subsys_find(nla_get_u32(id));
	if (!s) {
		nof_genl_bad(cb->extack, id, "there is no subsystem of this number");
		return -ENODEV;
	}
	nof_subsys_put(s);
	return 0;
}

static int check_head(struct netlink_callback *cb)
{
	struct nlattr *name = nof_genl_dump_attrs(cb)[NVMEOF_A_NS_NAME];
	struct nof_head *head;

	if (!name)
		return 0;
	head = nof_head_find(nla_data(name));
	if (!head) {
		nof_genl_bad(cb->extack, name, "there is no namespace of this name");
		return -ENODEV;
	}
	nof_head_put(head);
	return 0;
}

static int check_ctrl(struct netlink_callback *cb)
{
	struct nlattr *name = nof_genl_dump_attrs(cb)[NVMEOF_A_CTRL_NAME];
	struct nof_ctrl *ctrl;

	if (!name)
		return 0;
	ctrl = nof_ctrl_find(nla_data(name));
	if (!ctrl) {
		nof_genl_bad(cb->extack, name, "there is no controller of this name");
		return -ENODEV;
	}
	nof_ctrl_put(ctrl);
	return 0;
}

int nof_dump_subsys_start(struct netlink_callback *cb)
{
	return dump_refuse(cb, NVMEOF_A_SUBSYS_ID);
}

static int walk_subsys(struct walk *w, struct nof_subsys *s)
{
	return put_one(w, nof_put_subsys, s, &w->state->object);
}

int nof_dump_subsys(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, NVMEOF_CMD_SUBSYS_GET, walk_subsys);
}

int nof_dump_ctrl_start(struct netlink_callback *cb)
{
	return dump_refuse(cb, NVMEOF_A_CTRL_NAME) ?: check_subsys(cb);
}

static int walk_ctrls(struct walk *w, struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;
	int err = 0;

	if (!wants_subsys(w, s))
		return 0;
	list_for_each_entry(ctrl, &s->ctrls, entry) {
		err = put_one(w, nof_put_ctrl, ctrl, &w->state->object);
		if (err)
			break;
	}
	return err;
}

int nof_dump_ctrl(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, NVMEOF_CMD_CTRL_GET, walk_ctrls);
}

int nof_dump_ns_start(struct netlink_callback *cb)
{
	return dump_refuse(cb, NVMEOF_A_NS_NAME) ?: check_subsys(cb);
}

static int walk_heads(struct walk *w, struct nof_subsys *s)
{
	struct nof_head *head;
	int err = 0;

	if (!wants_subsys(w, s))
		return 0;
	list_for_each_entry(head, &s->heads, entry) {
		if (!test_bit(NOF_HEAD_ADDED, &head->flags))
			continue;
		err = put_one(w, nof_put_ns, head, &w->state->object);
		if (err)
			break;
	}
	return err;
}

int nof_dump_ns(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, NVMEOF_CMD_NS_GET, walk_heads);
}

int nof_dump_path_start(struct netlink_callback *cb)
{
	return dump_refuse(cb, NVMEOF_A_PATH_NAME) ?: check_head(cb) ?: check_ctrl(cb);
}

static bool wants_path(const struct walk *w, const struct nof_path *path)
{
	struct nlattr *ns = w->attrs[NVMEOF_A_NS_NAME];
	struct nlattr *ctrl = w->attrs[NVMEOF_A_CTRL_NAME];

	return (!ns || !strcmp(nla_data(ns), nof_head_name(path->head))) &&
	       (!ctrl || !strcmp(nla_data(ctrl), nof_ctrl_name(path->ctrl)));
}

static int walk_paths(struct walk *w, struct nof_subsys *s)
{
	struct nof_dump *at = w->state;
	struct nof_head *head;
	struct nof_path *path;
	int err;

	list_for_each_entry(head, &s->heads, entry) {
		if (head->nr < at->object || !test_bit(NOF_HEAD_ADDED, &head->flags))
			continue;
		if (head->nr > at->object) {
			at->object = head->nr;
			at->path = 0;
		}
		list_for_each_entry(path, &head->paths, entry) {
			if (!wants_path(w, path))
				continue;
			err = put_one(w, nof_put_path, path, &at->path);
			if (err)
				return err;
		}
	}
	return 0;
}

int nof_dump_path(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump(skb, cb, NVMEOF_CMD_PATH_GET, walk_paths);
}
