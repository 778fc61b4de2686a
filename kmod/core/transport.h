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

#define NOF_TRANSPORT_API	12

/**
 * struct nof_vital - whether the peer of a queue is there
 * @heard:	differs from its last value when any sign of life came from the peer meanwhile
 * @owes:	the peer has to answer by itself, as far as the transport goes: data have been sent (or cannot be sent,
 *		though nothing but the network keeps them from it) and are not acknowledged
 * @behind:	what the peer has sent may have arrived: this machine has not got round to it
 * @quiet_ms:	for so long no sign of life has come
 * @rtt_us:	smoothed round-trip time, 0 when not known
 * @segment:	bytes of the longest segment that may be among those not acknowledged, or 0
 * @acked:	bytes that the peer has acknowledged, modulo 2^32
 * @err:	what the network said of late, a negative errno, or 0; nothing has to come of it
 */
struct nof_vital {
	u64	heard;
	bool	owes;
	bool	behind;
	u32	quiet_ms;
	u32	rtt_us;
	u32	segment;
	u32	acked;
	int	err;
};

/**
 * struct nof_transport_info - what there is to be told of a controller's connections
 * @device:	that they go by, with @port and @gid; empty: nothing to be told
 * @in_capsule:	bytes of data that go with a write command
 * and sums over its queues
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
 * @owner:	its module; referenced while a controller is being made with it
 * @api:	NOF_TRANSPORT_API as compiled
 * @queue_size:	sizeof its queue structure, which begins with struct nof_queue
 * @slot_size:	bytes that it keeps for each command outstanding on a queue, see nof_cmd.priv
 * @options:	bits NOF_OPT_* it understands besides those of the core; NOF_OPT_POLL_QUEUES needs @poll
 * @holds_reads: the device has the memory of a read that was sent until the peer acknowledges something: @detach takes
 *		no read off a queue whose peer is silent
 * @kept, @kept_until: the registry's
 * @ctrl_init:	checks the address options (ctrl->opts) and fills ctrl->tp with what it wants to keep (kmalloc, freed by
 *		@ctrl_exit). Process context, may sleep, no network traffic. On refusal: negative errno and an extack
 *		message.
 * @ctrl_exit:	mirror of @ctrl_init; all queues are freed
 * @same_addr:	true when both controllers (of this transport, initialised) go to the same remote address and port from
 *		the same local address and interface
 * @limits:	fills the limits, when the admin queue is up, for each connect attempt
 * @start_queue: makes the connection, up to the point where a Connect command can be sent. Process context, sleeps, may
 *		run for several queues of a controller in parallel. Must end by queue->deadline (-ETIMEDOUT), and at
 *		once when NOF_Q_DEAD gets set and @stop_queue is called meanwhile (-ECANCELED). queue->size, ->nr_slots,
 *		->type, ->cpu are set. May not leave resources behind that @free_queue does not release. For I/O queues,
 *		called after the controller's Identify data are known (ctrl->ident.ioccsz and so on).
 * @stop_queue:	ends all traffic. When it returns the transport will not touch or complete any command of this queue
 *		again, and no network buffer refers to a page of one of them: the core may then cancel and resend them
 *		elsewhere. Process context, sleeps; may run while @start_queue does; idempotent. No @queue_cmd runs any
 *		more when it is called. May not wait for the peer.
 * @free_queue:	mirror of @start_queue: releases everything, the queue structure itself excepted. After @stop_queue;
 *		start_queue has returned. Also called when @start_queue failed, and then start_queue may be called
 *		again; and for a queue that was never started, zeroed but for what the core sets.
 * @prepare:	makes ready what sending @cmd needs, which has its slot, in a way that can still be taken back: maps its
 *		data, finds room. 0; -EAGAIN: not now, as outstanding commands of this queue have what is needed:
 *		nof_queue_room() is called when one of them returns it; -ENOMEM: not now, which is tried again some
 *		milliseconds later; -EOPNOTSUPP: these data not at all; -EIO: nobody can have them. Context: as
 *		@queue_cmd. NULL: nothing can go wrong
 * @release:	gives back what @prepare has taken: once for each time that it succeeded, before the command completes
 *		or goes elsewhere; a placeholder (see struct nof_detach) has nothing. Any context, does not
 *		sleep. NULL: there is nothing to give back
 * @queue_cmd:	sends cmd, which is in the queue's table (state NOF_CMD_OWNED), has sqe but for SGL, and len, write, buf
 *		or request set. When @last is not set more may follow at once, or @commit will be called. Never fails:
 *		on trouble it calls nof_queue_error(), and the core cancels the command later. Any number of CPUs at
 *		once. Process context inside an SRCU read section; may sleep shortly, but not for the network or for
 *		memory, and not at all without NOF_DISPATCH_SLEEPS (compat/dispatch.h).
 * @commit:	sends what queue_cmd(last = false) may have held back. Same context.
 * @poll:	reaps completions of a queue with NOF_Q_POLLED into @done; returns how many commands completed. Process
 *		context, SRCU read side, perhaps inside of RCU: may not sleep. NULL: no polled queues.
 * @detach:	takes a command off the queue by nof_cmd_detach(), which it returns: NULL when there is none now that
 *		may be taken off. When it returns nothing refers to the command or to a page of its any more. Only those
 *		with data to be received, or without, need be taken once they are sent; any before. Process context,
 *		sleeps, not for the peer. The queue cannot go away meanwhile; it may be being stopped. NULL: never
 * @vital:	tells how the peer of a live queue is, from what is known: sends nothing, takes no lock. The queue
 *		cannot go away meanwhile. Process context. NULL: silence is not noticed
 * @nudge:	repeats soon what the peer has not acknowledged, rather than after a wait that doubles each time. For a
 *		queue whose peer has been silent for a while, at each look; the queue cannot go away meanwhile. Takes
 *		the connection's own spinlock. Process context, does not sleep. NULL: the device does so by itself
 * @info:	adds what there is to tell of a queue that is connected, and cannot go away meanwhile. Process context,
 *		does not sleep. NULL: nothing
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
	void (*free_queue)(struct nof_queue *queue);
	int (*prepare)(struct nof_queue *queue, struct nof_cmd *cmd);
	void (*release)(struct nof_queue *queue, struct nof_cmd *cmd);
	void (*queue_cmd)(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
	void (*commit)(struct nof_queue *queue);
	int (*poll)(struct nof_queue *queue, struct nof_completed *done);
	struct nof_cmd *(*detach)(struct nof_queue *queue, struct nof_detach *d);
	void (*vital)(struct nof_queue *queue, struct nof_vital *v);
	void (*nudge)(struct nof_queue *queue);
	void (*info)(struct nof_queue *queue, struct nof_transport_info *info);
};

/* Context: process. -EINVAL for another API version, -EEXIST for a name already taken. */
int nof_transport_register(struct nof_transport *t);
/* Its controllers are deleted, or wait for the next one, where nof_transport_keep() was called 10 s ago or less. */
void nof_transport_unregister(struct nof_transport *t);
/* -ENOENT when there is none of that name */
int nof_transport_keep(const char *name);
/*
 * By name, with a reference on the module; NULL if there is none. Then the module nvmeof-NAME is asked for, and may be
 * there soon: it is not waited for. Sleeps.
 */
struct nof_transport *nof_transport_get(const char *name);
void nof_transport_put(struct nof_transport *t);
/* Calls fn for each registered transport, under the registry's mutex, until it returns non-zero; returns that. */
int nof_transport_for_each(int (*fn)(const struct nof_transport *t, void *arg), void *arg);

#endif
