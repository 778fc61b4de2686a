// SPDX-License-Identifier: GPL-2.0-only
/*
 * What can be asked for by netlink: subsystems, controllers, namespaces and paths, one by its name or all of a kind.
 * The kinds are a table; how they are found, answered and dumped is the same for all.
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
	const struct object	*kind;
	u8			cmd;
	u8			left;	/* objects until the lock is let go: recovery may want it */
};

#define AT_ONCE		8

/**
 * struct object - a kind of objects
 * @name:	the attribute that names one
 * @selects:	attributes that name others, whose objects a dump is to have; 0 for none
 * @missing, @none: no name; no such object
 * @find:	by the value of @name, with a reference; NULL if there is none
 * @drop:	gives the reference back
 * @subsys:	whose lock @put needs
 * @gone:	it has left the lists of its subsystem, under that lock; NULL: may be shown until it is freed
 * @put:	writes its attributes
 * @walk:	puts all of one subsystem with walk_put() until that fails. Under s->lock
 */
struct object {
	int			name;
	int			selects[2];
	const char		*missing;
	const char		*none;
	void			*(*find)(const struct nlattr *name);
	void			(*drop)(void *object);
	struct nof_subsys	*(*subsys)(void *object);
	bool			(*gone)(void *object);
	int			(*put)(struct sk_buff *skb, void *object);
	int			(*walk)(struct walk *w, struct nof_subsys *s);
};

/* @last: number of the last one that is in the dump */
static int walk_put(struct walk *w, void *what, u64 nr, u64 *last)
{
	void *hdr;
	int err;

	if (nr <= *last)
		return 0;
	if (!w->left)
		return -EAGAIN;
	w->left--;
	hdr = genlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq, &nof_genl_family, NLM_F_MULTI,
			  w->cmd);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(w->cb, hdr);
	err = w->kind->put(w->skb, what);
	if (err) {
		genlmsg_cancel(w->skb, hdr);
		return err;
	}
	genlmsg_end(w->skb, hdr);
	*last = nr;
	return 0;
}

/* Subsystems */
static void *object_find_subsys(const struct nlattr *name)
{
	return nof_subsys_find(nla_get_u32(name));
}

static void object_drop_subsys(void *s)
{
	nof_subsys_put(s);
}

static struct nof_subsys *object_subsys(void *s)
{
	return s;
}

static int object_put_subsys(struct sk_buff *skb, void *s)
{
	return nof_put_subsys(skb, s);
}

static int walk_subsys(struct walk *w, struct nof_subsys *s)
{
	return walk_put(w, s, s->nr, &w->state->object);
}

/* Controllers */
static void *object_find_ctrl(const struct nlattr *name)
{
	return nof_ctrl_find(nla_data(name));
}

static void object_drop_ctrl(void *ctrl)
{
	nof_ctrl_put(ctrl);
}

static struct nof_subsys *object_subsys_of_ctrl(void *ctrl)
{
	return ((struct nof_ctrl *)ctrl)->subsys;
}

static int object_put_ctrl(struct sk_buff *skb, void *ctrl)
{
	return nof_put_ctrl(skb, ctrl);
}

static int walk_ctrls(struct walk *w, struct nof_subsys *s)
{
	struct nof_ctrl *ctrl;
	int err = 0;

	list_for_each_entry(ctrl, &s->ctrls, entry) {
		err = walk_put(w, ctrl, ctrl->nr, &w->state->object);
		if (err)
			break;
	}
	return err;
}

/* Namespaces */
static void *object_find_ns(const struct nlattr *name)
{
	return nof_head_find(nla_data(name));
}

static void object_drop_ns(void *head)
{
	nof_head_put(head);
}

static struct nof_subsys *object_subsys_of_ns(void *head)
{
	return ((struct nof_head *)head)->subsys;
}

/* A head outlives its disk, but not while it is in the list. */
static bool object_gone_ns(void *head)
{
	return list_empty(&((struct nof_head *)head)->entry);
}

static int object_put_ns(struct sk_buff *skb, void *head)
{
	return nof_put_ns(skb, head);
}

static int walk_heads(struct walk *w, struct nof_subsys *s)
{
	struct nof_head *head;
	int err = 0;

	list_for_each_entry(head, &s->heads, entry) {
		if (!test_bit(NOF_HEAD_ADDED, &head->flags))
			continue;
		err = walk_put(w, head, head->nr, &w->state->object);
		if (err)
			break;
	}
	return err;
}

/* Paths */
static void *object_find_path(const struct nlattr *name)
{
	return nof_path_find(nla_data(name));
}

static void object_drop_path(void *path)
{
	kobject_put(&((struct nof_path *)path)->kobj);
}

static struct nof_subsys *object_subsys_of_path(void *path)
{
	return ((struct nof_path *)path)->head->subsys;
}

/* A path outlives its disk, whose name is shown, but not while it is in the list. */
static bool object_gone_path(void *path)
{
	return list_empty(&((struct nof_path *)path)->entry);
}

static int object_put_path(struct sk_buff *skb, void *path)
{
	return nof_put_path(skb, path);
}

static bool walk_wants_path(const struct walk *w, const struct nof_path *path)
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
			if (!walk_wants_path(w, path))
				continue;
			err = walk_put(w, path, path->nr, &at->path);
			if (err)
				return err;
		}
	}
	return 0;
}

static const struct object objects[] = {
	{
		.name		= NVMEOF_A_SUBSYS_ID,
		.missing	= "SUBSYS_ID is missing",
		.none		= "there is no subsystem of this number",
		.find		= object_find_subsys,
		.drop		= object_drop_subsys,
		.subsys		= object_subsys,
		.put		= object_put_subsys,
		.walk		= walk_subsys,
	}, {
		.name		= NVMEOF_A_CTRL_NAME,
		.selects	= { NVMEOF_A_SUBSYS_ID },
		.missing	= "CTRL_NAME is missing",
		.none		= "there is no controller of this name",
		.find		= object_find_ctrl,
		.drop		= object_drop_ctrl,
		.subsys		= object_subsys_of_ctrl,
		.put		= object_put_ctrl,
		.walk		= walk_ctrls,
	}, {
		.name		= NVMEOF_A_NS_NAME,
		.selects	= { NVMEOF_A_SUBSYS_ID },
		.missing	= "NS_NAME is missing",
		.none		= "there is no namespace of this name",
		.find		= object_find_ns,
		.drop		= object_drop_ns,
		.subsys		= object_subsys_of_ns,
		.gone		= object_gone_ns,
		.put		= object_put_ns,
		.walk		= walk_heads,
	}, {
		.name		= NVMEOF_A_PATH_NAME,
		.selects	= { NVMEOF_A_NS_NAME, NVMEOF_A_CTRL_NAME },
		.missing	= "PATH_NAME is missing",
		.none		= "there is no path of this name",
		.find		= object_find_path,
		.drop		= object_drop_path,
		.subsys		= object_subsys_of_path,
		.gone		= object_gone_path,
		.put		= object_put_path,
		.walk		= walk_paths,
	},
};

/* By the attribute that names one: there is always one */
static const struct object *object_named_by(int name)
{
	const struct object *kind = objects;

	while (kind->name != name)
		kind++;
	return kind;
}

static const struct object *object_of_cmd(u8 cmd)
{
	switch (cmd) {
	case NVMEOF_CMD_SUBSYS_GET:
		return object_named_by(NVMEOF_A_SUBSYS_ID);
	case NVMEOF_CMD_CTRL_GET:
		return object_named_by(NVMEOF_A_CTRL_NAME);
	case NVMEOF_CMD_NS_GET:
		return object_named_by(NVMEOF_A_NS_NAME);
	default:
		return object_named_by(NVMEOF_A_PATH_NAME);
	}
}

/* nof_genl_bad() for a text of the table */
static void object_bad(struct netlink_ext_ack *extack, const struct nlattr *attr, const char *msg)
{
	if (!extack)
		return;
	extack->_msg = msg;
	NL_SET_BAD_ATTR(extack, attr);
}

static void *object_find(const struct object *kind, struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	void *object = kind->find(attrs[kind->name]);

	if (!object)
		object_bad(extack, attrs[kind->name], kind->none);
	return object ?: ERR_PTR(-ENODEV);
}

void *nof_object_find(struct genl_info *info, int name)
{
	const struct object *kind = object_named_by(name);

	if (GENL_REQ_ATTR_CHECK(info, name)) {
		info->extack->_msg = kind->missing;
		return ERR_PTR(-EINVAL);
	}
	return object_find(kind, info->attrs, info->extack);
}

static int object_reply(const struct object *kind, void *object, struct genl_info *info)
{
	struct nof_subsys *s = kind->subsys(object);
	struct nof_reply reply;
	int err;

	err = nof_reply_begin(&reply, info);
	if (err)
		return err;
	mutex_lock(&s->lock);
	err = kind->gone && kind->gone(object) ? -ENODEV : kind->put(reply.skb, object);
	mutex_unlock(&s->lock);
	if (err == -ENODEV)
		GENL_SET_ERR_MSG(info, "it is just being removed");
	return nof_reply_end(&reply, info, err);
}

int nof_object_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct object *kind = object_of_cmd(info->genlhdr->cmd);
	void *object;
	int err, i;

	for (i = 0; i < ARRAY_SIZE(kind->selects) && kind->selects[i]; i++) {
		if (info->attrs[kind->selects[i]]) {
			nof_genl_bad(info->extack, info->attrs[kind->selects[i]], "only selects in a dump");
			return -EINVAL;
		}
	}
	object = nof_object_find(info, kind->name);
	if (IS_ERR(object))
		return PTR_ERR(object);
	err = object_reply(kind, object, info);
	kind->drop(object);
	return err;
}

static u8 dump_cmd(const struct netlink_callback *cb)
{
	return ((const struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
}

int nof_object_dump_start(struct netlink_callback *cb)
{
	const struct object *kind = object_of_cmd(dump_cmd(cb)), *by;
	struct nlattr **attrs = nof_genl_dump_attrs(cb);
	void *object;
	int i;

	if (attrs[kind->name]) {
		nof_genl_bad(cb->extack, attrs[kind->name], "names one object: not for a dump");
		return -EINVAL;
	}
	for (i = 0; i < ARRAY_SIZE(kind->selects) && kind->selects[i]; i++) {
		if (!attrs[kind->selects[i]])
			continue;
		by = object_named_by(kind->selects[i]);
		object = object_find(by, attrs, cb->extack);
		if (IS_ERR(object))
			return PTR_ERR(object);
		by->drop(object);
	}
	return 0;
}

/* Where none can be chosen, that of a subsystem, which every table of attributes has room for, is not set either. */
static bool walk_wants(const struct walk *w, const struct nof_subsys *s)
{
	struct nlattr *id = w->attrs[NVMEOF_A_SUBSYS_ID];

	return !id || nla_get_u32(id) == s->id;
}

static int walk_subsystems(struct walk *w)
{
	struct nof_dump *at = w->state;
	struct nof_subsys *s;
	int err;

	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s->nr < at->subsys || !walk_wants(w, s))
			continue;
		if (s->nr > at->subsys)
			*at = (struct nof_dump){ .subsys = s->nr };
		do {
			w->left = AT_ONCE;
			mutex_lock(&s->lock);
			err = w->kind->walk(w, s);
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

int nof_object_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct walk w = {
		.skb = skb, .cb = cb, .state = (void *)cb->ctx, .attrs = nof_genl_dump_attrs(cb),
		.kind = object_of_cmd(dump_cmd(cb)), .cmd = dump_cmd(cb),
	};
	int err;

	mutex_lock(&nof_subsystems_lock);
	cb->seq = topology_seq();
	err = walk_subsystems(&w);
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
