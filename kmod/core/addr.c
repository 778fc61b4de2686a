// SPDX-License-Identifier: GPL-2.0-only
/* The addresses of a controller on a transport over IP */
#include <linux/export.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include "core/addr.h"
#include "core/ctrl.h"

/* Assigned by IANA for NVMe over Fabrics; discovery services (8009) need an explicit TRSVCID. */
#define DEFAULT_PORT	"4420"

static __be16 port_of(const struct sockaddr_storage *ss)
{
	return ss->ss_family == AF_INET ? ((const struct sockaddr_in *)ss)->sin_port :
					  ((const struct sockaddr_in6 *)ss)->sin6_port;
}

static void set_port(struct sockaddr_storage *ss, __be16 port)
{
	if (ss->ss_family == AF_INET)
		((struct sockaddr_in *)ss)->sin_port = port;
	else
		((struct sockaddr_in6 *)ss)->sin6_port = port;
}

static int parse_remote(struct nof_addr *at, struct nof_opts *opts, struct netlink_ext_ack *extack)
{
	u16 n;

	if (!*opts->trsvcid)
		strscpy(opts->trsvcid, DEFAULT_PORT, sizeof(opts->trsvcid));
	if (kstrtou16(opts->trsvcid, 10, &n) || !n) {
		NL_SET_ERR_MSG(extack, "TRSVCID is not a number between 1 and 65535");
		return -EINVAL;
	}
	if (inet_pton_with_scope(at->net, AF_UNSPEC, opts->traddr, NULL, &at->dst)) {
		NL_SET_ERR_MSG(extack, "TRADDR is not a numeric IPv4 or IPv6 address");
		return -EINVAL;
	}
	if (inet_addr_is_any(&at->dst)) {
		NL_SET_ERR_MSG(extack, "TRADDR is a wildcard address, not that of a target");
		return -EINVAL;
	}
	set_port(&at->dst, htons(n));
	return 0;
}

static int parse_local(struct nof_addr *at, const struct nof_opts *opts, struct netlink_ext_ack *extack)
{
	if (!*opts->host_traddr)
		return 0;
	if (inet_pton_with_scope(at->net, AF_UNSPEC, opts->host_traddr, NULL, &at->src)) {
		NL_SET_ERR_MSG(extack, "HOST_TRADDR is not a numeric IPv4 or IPv6 address");
		return -EINVAL;
	}
	if (at->src.ss_family != at->dst.ss_family) {
		NL_SET_ERR_MSG(extack, "HOST_TRADDR and TRADDR are of different families");
		return -EINVAL;
	}
	return 0;
}

/* Checks only that it exists now: it is looked up again for each connection. */
static int check_iface(struct nof_addr *at, const struct nof_opts *opts, struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	if (!*opts->host_iface)
		return 0;
	dev = dev_get_by_name(at->net, opts->host_iface);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "HOST_IFACE is not a network interface of this network namespace");
		return -ENODEV;
	}
	dev_put(dev);
	return 0;
}

int nof_addr_init(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack)
{
	struct nof_addr *at = kzalloc(sizeof(*at), GFP_KERNEL);
	int err;

	if (!at)
		return -ENOMEM;
	/* Workers connect in the network namespace of the task that creates the controller. */
	at->net = ctrl->opts.net;
	err = parse_remote(at, &ctrl->opts, extack) ?: parse_local(at, &ctrl->opts, extack) ?:
	      check_iface(at, &ctrl->opts, extack);
	if (err) {
		kfree(at);
		return err;
	}
	ctrl->tp = at;
	return 0;
}
EXPORT_SYMBOL_GPL(nof_addr_init);

/* Updates the index of the interface that @text names: it changes if the interface is recreated */
static int addr_rescope(struct net *net, const char *text, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *a6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_storage now = {};

	if (ss->ss_family != AF_INET6 || !strchr(text, '%'))
		return 0;
	if (inet_pton_with_scope(net, AF_INET6, text, NULL, &now))
		return -ENODEV;
	WRITE_ONCE(a6->sin6_scope_id, ((struct sockaddr_in6 *)&now)->sin6_scope_id);
	return 0;
}

int nof_addr_refresh(struct nof_ctrl *ctrl)
{
	struct nof_addr *at = nof_addr_of(ctrl);

	return addr_rescope(at->net, ctrl->opts.traddr, &at->dst) ?:
	       addr_rescope(at->net, ctrl->opts.host_traddr, &at->src);
}
EXPORT_SYMBOL_GPL(nof_addr_refresh);

void nof_addr_exit(struct nof_ctrl *ctrl)
{
	struct nof_addr *at = nof_addr_of(ctrl);

	ctrl->tp = NULL;
	kfree(at);
}
EXPORT_SYMBOL_GPL(nof_addr_exit);

static bool same_ip(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	case AF_INET6:
		return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) && a6->sin6_scope_id == b6->sin6_scope_id;
	default:
		return true;
	}
}

bool nof_addr_same(const struct nof_ctrl *a, const struct nof_ctrl *b)
{
	const struct nof_addr *aa = nof_addr_of(a), *ab = nof_addr_of(b);

	return net_eq(aa->net, ab->net) && same_ip(&aa->dst, &ab->dst) && port_of(&aa->dst) == port_of(&ab->dst) &&
	       same_ip(&aa->src, &ab->src) && !strcmp(a->opts.host_iface, b->opts.host_iface);
}
EXPORT_SYMBOL_GPL(nof_addr_same);
