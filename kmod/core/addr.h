/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a controller is, and from where: what transports over IP keep in ctrl->tp. */
#ifndef NOF_CORE_ADDR_H
#define NOF_CORE_ADDR_H

#include <linux/socket.h>
#include <linux/types.h>
#include "core/ctrl.h"

struct net;
struct netlink_ext_ack;

struct nof_addr {
	struct net		*net;		/* the controller's */
	struct sockaddr_storage	dst;
	struct sockaddr_storage	src;		/* ss_family is AF_UNSPEC when none was given */
};

static inline struct nof_addr *nof_addr_of(const struct nof_ctrl *ctrl)
{
	return ctrl->tp;
}

/* As the ops ctrl_init, ctrl_exit and same_addr of struct nof_transport. */
int nof_addr_init(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
void nof_addr_exit(struct nof_ctrl *ctrl);
/*
 * Ahead of each connection: a link-local address (fe80::1%eth0) gets the number of the interface of that name.
 * -ENODEV: there is none. Context: process.
 */
int nof_addr_refresh(struct nof_ctrl *ctrl);
bool nof_addr_same(const struct nof_ctrl *a, const struct nof_ctrl *b);

#endif
