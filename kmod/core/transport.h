/* SPDX-License-Identifier: GPL-2.0-only */
/* The contract between the core and a fabrics transport. */
#ifndef NOF_CORE_TRANSPORT_H
#define NOF_CORE_TRANSPORT_H

#include <linux/list.h>
#include <linux/module.h>
#include "core/cmd.h"
#include "core/ctrl.h"
#include "core/queue.h"

struct netlink_ext_ack;

#define NOF_TRANSPORT_API	13

/**
 * struct nof_vital - signs of life of the peer of a queue
 * @heard:	changes with every sign of life from the peer
 * @ack_due:	the peer has to respond at transport level: data have been sent (or only the network prevents sending
 *		them) and are not acknowledged
 * @receive_pending:	data from the peer may have arrived that this machine has not processed yet
 * @quiet_ms:	time since the last sign of life
 * @rtt_us:	smoothed round-trip time, 0 when not known
 * @segment:	bytes of the longest segment that may be among those not acknowledged, or 0
 * @acked:	bytes that the peer has acknowledged, modulo 2^32
 * @err:	last soft error that the network reported, a negative errno, or 0; it may be transient
 */
struct nof_vital {
	u64	heard;
	bool	ack_due;
	bool	receive_pending;
	u32	quiet_ms;
	u32	rtt_us;
	u32	segment;
	u32	acked;
	int	err;
};

/**
 * struct nof_transport_info - details of a controller's connections
 * @device:	device of the connections, with @port and @gid; empty: no details
 * @in_capsule:	bytes of data that fit in the capsule of a write command
 * The other members are sums over its queues.
 */
struct nof_transport_info {
	char	device[NVMEOF_NAME_MAX + 1];
	u32	port;
	u8	gid[16];
	u32	in_capsule;
	u64	posts;
	u64	work_requests;
	u64	cqes;
	u64	registrations;
	u64	invalidations;
	u64	remote_invalidations;
};

/**
 * struct nof_transport - a fabrics transport
 * @name:	as in NVMEOF_A_TRANSPORT
 * @owner:	its module; referenced while a controller is being created with it
 * @api:	NOF_TRANSPORT_API as compiled
 * @queue_size:	sizeof its queue structure, which begins with struct nof_queue
 * @slot_size:	bytes of its data for each slot of a queue, see nof_cmd.priv
 * @options:	NOF_OPT_* bits that it supports; NOF_OPT_POLL_QUEUES needs @poll
 * @holds_reads: the device accesses the memory of a read that was sent until the peer acknowledges something: @detach
 *		takes no read off a queue whose peer is silent
 * @kept, @kept_until: private to core/transport.c
 * @ctrl_init:	checks the address options (ctrl->opts) and stores its private data in ctrl->tp (kmalloc, freed by
 *		@ctrl_exit). Process context, may sleep, no network traffic. Returns 0, or a negative errno with an
 *		extack message.
 * @ctrl_exit:	mirror of @ctrl_init; all queues have been freed
 * @same_addr:	true when both controllers (of this transport, initialised) go to the same remote address and port from
 *		the same local address and interface
 * @limits:	fills the limits; called in each connect attempt when the admin queue is up
 * @start_queue: establishes the connection, up to the point where a Connect command can be sent. Process context,
 *		sleeps, may run for several queues of a controller in parallel. Must end by queue->deadline
 *		(-ETIMEDOUT), and at once when NOF_Q_DEAD gets set and @stop_queue is called meanwhile (-ECANCELED).
 *		queue->size, ->nr_slots, ->type, ->cpu are set. Must not leave resources behind that @free_queue does
 *		not release. For I/O queues, called after the controller's Identify data are known (ctrl->ident.ioccsz
 *		and so on).
 * @stop_queue:	ends all traffic. After it has returned, the transport does not touch or complete any command of this
 *		queue. Process context, sleeps; may run in parallel with @start_queue; idempotent. No @queue_cmd runs
 *		any more when it is called. Must not wait for the peer.
 * @wait_queue:	called after @stop_queue of all queues that are to stop: waits until no network buffer refers to a page
 *		of a command of this queue. The core then cancels the commands and retries them elsewhere. It may have
 *		to wait for a device, or until the address of the next hop is resolved. Process context, sleeps. NULL:
 *		nothing to wait for
 * @free_queue:	mirror of @start_queue: releases everything except the queue structure. Called after @stop_queue and
 *		after start_queue has returned; also when @start_queue failed, and then start_queue may be called again;
 *		and for a queue that was never started, zeroed but for the members set by the core.
 * @prepare:	acquires the resources for sending @cmd, which has its slot, in a way that can be undone: maps its data,
 *		reserves room. Returns 0; -EAGAIN if outstanding commands of this queue hold the resources:
 *		nof_queue_resource_freed() is called when one of them releases them; -ENOMEM: a request or command is
 *		retried some milliseconds later; -EOPNOTSUPP: not able to transfer these data; -EIO: no path can
 *		transfer them. Context: as @queue_cmd. NULL: no resources
 * @release:	releases what @prepare has acquired: once for each success, before the command completes or is detached.
 *		Also called for a placeholder (see struct nof_detach), which holds nothing. Any context, does not sleep.
 *		NULL: no resources
 * @queue_cmd:	sends cmd, which is in the queue's table (state NOF_CMD_OWNED) and has sqe without SGL, len, write, and
 *		buf or request set. When @last is not set, more may follow at once, or @commit will be called. Never
 *		fails: on an error it calls nof_queue_error(), and the core cancels the command later. Any number of
 *		CPUs at once. Process context inside an SRCU read section; may sleep for a short time, but not for the
 *		network or for memory, and not at all without NOF_DISPATCH_SLEEPS (compat/dispatch.h).
 * @commit:	sends what queue_cmd(last = false) may have held back. Same context.
 * @poll:	reaps completions of a queue with NOF_Q_POLLED into @done; returns how many commands completed. Process
 *		context, SRCU read side, perhaps inside RCU: must not sleep. NULL: no polled queues.
 * @detach:	takes a command off the queue with nof_cmd_detach() and returns it, or NULL if it may not be detached
 *		now. When it returns nothing refers to the command or its pages any more. Commands that were sent and
 *		have data for the controller need not be supported. Process context, sleeps, but not for the peer. The
 *		caller keeps the queue, which may be stopped meanwhile. NULL: not supported
 * @vital:	reports the peer's signs of life on a live queue from local state: sends nothing, takes no lock. The
 *		caller keeps the queue. Process context. NULL: silence is not detected
 * @retransmit:	retransmits soon what the peer has not acknowledged, rather than after an exponential back-off. Called
 *		each time the watch finds the peer silent for a while; the caller keeps the queue. Takes the
 *		connection's own spinlock. Process context, does not sleep. NULL: the device does so by itself
 * @info:	adds the details of a connected queue, which the caller keeps. Process context, does not sleep. NULL:
 *		none
 */
struct nof_transport {
	struct list_head	entry;
	const char		*name;
	struct module		*owner;
	u16			api;
	size_t			queue_size;
	size_t			slot_size;
	unsigned long		options;
	bool			holds_reads;
	bool			kept;
	unsigned long		kept_until;

	int (*ctrl_init)(struct nof_ctrl *ctrl, struct netlink_ext_ack *extack);
	void (*ctrl_exit)(struct nof_ctrl *ctrl);
	bool (*same_addr)(const struct nof_ctrl *a, const struct nof_ctrl *b);
	void (*limits)(struct nof_ctrl *ctrl, struct nof_transport_limits *lim);
	int (*start_queue)(struct nof_queue *queue);
	void (*stop_queue)(struct nof_queue *queue);
	void (*wait_queue)(struct nof_queue *queue);
	void (*free_queue)(struct nof_queue *queue);
	int (*prepare)(struct nof_queue *queue, struct nof_cmd *cmd);
	void (*release)(struct nof_queue *queue, struct nof_cmd *cmd);
	void (*queue_cmd)(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
	void (*commit)(struct nof_queue *queue);
	int (*poll)(struct nof_queue *queue, struct nof_completed *done);
	struct nof_cmd *(*detach)(struct nof_queue *queue, struct nof_detach *d);
	void (*vital)(struct nof_queue *queue, struct nof_vital *v);
	void (*retransmit)(struct nof_queue *queue);
	void (*info)(struct nof_queue *queue, struct nof_transport_info *info);
};

/* Returns 0, -EINVAL for another API version, or -EEXIST if the name is taken. Context: process. */
int nof_transport_register(struct nof_transport *t);
/* Deletes its controllers, or, within 10 s of nof_transport_keep(), keeps them until the next registration. Sleeps. */
void nof_transport_unregister(struct nof_transport *t);
/* Returns -ENOENT if there is no transport of this name */
int nof_transport_keep(const char *name);
/*
 * Returns the transport of this name with a reference on its module. If there is none, returns NULL and requests the
 * module nvmeof-NAME without waiting for it. Sleeps.
 */
struct nof_transport *nof_transport_get(const char *name);
void nof_transport_put(struct nof_transport *t);
/* Calls fn for each registered transport, under the registry's mutex, until it returns non-zero; returns that. */
int nof_transport_for_each(int (*fn)(const struct nof_transport *t, void *arg), void *arg);

#endif
