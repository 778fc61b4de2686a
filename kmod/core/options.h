/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of a controller, with their defaults and bounds. */
#ifndef NOF_CORE_OPTIONS_H
#define NOF_CORE_OPTIONS_H

#include <linux/bits.h>
#include <linux/types.h>
#include <uapi/linux/nvmeof.h>

struct net;

/* Bits of nof_transport.options and nof_opts.given */
enum {
	NOF_OPT_HOST_TRADDR	= BIT(0),
	NOF_OPT_HOST_IFACE	= BIT(1),
	NOF_OPT_TOS		= BIT(2),
	NOF_OPT_HDR_DIGEST	= BIT(3),
	NOF_OPT_DATA_DIGEST	= BIT(4),
	NOF_OPT_POLL_QUEUES	= BIT(5),
	NOF_OPT_ACK		= BIT(6),	/* ack_tmo_ms or retry_count */
	NOF_OPT_TLS		= BIT(7),
};

/*
 * Options of CTRL_NEW, with defaults filled in (control/connect_options.c); units as in the uapi header. @given:
 * NOF_OPT_* bits that were present.
 */
struct nof_opts {
	char		transport[NVMEOF_POLICY_MAX + 1];
	char		traddr[NVMEOF_TRADDR_MAX + 1];
	char		trsvcid[NVMEOF_TRADDR_MAX + 1];
	char		host_traddr[NVMEOF_TRADDR_MAX + 1];
	char		host_iface[NVMEOF_TRADDR_MAX + 1];
	char		subsysnqn[NVMEOF_NQN_MAX + 1];
	char		hostnqn[NVMEOF_NQN_MAX + 1];
	char		owner[NVMEOF_NAME_MAX + 1];	/* changed under error.lock */
	u8		hostid[NVMEOF_HOSTID_LEN];
	struct net	*net;				/* of the caller; the controller holds a reference */
	unsigned long	given;
	u32		nr_io_queues;
	u32		nr_poll_queues;
	u32		queue_size;
	u32		tags;		/* 0: default_tags() in mpath/subsys.c */
	u32		kato_ms;
	u32		reconnect_delay_ms;
	s32		ctrl_loss_tmo_ms;
	s32		fast_io_fail_tmo_ms;
	u32		connect_tmo_ms;
	u32		stall_tmo_ms;
	s32		first_connect_tmo_ms;
	u32		ack_tmo_ms;
	u32		retry_count;
	u32		dhchap_key;		/* serial numbers of keys; 0: none */
	u32		dhchap_ctrl_key;
	u32		tls_key;
	u32		tls_keyring;
	u8		tos;
	bool		hdr_digest;
	bool		data_digest;
	bool		sq_flow;
	bool		duplicate_connect;
	bool		auth_required;	/* refuse a controller that does not ask for authentication */
	bool		concat;		/* TLS with a key that the authentication generates */
	bool		kato_given;	/* otherwise nof_ka_negotiate() may request a shorter timeout */
};

/* Defaults, and bounds that the netlink policy enforces */
#define NOF_DEF_TRSVCID			"4420"	/* IANA: NVMe over Fabrics */
#define NOF_DEF_QUEUE_SIZE		128
#define NOF_MIN_QUEUE_SIZE		16
#define NOF_MAX_QUEUE_SIZE		1024
#define NOF_MAX_IO_QUEUES		1024
#define NOF_DEF_TAGS			1024	/* upper bound, see default_tags() in mpath/subsys.c */
#define NOF_MIN_TAGS			64
#define NOF_MAX_TAGS			4096
#define NOF_DEF_KATO_MS			5000
#define NOF_SHORT_KATO_MS		2000	/* default if the granularity (KAS) permits it */
#define NOF_MIN_KATO_MS			1000U	/* lower bound of a reported one: a shorter one would expire at once */
#define NOF_MAX_KATO_MS			600000U
/* One day: above any useful timeout, and far below an overflow of jiffies. */
#define NOF_MAX_TIME_MS			(24 * 60 * 60 * 1000)
#define NOF_MIN_RECONNECT_DELAY_MS	1
#define NOF_DEF_RECONNECT_DELAY_MS	10000
#define NOF_DEF_CTRL_LOSS_TMO_MS	600000
#define NOF_DEF_FAST_IO_FAIL_TMO_MS	(-1)	/* off */
#define NOF_MIN_CONNECT_TMO_MS		100
#define NOF_DEF_CONNECT_TMO_MS		10000
#define NOF_DEF_STALL_TMO_MS		300
#define NOF_DEF_ACK_TMO_MS		134
#define NOF_MAX_ACK_TMO_MS		10000
#define NOF_DEF_RETRY_COUNT		7
#define NOF_MAX_RETRY_COUNT		7	/* infinite with some devices, see retry_count() in rdma/cm.c */

#endif
