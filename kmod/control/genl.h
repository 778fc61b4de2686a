/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family: what its files share. The family itself and its answers are in genl_attrs.c. */
#ifndef NOF_CONTROL_GENL_H
#define NOF_CONTROL_GENL_H

#include <net/genetlink.h>
#include <uapi/linux/nvmeof.h>

enum nof_mcgrp { NOF_MCGRP_EVENTS };

extern struct genl_family nof_genl_family;

int nof_genl_init(void);
void nof_genl_exit(void);

/*
 * Refuses a request that lacks an attribute: userspace is told its number, and in words. Evaluates to true if it is
 * missing.
 */
#define nof_genl_missing(info, attr, msg) ({				\
	bool __missing = GENL_REQ_ATTR_CHECK(info, attr);		\
									\
	if (__missing)							\
		GENL_SET_ERR_MSG(info, msg);				\
	__missing;							\
})

/* Refuses a value: points at the attribute and says why. For dumps and do's alike. */
#define nof_genl_bad(extack, attr, msg)	NL_SET_ERR_MSG_ATTR(extack, attr, msg)

/* An answer being built. */
struct nof_reply {
	struct sk_buff	*skb;
	void		*hdr;
};

/* -ENOMEM with a message; nothing to undo then. */
int nof_reply_begin(struct nof_reply *reply, struct genl_info *info);
/* Sends what was built, unless @err is set: then drops it. Returns @err or the result of sending. */
int nof_reply_end(struct nof_reply *reply, struct genl_info *info, int err);
/* The attributes already sent with an error that follows: for refusals that name an object. */
void nof_reply_send(struct nof_reply *reply, struct genl_info *info);

/* Of the kind that @name, an attribute, names: with a reference, or ERR_PTR with a message. */
void *nof_object_find(struct genl_info *info, int name);
/* Handlers of each *_GET: one object, and all of them. */
int nof_object_get(struct sk_buff *skb, struct genl_info *info);
int nof_object_dump_start(struct netlink_callback *cb);
int nof_object_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
