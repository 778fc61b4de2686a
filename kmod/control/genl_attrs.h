/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects as netlink attributes, the same for gets, dumps and events. The caller must not hold subsys->lock. It holds a
 * reference on the object: for a disk or path, one of nof_head_pin() or nof_path_pin(). Returns 0, or -EMSGSIZE if the
 * message is full.
 */
#ifndef NOF_CONTROL_GENL_ATTRS_H
#define NOF_CONTROL_GENL_ATTRS_H

struct sk_buff;
struct nof_ctrl;
struct nof_head;
struct nof_path;
struct nof_subsys;

int nof_put_subsys(struct sk_buff *skb, struct nof_subsys *s);
int nof_put_ctrl(struct sk_buff *skb, struct nof_ctrl *ctrl);
int nof_put_ns(struct sk_buff *skb, struct nof_head *head);
int nof_put_path(struct sk_buff *skb, struct nof_path *path);

#endif
