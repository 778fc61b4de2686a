/* SPDX-License-Identifier: GPL-2.0-only */
/* The remote and local address of a controller: ctrl->tp of transports over IP. */
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

/* For ctrl_init, ctrl_exit and, with nof_addr_same(), same_addr of struct nof_transport. */
int nof_addr_init(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
void nof_addr_exit(struct nof_ctrl *ctrl);
/*
 * Called before each connection: updates the interface index of link-local addresses (fe80::1%eth0). Returns 0, or
 * -ENODEV if there is no such interface. Context: process.
 */
int nof_addr_refresh(struct nof_ctrl *ctrl);
bool nof_addr_same(const struct nof_ctrl *a, const struct nof_ctrl *b);

#endif
