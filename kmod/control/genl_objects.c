// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink lookup and dump of subsystems, controllers, namespaces and paths. A table describes each kind of object;
 * lookup, reply and dump are the same for all kinds.
 *
 * A dump takes several calls and holds no lock between them. Each object gets a rising number when it is added, and the
 * dump resumes after the number of the last object. An object that exists during the whole dump is therefore in it
 * exactly once. If objects are added or removed meanwhile, the dump may or may not contain them, and cb->seq makes
 * netlink set NLM_F_DUMP_INTR. Recovery never waits for a reader: a call takes references on a few objects under the
 * lock and writes their attributes without it.
 */
#include "control/genl.h"
#include "control/genl_attrs.h"
#include "core/ctrl.h"
#include "core/subsys.h"
#include "mpath/head.h"
#include "mpath/path.h"

/* Position of a dump between calls: numbers of objects, 0 before the first */
struct nof_dump {
	u64	subsys;		/* the current one; all before it are complete */
	u64	object;		/* last one dumped of @subsys; in a dump of paths, the current namespace */
	u64	path;		/* last one dumped of that namespace */
};

static_assert(sizeof(struct nof_dump) <= sizeof_field(struct netlink_callback, ctx));

#define WALK_BATCH		8

/* State of one call; @batch: objects with a reference, and the position of the dump after each */
struct walk {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
	struct nlattr		**attrs;
	const struct object	*kind;
	u8			cmd;
	u8			nr;
	struct {
		void		*object;
		struct nof_dump	at;
	} batch[WALK_BATCH];
};

/**
 * struct object - a kind of object
 * @name:	the attribute that names an object
 * @selects:	attributes of a dump request that name the parents to which it is limited; 0: none
 * @missing, @none: extack messages: no name in the request; no such object
 * @find:	looks an object up by its name; returns a reference, or NULL if there is none
 * @drop:	drops the reference
 * @put:	writes the attributes of the object
 * @walk:	takes objects of one subsystem that follow @at, with references, until @batch of struct walk is full.
 *		Caller holds s->lock
 */
struct object {
	int			name;
	int			selects[2];
	const char		*missing;
	const char		*none;
	void			*(*find)(const struct nlattr *name);
	void			(*drop)(void *object);
	int			(*put)(struct sk_buff *skb, void *object);
	void			(*walk)(struct walk *w, struct nof_subsys *s, struct nof_dump at);
};

static bool walk_full(const struct walk *w)
{
	return w->nr == WALK_BATCH;
}

static void walk_add(struct walk *w, void *object, const struct nof_dump *at)
{
	w->batch[w->nr].object = object;
	w->batch[w->nr++].at = *at;
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

static int object_put_subsys(struct sk_buff *skb, void *s)
{
	return nof_put_subsys(skb, s);
}

static void walk_subsys(struct walk *w, struct nof_subsys *s, struct nof_dump at)
{
	if (at.object)
		return;
	at.object = s->nr;
	walk_add(w, nof_subsys_get(s), &at);
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

static int object_put_ctrl(struct sk_buff *skb, void *ctrl)
{
	return nof_put_ctrl(skb, ctrl);
}

static void walk_ctrls(struct walk *w, struct nof_subsys *s, struct nof_dump at)
{
	struct nof_ctrl *ctrl;

	list_for_each_entry(ctrl, &s->ctrls, entry) {
		if (walk_full(w))
			break;
		if (ctrl->nr <= at.object)
			continue;
		at.object = ctrl->nr;
		walk_add(w, nof_ctrl_get(ctrl), &at);
	}
}

/* Namespaces */
static void *object_find_ns(const struct nlattr *name)
{
	return nof_head_find(nla_data(name));
}

static void object_drop_ns(void *head)
{
	nof_head_unpin(head);
}

static int object_put_ns(struct sk_buff *skb, void *head)
{
	return nof_put_ns(skb, head);
}

static void walk_heads(struct walk *w, struct nof_subsys *s, struct nof_dump at)
{
	struct nof_head *head;

	list_for_each_entry(head, &s->heads, entry) {
		if (walk_full(w))
			break;
		if (head->nr <= at.object || !test_bit(NOF_HEAD_ADDED, &head->flags))
			continue;
		at.object = head->nr;
		walk_add(w, nof_head_pin(head), &at);
	}
}

/* Paths */
static void *object_find_path(const struct nlattr *name)
{
	return nof_path_find(nla_data(name));
}

static void object_drop_path(void *path)
{
	nof_path_unpin(path);
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

static void walk_paths(struct walk *w, struct nof_subsys *s, struct nof_dump at)
{
	struct nof_head *head;
	struct nof_path *path;

	list_for_each_entry(head, &s->heads, entry) {
		if (head->nr < at.object || !test_bit(NOF_HEAD_ADDED, &head->flags))
			continue;
		if (head->nr > at.object) {
			at.object = head->nr;
			at.path = 0;
		}
		list_for_each_entry(path, &head->paths, entry) {
			if (walk_full(w))
				return;
			if (path->nr <= at.path || !walk_wants_path(w, path))
				continue;
			at.path = path->nr;
			walk_add(w, nof_path_pin(path), &at);
		}
	}
}

static const struct object objects[] = {
	{
		.name		= NVMEOF_A_SUBSYS_ID,
		.missing	= "SUBSYS_ID is missing",
		.none		= "no subsystem with this number",
		.find		= object_find_subsys,
		.drop		= object_drop_subsys,
		.put		= object_put_subsys,
		.walk		= walk_subsys,
	}, {
		.name		= NVMEOF_A_CTRL_NAME,
		.selects	= { NVMEOF_A_SUBSYS_ID },
		.missing	= "CTRL_NAME is missing",
		.none		= "no controller with this name",
		.find		= object_find_ctrl,
		.drop		= object_drop_ctrl,
		.put		= object_put_ctrl,
		.walk		= walk_ctrls,
	}, {
		.name		= NVMEOF_A_NS_NAME,
		.selects	= { NVMEOF_A_SUBSYS_ID },
		.missing	= "NS_NAME is missing",
		.none		= "no namespace with this name",
		.find		= object_find_ns,
		.drop		= object_drop_ns,
		.put		= object_put_ns,
		.walk		= walk_heads,
	}, {
		.name		= NVMEOF_A_PATH_NAME,
		.selects	= { NVMEOF_A_NS_NAME, NVMEOF_A_CTRL_NAME },
		.missing	= "PATH_NAME is missing",
		.none		= "no path with this name",
		.find		= object_find_path,
		.drop		= object_drop_path,
		.put		= object_put_path,
		.walk		= walk_paths,
	},
};

/* @name is the name attribute of one of the kinds. */
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

/* nof_genl_bad() takes string literals only. */
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
	struct nof_reply reply;
	int err;

	err = nof_reply_begin(&reply, info);
	return err ?: nof_reply_end(&reply, info, kind->put(reply.skb, object));
}

int nof_object_get(struct sk_buff *skb, struct genl_info *info)
{
	const struct object *kind = object_of_cmd(info->genlhdr->cmd);
	void *object;
	int err, i;

	for (i = 0; i < ARRAY_SIZE(kind->selects) && kind->selects[i]; i++) {
		if (info->attrs[kind->selects[i]]) {
			nof_genl_bad(info->extack, info->attrs[kind->selects[i]],
				     "only allowed in a dump, as a filter");
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
		nof_genl_bad(cb->extack, attrs[kind->name], "names a single object: not allowed in a dump");
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

/* Every policy table is long enough for SUBSYS_ID. It is NULL for commands that cannot select a subsystem. */
static bool walk_wants(const struct walk *w, const struct nof_subsys *s)
{
	struct nlattr *id = w->attrs[NVMEOF_A_SUBSYS_ID];

	return !id || nla_get_u32(id) == s->id;
}

/* Takes the next WALK_BATCH objects of the dump, or fewer; none at its end. */
static void walk_collect(struct walk *w, struct nof_dump *at)
{
	struct nof_subsys *s;

	w->nr = 0;
	mutex_lock(&nof_subsystems_lock);
	list_for_each_entry(s, &nof_subsystems, entry) {
		if (s->nr < at->subsys || !walk_wants(w, s))
			continue;
		if (s->nr > at->subsys)
			*at = (struct nof_dump){ .subsys = s->nr };
		mutex_lock(&s->lock);
		w->kind->walk(w, s, *at);
		mutex_unlock(&s->lock);
		if (w->nr)
			break;
	}
	mutex_unlock(&nof_subsystems_lock);
}

static int walk_put(struct walk *w, void *object)
{
	void *hdr = genlmsg_put(w->skb, NETLINK_CB(w->cb->skb).portid, w->cb->nlh->nlmsg_seq, &nof_genl_family,
				NLM_F_MULTI, w->cmd);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(w->cb, hdr);
	err = w->kind->put(w->skb, object);
	if (err)
		genlmsg_cancel(w->skb, hdr);
	else
		genlmsg_end(w->skb, hdr);
	return err;
}

static int walk_put_all(struct walk *w, struct nof_dump *at)
{
	int err = 0;
	u8 i;

	for (i = 0; i < w->nr; i++) {
		err = err ?: walk_put(w, w->batch[i].object);
		if (!err)
			*at = w->batch[i].at;
		w->kind->drop(w->batch[i].object);
	}
	return err;
}

/* Never 0, which disables netlink's check for consistency. */
static u32 topology_seq(void)
{
	return (u32)atomic64_read(&nof_topology_seq) | BIT(31);
}

int nof_object_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nof_dump *at = (void *)cb->ctx;
	struct walk w = {
		.skb = skb, .cb = cb, .attrs = nof_genl_dump_attrs(cb), .kind = object_of_cmd(dump_cmd(cb)),
		.cmd = dump_cmd(cb),
	};
	int err;

	cb->seq = topology_seq();
	do {
		walk_collect(&w, at);
		err = walk_put_all(&w, at);
	} while (!err && w.nr);
	/* objects may have changed since the sequence was read above; the next message, or NLMSG_DONE, reports that */
	cb->seq = topology_seq();
	/*
	 * Every call but the last ends with a full message. An empty one means that an object does not fit into a
	 * message: an error.
	 */
	if (err && !(err == -EMSGSIZE && skb->len))
		return err;
	return skb->len;
}
