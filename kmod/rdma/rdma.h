/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NVMe/RDMA: one reliable connection, with a protection domain of its own, for each queue. (NVMe RDMA Transport 1.0)
 *
 * Who may touch what of a queue:
 * - cq_lock covers the receive side: the completion queue, slots from their posting on, receives.
 * - sq_lock covers the send queue: the chain of work requests, and what is posted. Inside cq_lock where both are held.
 * - A slot belongs to who has its command until that is in the chain, and to the receive side after that.
 * A key that the target has been told reaches memory by this queue's protection domain, that is by this connection
 * only: when it has ended no target can use it any more.
 */
#ifndef NOF_RDMA_RDMA_H
#define NOF_RDMA_RDMA_H

#include <linux/dim.h>
#include <linux/irq_poll.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/nvme.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>
#include "core/addr.h"
#include "core/transport.h"

/* What memory regions are made of, whatever the size of the kernel's pages */
#define NOF_RDMA_UNIT	(1U << 12)

/* Tunables */
enum {
	NOF_RDMA_INLINE		= 4,		/* most pieces of data in a capsule */
	NOF_RDMA_SGS		= 4,		/* pieces for which a slot has room of its own */
	NOF_RDMA_SMALL		= 33,		/* pages of a slot's own memory region: 128 KiB anywhere in a page */
	NOF_RDMA_LARGE		= 257,		/* of those that are shared: 1 MiB */
	NOF_RDMA_LARGE_PART	= 4,		/* of so many slots one may have such a one at a time */
	NOF_RDMA_SIGNAL		= 16,		/* commands of which one is signalled, at least */
	NOF_RDMA_REAP		= 32,		/* completions between two reposts of receives */
};

/* Work requests of a command at most. The invalidations, of which there is one a command, have room besides. */
#define NOF_RDMA_WQES	2

/**
 * struct nof_rdma_device - a device, for as long as it is there
 * @dev:	it
 * @queues:	whose connections are by it; under @lock
 * @gone:	it is being removed: no queue joins any more
 * @handler:	of what happens to it
 */
struct nof_rdma_device {
	struct list_head	entry;
	struct ib_device	*dev;
	spinlock_t		lock;
	struct list_head	queues;
	bool			gone;
	struct ib_event_handler	handler;
};

/* What a slot waits for until its command is done */
enum {
	NOF_RDMA_RESPONSE	= BIT(0),
	NOF_RDMA_SEND		= BIT(1),	/* of the capsule: its data may be sent again until then */
	NOF_RDMA_INVALIDATE	= BIT(2),	/* of the key by ourselves */
};

enum nof_rdma_mapped { NOF_RDMA_NOTHING, NOF_RDMA_CAPSULE, NOF_RDMA_KEYED };

/**
 * struct nof_rdma_slot - our part of a command, see nof_cmd.priv
 * @send_cqe, @reg_cqe, @inv_cqe: of these work requests
 * @small:	its own memory region
 * @mr:		the one in use: @small, or one of those that are shared
 * @table:	the data; @first has room for few pieces
 * @nr_mapped:	pieces given to ib_dma_map_sg()
 * @gpu:	who has mapped them, if they are in a GPU's memory; referenced
 * @bounce:	the data are here, in one piece: those of the request have gaps that no region can have
 * @mapped:	enum nof_rdma_mapped
 * @registered:	the target may use the key
 * @detaching:	somebody waits for the invalidation
 * @waits:	see above; 0 between commands
 * @mark, @inv_mark: what had been posted in all with its send, and with its invalidation
 * @key:	that the target was told; 0 for none
 * @status, @result: of the response, once that has come
 */
struct nof_rdma_slot {
	struct ib_cqe		send_cqe;
	struct ib_cqe		reg_cqe;
	struct ib_cqe		inv_cqe;
	struct ib_reg_wr	reg;
	struct ib_send_wr	send;
	struct ib_send_wr	inv;
	struct ib_sge		sge[1 + NOF_RDMA_INLINE];
	struct ib_mr		*small;
	struct ib_mr		*mr;
	struct sg_table		table;
	struct scatterlist	first[NOF_RDMA_SGS];
	int			nr_mapped;
	const struct nof_direct_gpu *gpu;
	void			*bounce;
	u8			mapped;
	u8			waits;
	bool			registered;
	bool			detaching;
	u32			mark;
	u32			inv_mark;
	u32			key;
	u16			status;
	union nvme_result	result;
};

/* A receive, for one response */
struct nof_rdma_recv {
	struct ib_cqe		cqe;
	struct ib_sge		sge;
	struct ib_recv_wr	wr;
};

enum nof_rdma_cm_step { NOF_RDMA_CM_IDLE, NOF_RDMA_CM_ADDR, NOF_RDMA_CM_ROUTE, NOF_RDMA_CM_UP, NOF_RDMA_CM_FAILED };

/* Counters; the first four under sq_lock, the others under cq_lock */
struct nof_rdma_count {
	u64	posts;		/* calls of ib_post_send() */
	u64	wrs;		/* work requests in these */
	u64	maps;		/* of data for DMA */
	u64	regs;
	u64	cqes;
	u64	invs;		/* by ourselves */
	u64	remote_invs;
};

enum {
	NOF_RDMA_STOPPED,	/* stop_queue() was called; until free_queue() */
	NOF_RDMA_READY,		/* the queue pair may carry traffic: set under ready_lock of main.c */
	NOF_RDMA_DRAINED,
};

/**
 * struct nof_rdma_queue - queue
 * @flags:	NOF_RDMA_STOPPED and so on
 * @rdev, @entry: the device, and the place among its queues
 * @port:	of the device
 * @port_err:	-ENETDOWN while that has no link, 0 while it has
 * @step:	enum nof_rdma_cm_step, by the handler of connection events; who waits is woken by wake_up_var()
 * @cm_err:	with NOF_RDMA_CM_FAILED, negative errno; -EAGAIN: worth another try soon
 * @dim, @moderated: how many completions the device is to wait for before it interrupts, where it can
 * @inline_room: bytes of data that go with the command
 * @inline_sges: pieces of these
 * @sqes:	submission queue entries by slot, mapped at @sqes_dma
 * @resps:	completion queue entries by receive, mapped at @resps_dma
 * @recvs:	@nr_recvs of them
 * @large:	shared memory regions that are free, by ib_mr.qp_entry; under @large_lock
 * @has_large:	there are such
 * @max_wrs:	room in the send queue
 * @head, @tail: chain of work requests not posted yet
 * @wqes:	work requests that are not known to be done, or that a command is going to need
 * @posted:	work requests, in all, chained ones included
 * @unsignalled: commands since the last that was signalled
 * @done:	so many of @posted are known to be done
 * @repost:	chain of receives to be posted
 * @inv_head, @inv_tail: chain of invalidations to be posted
 * @events, @seen: the device has told of completions, and these have been looked at
 * @detach_rest: jiffies; until then nothing is taken back, for it did not go well
 * @heard_at:	jiffies; the last acknowledgement or answer
 * @owed:	signalled sends of which we have not heard
 */
struct nof_rdma_queue {
	struct nof_queue	q;
	unsigned long		flags;
	struct nof_rdma_device	*rdev;
	struct list_head	entry;
	u32			port;
	int			port_err;
	struct rdma_cm_id	*id;
	int			step;
	int			cm_err;

	struct ib_pd		*pd;
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct irq_poll		iop;
	struct dim		dim;
	bool			moderated;
	u32			inline_room;
	u8			inline_sges;
	u8			mr_type;
	u16			nr_recvs;
	struct nvme_command	*sqes;
	u64			sqes_dma;
	struct nvme_completion	*resps;
	u64			resps_dma;
	struct nof_rdma_recv	*recvs;
	spinlock_t		large_lock;
	struct list_head	large;
	bool			has_large;
	u32			max_large;	/* pages */
	u32			max_wrs;

	spinlock_t		sq_lock ____cacheline_aligned_in_smp;
	struct ib_send_wr	*head;
	struct ib_send_wr	*tail;
	u32			posted;
	u32			unsignalled;
	u32			done;
	atomic_t		wqes;

	spinlock_t		cq_lock ____cacheline_aligned_in_smp;
	struct nof_completed	*batch;
	int			completed;
	struct ib_recv_wr	*repost;
	struct ib_send_wr	*inv_head;
	struct ib_send_wr	*inv_tail;
	u32			events;
	u32			seen;
	atomic_t		owed;
	unsigned long		detach_rest;
	unsigned long		heard_at;
	struct nof_rdma_count	count;
	struct ib_wc		wcs[NOF_RDMA_REAP];
};

static inline struct nof_rdma_queue *to_rdma_queue(struct nof_queue *q)
{
	return container_of(q, struct nof_rdma_queue, q);
}

static inline struct nof_rdma_slot *to_rdma_slot(struct nof_cmd *cmd)
{
	return cmd->priv;
}

static inline struct nof_rdma_slot *nof_rdma_nth(struct nof_rdma_queue *q, u32 i)
{
	return q->q.privs + i * q->q.slot_size;
}

static inline u32 nof_rdma_index(const struct nof_rdma_queue *q, const struct nof_rdma_slot *slot)
{
	return ((void *)slot - q->q.privs) / sizeof(*slot);
}

static inline bool nof_rdma_stopped(const struct nof_rdma_queue *q)
{
	return test_bit(NOF_RDMA_STOPPED, &q->flags);
}
/* Whether its DMA reaches PCI peer-to-peer memory, and that behind pages that stand for a GPU's */
bool nof_rdma_device_p2p(struct ib_device *dev);
bool nof_rdma_device_gpu(struct ib_device *dev);

/* cm.c: the connection manager. Process context, sleep; ended at once by stop_queue(), and by the queue's deadline. */
/* To the route: then the device is known. */
int nof_rdma_cm_resolve(struct nof_rdma_queue *q);
int nof_rdma_cm_connect(struct nof_rdma_queue *q);
void nof_rdma_cm_destroy(struct nof_rdma_queue *q);
/* Until @deadline, or the queue is stopped */
void nof_rdma_cm_rest(struct nof_rdma_queue *q, unsigned long deadline);

/* data.c: as the ops prepare() and release() */
int nof_rdma_data_prepare(struct nof_queue *queue, struct nof_cmd *cmd);
void nof_rdma_data_release(struct nof_queue *queue, struct nof_cmd *cmd);

/* send.c */
void nof_rdma_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
void nof_rdma_send_commit(struct nof_queue *queue);
/* All work requests up to @mark are done. Under cq_lock. */
void nof_rdma_send_known(struct nof_rdma_queue *q, u32 mark);
/* Posts the invalidations that were put into the chain for them. Under cq_lock. */
void nof_rdma_send_invs(struct nof_rdma_queue *q);

/* recv.c */
int nof_rdma_recv_init(struct nof_rdma_queue *q);
void nof_rdma_recv_event(struct ib_cq *cq, void *context);
int nof_rdma_recv_irq_poll(struct irq_poll *iop, int budget);
int nof_rdma_recv_poll(struct nof_queue *queue, struct nof_completed *done);
struct nof_cmd *nof_rdma_recv_detach(struct nof_queue *queue, struct nof_detach *d);
void nof_rdma_recv_vital(struct nof_queue *queue, struct nof_vital *v);
void nof_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void nof_rdma_reg_done(struct ib_cq *cq, struct ib_wc *wc);
void nof_rdma_inv_done(struct ib_cq *cq, struct ib_wc *wc);

#endif
