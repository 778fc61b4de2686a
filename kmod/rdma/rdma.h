/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NVMe/RDMA: one reliable connection, with a protection domain of its own, for each queue. (NVMe RDMA Transport 1.0)
 *
 * Locking of a queue:
 * - cq_lock covers the receive side: the completion queue, receives, and slots once they are posted.
 * - sq_lock covers the send queue: the chain of work requests and their counts. It nests inside cq_lock.
 * - A slot belongs to the submitter of its command until the command is in the chain, then to the receive side.
 * A key that the target has received is valid in the protection domain of this queue only, that is, on this
 * connection: no target can use it after the connection has ended.
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

/* Page size of memory regions, independent of PAGE_SIZE */
#define NOF_RDMA_UNIT	(1U << 12)

/* Tunables */
enum {
	NOF_RDMA_INLINE		= 4,		/* maximum pieces of data in a capsule */
	NOF_RDMA_SGS		= 4,		/* scatterlist entries embedded in a slot */
	NOF_RDMA_SMALL		= 33,		/* pages of a slot's own memory region: 128 KiB at any page offset */
	NOF_RDMA_LARGE		= 257,		/* pages of a shared memory region: 1 MiB */
	NOF_RDMA_LARGE_PART	= 4,		/* outstanding commands for each shared region */
	NOF_RDMA_SIGNAL		= 16,		/* at least one of this many commands is signalled */
	NOF_RDMA_REAP		= 32,		/* completions between two reposts of receives */
};

/* Maximum work requests of a command. Room for its invalidation is reserved separately. */
#define NOF_RDMA_WQES	2

/**
 * struct nof_rdma_device - an RDMA device
 * @dev:	the device
 * @queues:	queues with a connection on it; under @lock
 * @gone:	the device is being removed: no queue joins any more; under @lock
 * @handler:	handler of its asynchronous events
 */
struct nof_rdma_device {
	struct list_head	entry;
	struct ib_device	*dev;
	spinlock_t		lock;
	struct list_head	queues;
	bool			gone;
	struct ib_event_handler	handler;
};

/* Events that a slot waits for before its command completes */
enum {
	NOF_RDMA_RESPONSE	= BIT(0),
	NOF_RDMA_SEND		= BIT(1),	/* send completion: until then its data may be retransmitted */
	NOF_RDMA_INVALIDATE	= BIT(2),	/* local invalidation of the key */
};

enum nof_rdma_mapped { NOF_RDMA_NOTHING, NOF_RDMA_CAPSULE, NOF_RDMA_KEYED };

/**
 * struct nof_rdma_slot - transport part of a command, see nof_cmd.priv
 * @send_cqe, @reg_cqe, @inv_cqe: completion handlers of these work requests
 * @small:	memory region of the slot
 * @mr:		region in use: @small, or a shared one
 * @table:	scatterlist of the data; @first has room for a few pieces
 * @nr_mapped:	number of pieces passed to the DMA mapping
 * @gpu:	provider that has mapped the data if they are in GPU memory; referenced
 * @bounce:	contiguous copy of the data, if no memory region can map those of the request
 * @mapped:	enum nof_rdma_mapped
 * @registered:	the target may use the key
 * @detaching:	nof_rdma_recv_detach() waits for the invalidation
 * @waits:	events to wait for, see above; 0 between commands
 * @mark, @inv_mark: value of q->posted after its send, and after its invalidation
 * @key:	key sent to the target; 0 for none
 * @status, @result: of the response, valid once that has arrived
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
	u64	maps;		/* commands with data mapped for DMA */
	u64	regs;
	u64	cqes;
	u64	invs;		/* local ones */
	u64	remote_invs;
};

enum {
	NOF_RDMA_STOPPED,	/* set by stop_queue(), cleared by free_queue() */
	NOF_RDMA_READY,		/* the queue pair may carry traffic: set under ready_lock of queue.c */
	NOF_RDMA_DRAINED,
};

/**
 * struct nof_rdma_queue - queue
 * @flags:	NOF_RDMA_STOPPED and so on
 * @rdev, @entry: the device, and the link in its list of queues
 * @port:	port of the device
 * @port_err:	-ENETDOWN while the port has no link, else 0
 * @step:	enum nof_rdma_cm_step, set by the CM event handler, which wakes waiters by wake_up_var()
 * @cm_err:	with NOF_RDMA_CM_FAILED, negative errno; -EAGAIN: retry soon
 * @dim, @moderated: interrupt moderation, if the device supports it
 * @inline_room: maximum bytes of data in a capsule
 * @inline_sges: maximum pieces of data in a capsule
 * @sqes:	submission queue entries by slot, mapped at @sqes_dma
 * @resps:	completion queue entries by receive, mapped at @resps_dma
 * @recvs:	array of @nr_recvs receives
 * @large:	free shared memory regions, linked by ib_mr.qp_entry; under @large_lock
 * @has_large:	there are shared memory regions
 * @max_wrs:	work requests that the send queue can hold
 * @head, @tail: chain of work requests not posted yet
 * @wqes:	work requests not known to be complete, and those reserved for prepared commands
 * @posted:	total of work requests, chained ones included
 * @unsignalled: commands since the last signalled one
 * @done:	number of @posted that are known to be complete
 * @repost:	chain of receives to be posted
 * @inv_head, @inv_tail: chain of invalidations to be posted
 * @events, @seen: number of completion events, and its value when the completion queue was last found empty
 * @detach_not_before: jiffies; no command with a registered key is detached before, as an invalidation timed out
 * @heard_at:	jiffies; time of the last acknowledgement or response
 * @owed:	signalled sends that have not completed
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
	unsigned long		detach_not_before;
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
/* Whether the device's DMA reaches PCI peer-to-peer memory, and GPU memory (core/direct.h) */
bool nof_rdma_device_p2p(struct ib_device *dev);
bool nof_rdma_device_gpu(struct ib_device *dev);

/*
 * cm.c: the connection manager. Context: process, may sleep. Waits end at once on stop_queue(), and at the queue's
 * deadline.
 */
/* Resolves address and route: then the device is known. */
int nof_rdma_cm_resolve(struct nof_rdma_queue *q);
int nof_rdma_cm_connect(struct nof_rdma_queue *q);
void nof_rdma_cm_destroy(struct nof_rdma_queue *q);
/* Waits until @deadline, or until the queue is stopped or has failed */
void nof_rdma_cm_sleep(struct nof_rdma_queue *q, unsigned long deadline);

/* data.c: struct nof_transport.prepare and .release */
int nof_rdma_data_prepare(struct nof_queue *queue, struct nof_cmd *cmd);
void nof_rdma_data_release(struct nof_queue *queue, struct nof_cmd *cmd);

/* send.c */
void nof_rdma_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
void nof_rdma_send_commit(struct nof_queue *queue);
/* All work requests up to @mark are complete. Caller holds cq_lock. */
void nof_rdma_send_completed_up_to(struct nof_rdma_queue *q, u32 mark);
/* Posts the chained invalidations. Caller holds cq_lock. */
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
