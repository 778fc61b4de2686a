/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects as netlink attributes, the same for gets, dumps and events, without the lock of the subsystem. The caller
 * holds a reference on the object; on a disk or a path as nof_head_pin() or nof_path_pin(). -EMSGSIZE when the message
 * is full.
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
