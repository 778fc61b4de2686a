/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family: interfaces between its files. genl_attrs.c defines the family and the replies. */
#ifndef NOF_CONTROL_GENL_H
#define NOF_CONTROL_GENL_H

#include <net/genetlink.h>
#include <uapi/linux/nvmeof.h>

enum nof_mcgrp { NOF_MCGRP_EVENTS };

extern struct genl_family nof_genl_family;

int nof_genl_init(void);
void nof_genl_exit(void);

/* True if the request lacks @attr; the extended ack then has the number of the attribute and @msg. */
#define nof_genl_missing(info, attr, msg) ({				\
	bool __missing = GENL_REQ_ATTR_CHECK(info, attr);		\
									\
	if (__missing)							\
		GENL_SET_ERR_MSG(info, msg);				\
	__missing;							\
})

/* Puts a refused attribute and the reason into the extended ack. For do and dump requests. */
#define nof_genl_bad(extack, attr, msg)	NL_SET_ERR_MSG_ATTR(extack, attr, msg)

/* A reply that is being built. */
struct nof_reply {
	struct sk_buff	*skb;
	void		*hdr;
};

/* -ENOMEM with an extack message; there is nothing to undo then. */
int nof_reply_begin(struct nof_reply *reply, struct genl_info *info);
/* Sends the reply, or frees it if @err is set. Returns @err or the result of sending. */
int nof_reply_end(struct nof_reply *reply, struct genl_info *info, int err);
/* Sends the reply before an error, which the caller returns: for refusals that name an object. */
void nof_reply_send(struct nof_reply *reply, struct genl_info *info);

/* The object that attribute @name of the request names: with a reference, or ERR_PTR and an extack message. */
void *nof_object_find(struct genl_info *info, int name);
/* Handlers of each *_GET: nof_object_get() replies with one object, the others dump all. */
int nof_object_get(struct sk_buff *skb, struct genl_info *info);
int nof_object_dump_start(struct netlink_callback *cb);
int nof_object_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif
