/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NVMe/TCP: one connection for each queue.
 *
 * Locking of a queue:
 * - The socket lock covers the receive side: phase, conf, rx, hold, acked. Softirqs, the poller and a sender that may
 *   not sleep (compat/sock_send.h) take its spinlock; other process context owns the socket.
 * - tx.lock covers the send side: tx. It is taken outside the socket lock. The receive side never takes it and only
 *   adds commands to send_list, which is lock-free.
 * - nof_tcp_recv_detach() holds both.
 * - A command belongs to the send side from llist_add() until its last byte is in a batch, then to the receive side.
 *   The receive side tells the two apart by the bytes that the peer's TCP has acknowledged, not by the PDUs that the
 *   peer sends: see nof_tcp_cmd.end_off. Over TLS, what counts are the bytes that TLS has encrypted or copied: it
 *   sends copies. The sender counts them when a call of sendmsg() has returned. An answer may arrive before: then
 *   recv_work waits for tx.lock, and handles it afterwards.
 * - Over TLS, the socket lock is not held to send: TLS takes it.
 */
#ifndef NOF_TCP_TCP_H
#define NOF_TCP_TCP_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/socket.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "compat/sock_send.h"
#include "core/addr.h"
#include "core/transport.h"
#include "tcp/pdu.h"

struct sk_buff;
struct sock;
struct socket;

/**
 * struct nof_tcp_cmd - transport part of a command
 * @node:	link in send_list, then in tx.pending
 * @cmd:	the command; valid while @node is in one of these lists
 * @data:	cursor at the next byte to send (write) or to receive (read)
 * @xfer:	progress of the data, kept by the receive side
 * @end_off:	stream offset behind the last byte to send for now; U64_MAX while unknown. A PDU for this command is
 *		accepted only once nof_tcp_queue.acked has come up to here
 * @r2t_off, @r2t_len, @r2t_tag: the R2T to serve; @r2t_len is 0 while the capsule is to be sent
 * @in_capsule:	the data are sent in the command capsule
 * @bad_digest:	a data digest did not match
 */
struct nof_tcp_cmd {
	struct llist_node	node;
	struct nof_cmd		*cmd;
	struct nof_data		data;
	struct nof_pdu_xfer	xfer;
	u64			end_off;
	u32			r2t_off;
	u32			r2t_len;
	u16			r2t_tag;
	bool			in_capsule;
	bool			bad_digest;
};

static inline struct nof_tcp_cmd *to_tcp_cmd(struct nof_cmd *cmd)
{
	return cmd->priv;
}

/* Tunables; values found by measurement */
enum {
	NOF_TCP_BVECS		= 256,		/* bvecs in one batch */
	NOF_TCP_PIECES		= 64,		/* runs of copied or spliced data in one batch */
	NOF_TCP_BATCH		= 16384,	/* bytes of memory of one batch; the rest is for headers, digests */
	NOF_TCP_SMALL_BVECS	= 16,		/* the same for the small batch that an idle queue keeps */
	NOF_TCP_SMALL_PIECES	= 8,
	NOF_TCP_SMALL		= 1024,
	NOF_TCP_BYTES		= NOF_SOCK_BYTES, /* in a batch, with headers; no data is added to the last page */
	/* page order of the chunks that hold copies of data: 32 KiB, or a page where these are larger */
	NOF_TCP_CHUNK		= PAGE_SHIFT < 15 ? 15 - PAGE_SHIFT : 0,
	NOF_TCP_INLINE		= 4,		/* batches at most that a task sends after it has queued a command */
	NOF_TCP_WORK_NS		= NSEC_PER_MSEC, /* time that send_work() sends before it yields */
	NOF_TCP_SPLICE_MIN	= 8192,		/* data of a PDU from which on splicing is cheaper than copying */
	NOF_TCP_TLS_SPLICE_MIN	= 16384,	/* the same over TLS: a record, which has to end with spliced data */
	NOF_TCP_HOLD		= 1048576,	/* received bytes that are held at most, see hold.c */
	NOF_TCP_TLS_READ	= 262144,	/* bytes that are decrypted under the socket lock in one go */
	NOF_TCP_PDU_ROOM	= 256,		/* upper bound of header, padding and digests of one PDU */
};

/* Run of bvecs in a batch that goes to the socket in one call */
struct nof_tcp_piece {
	u32	len;
	u16	nr_bvecs;
	bool	splice;
};

/* PDUs to be written to the socket, in one allocation */
struct nof_tcp_batch {
	u16			max_bvecs;
	u16			max_pieces;
	u16			max_headers;	/* bytes at @headers, for headers and digests */
	u8			*headers;
	struct nof_tcp_piece	*pieces;
	struct bio_vec		bvecs[];
};

/**
 * struct nof_tcp_copies - copies of the data in a batch, see copies.c
 * @chunks:	page allocations, linked by page.lru. The first is being filled, up to @used
 * @kept:	page of a queue with data digests, filled up to @kept_used: an empty batch has room for some data even
 *		without memory. Never spliced
 */
struct nof_tcp_copies {
	struct list_head	chunks;
	u32			used;
	u32			kept_used;
	struct page		*kept;
};

/**
 * struct nof_tcp_tx - send side
 * @batch:	batch being sent: @small, or a large one that is returned once it is sent
 * @nr_bvecs, @nr_pieces, @headers_len: filled part of @batch
 * @bytes:	bytes in @batch
 * @open_header: the last bvec holds headers, and the next header can extend it
 * @piece:	first piece not entirely sent
 * @iter:	unsent rest of @piece
 * @pending:	commands taken from send_list, oldest first
 * @cmd:	command of the current PDU while it has data to add
 * @data_left:	bytes of data to add to the current PDU
 * @r2t_left:	bytes to send in further PDUs for the same R2T
 * @crc:	of the data added to the current PDU
 * @copies:	used where @own is set
 * @splice:	TCP does not copy the data of the current PDU
 * @own:	what is sent of the current PDU's data is a copy in @copies
 * @copy:	never splice pages of a command: zero_copy is off, or the peer may be on this machine
 * @spliced:	pages of commands may have been passed to the socket
 * @offset:	stream offset of the next PDU
 * @taken:	bytes that TLS has taken
 * @blocked:	do not try to send: the socket has no room until send_work() runs, or @failed is set
 * @failed:	nothing is sent any more
 */
struct nof_tcp_tx {
	struct mutex		lock;
	struct nof_tcp_batch	*batch;
	struct nof_tcp_batch	*small;
	struct nof_tcp_copies	copies;
	u16			nr_bvecs;
	u16			nr_pieces;
	u16			headers_len;
	u32			bytes;
	bool			open_header;
	u16			piece;
	struct iov_iter		iter;
	struct llist_node	*pending;
	struct nof_cmd		*cmd;
	u32			data_left;
	u32			r2t_left;
	u32			crc;
	bool			splice;
	bool			own;
	bool			spliced;
	bool			copy;
	bool			blocked;
	bool			failed;
	u64			offset;
	u64			taken;
};

enum nof_tcp_rx_step { NOF_TCP_RX_HEADER, NOF_TCP_RX_DATA, NOF_TCP_RX_DIGEST };

/**
 * struct nof_tcp_rx - receive side
 * @step:	part of a PDU that comes next in the stream
 * @have:	bytes already in @buf or @digest
 * @want:	length of header and header digest; the minimum of all PDU types until @checked
 * @checked:	the common header has been checked
 * @flags:	of the C2HData being received
 * @padding:	bytes of it to receive before its data
 * @cmd:	its command
 * @left:	bytes of its data to receive
 * @crc:	of its data received so far
 * @deferred:	over TLS: the header refers to a command that nof_tcp_queue.acked does not cover yet. Nothing more is
 *		received until recv_work has waited for the sender
 * @synced:	set by recv_work when it has waited
 * @read:	what read_sock() of TLS has returned last. After 0 or an error other than -EAGAIN, nothing more is read
 *		until recv_work has handled that
 */
struct nof_tcp_rx {
	u8			step;
	u8			have;
	u8			want;
	bool			checked;
	bool			deferred;
	bool			synced;
	int			read;
	u8			flags;
	u8			padding;
	u32			left;
	u32			crc;
	struct nof_cmd		*cmd;
	__le32			digest;
	union {
		union nvme_tcp_pdu	pdu;
		struct nvme_tcp_hdr	hdr;
		struct nvme_tcp_term_pdu term;
		u8			buf[sizeof(union nvme_tcp_pdu) + NOF_PDU_DIGEST];
	};
};

/**
 * struct nof_tcp_hold - received bytes that were not yet reported to TCP as read, see hold.c
 * @bytes:	how many, from the socket's copied_seq on
 * @limit:	no more than these are left without an acknowledgement
 * @threshold:	up to which @limit doubles
 * @shift:	by how much @limit grows from there on: by @limit >> @shift
 * @last:	when data were received, in jiffies
 * @waited:	bytes that were unacknowledged when the timer released, until data arrive; 0 if it has not
 * @released:	when it did, ktime_get_ns()
 * @timer:	running while @timed
 * @seen:	rcv_nxt of the socket when the timer was started or last restarted
 */
struct nof_tcp_hold {
	u32			bytes;
	u32			limit;
	u32			threshold;
	u32			last;
	u32			waited;
	u64			released;
	u32			seen;
	u8			shift;
	bool			timed;
	struct hrtimer		timer;
};

enum nof_tcp_phase {
	NOF_TCP_CLOSED,		/* received data are not processed */
	NOF_TCP_CONNECTING,	/* waiting for the TCP handshake */
	NOF_TCP_ICREQ,		/* waiting for ICResp */
	NOF_TCP_UP,
};

enum { NOF_TCP_STOPPED };	/* bit of nof_tcp_queue.flags */

/**
 * struct nof_tcp_queue - queue
 * @flags:	NOF_TCP_STOPPED: set by stop_queue(), cleared by free_queue()
 * @sock:	set under publish_lock of queue.c, after everything else is initialised
 * @phase:	enum nof_tcp_phase
 * @hooked:	the socket's callbacks are those of this driver
 * @tls:	the connection is encrypted; constant while @hooked
 * @tls_setup:	the TLS handshake and its result, see tls.c. @ended: the agent has answered, with @status (negative
 *		errno or 0); @done: the callback for that has ended; @key: serial number of the key used; @tickets:
 *		session tickets received since; @at_once: the cipher decrypts without sleeping; @place: in
 *		tls_connects of the subsystem, its own until @place_end (jiffies)
 * @recv_work:	receives over TLS where that may not be possible in softirq
 * @acked:	bytes of the sent stream that the peer has acknowledged. Over TLS: that TLS has copied or encrypted,
 *		written under tx.lock
 * @una:	TCP sequence number behind them; without TLS
 * @received:	counters of the CPU that receives for the socket, at the last socket_vital()
 * @fault:	why receiving has failed, and the fields for the H2CTermReq; why is NULL while it has not
 */
struct nof_tcp_queue {
	struct nof_queue	q;
	unsigned long		flags;
	struct socket		*sock;
	u8			phase;
	bool			hooked;
	bool			tls;
	struct nof_pdu_conf	conf;
	struct nof_pdu_params	params;

	struct llist_head	send_list ____cacheline_aligned_in_smp;
	struct nof_tcp_tx	tx;
	struct work_struct	send_work;
	struct delayed_work	retry_work;

	u64			acked ____cacheline_aligned_in_smp;
	u32			una;
	struct nof_tcp_rx	rx;
	struct nof_tcp_hold	hold;
	struct nof_pdu_fault	fault;

	struct {
		struct completion done;
		bool		ended;
		int		status;
		s32		key;
		u32		tickets;
		bool		at_once;
		u32		place;
		long		place_end;
	} tls_setup;
	struct work_struct	recv_work;

	struct {
		unsigned int	processed;
		unsigned int	squeezed;
	} received;

	wait_queue_head_t	wait;
	void			(*old_data_ready)(struct sock *sk);
	void			(*old_write_space)(struct sock *sk);
	void			(*old_state_change)(struct sock *sk);
};

static inline struct nof_tcp_queue *to_tcp_queue(struct nof_queue *q)
{
	return container_of(q, struct nof_tcp_queue, q);
}

static inline bool nof_tcp_stopped(const struct nof_tcp_queue *q)
{
	return test_bit(NOF_TCP_STOPPED, &q->flags);
}

/* The core has given up the attempt to start this queue: waits end, with -ECANCELED */
static inline bool nof_tcp_given_up(const struct nof_tcp_queue *q)
{
	return nof_tcp_stopped(q) || test_bit(NOF_Q_DEAD, &q->q.flags);
}

/* icreq.c: ICReq, ICResp. Context: process, may sleep. */
int nof_tcp_handshake(struct nof_tcp_queue *q);
/* Handles ICResp. Caller holds the socket lock. */
bool nof_tcp_handshake_done(struct nof_tcp_queue *q, const struct nvme_tcp_icresp_pdu *pdu);

/* send.c */
extern struct workqueue_struct *nof_tcp_wq;	/* allocated and destroyed by queue.c */
/* Returns which side has ended the connection. @err: socket error, a positive errno or 0. */
enum nof_cause nof_tcp_cause(int err);
/* Updates q->acked from the socket. Caller holds the socket lock. */
void nof_tcp_count_acked(struct nof_tcp_queue *q);
/* Frees the cached batches. No queue may exist any more. */
void nof_tcp_batch_exit(void);
int nof_tcp_send_init(struct nof_tcp_queue *q);
void nof_tcp_send_exit(struct nof_tcp_queue *q);
void nof_tcp_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
void nof_tcp_send_commit(struct nof_queue *queue);
/* Queues the R2T recorded in the command for sending. Caller holds the socket lock. */
void nof_tcp_send_r2t(struct nof_tcp_queue *q, struct nof_cmd *cmd);
/* Waits until a sender that is at work has counted what it has sent. Must be called without the socket lock. */
void nof_tcp_send_sync(struct nof_tcp_queue *q);
/* Excludes senders: no command moves into a batch. Must be called without the socket lock. May sleep. */
void nof_tcp_send_lock(struct nof_tcp_queue *q);
void nof_tcp_send_unlock(struct nof_tcp_queue *q);
/* Takes a command off the send lists. False: it is already in a batch. Caller holds nof_tcp_send_lock(). */
bool nof_tcp_send_withdraw(struct nof_tcp_queue *q, struct nof_cmd *cmd);
/* Sends one PDU of the handshake. Context: process. */
int nof_tcp_send_pdu(struct nof_tcp_queue *q, const void *pdu, u32 len);
/*
 * Ends all sending: when it returns, no sender uses the socket, and none will. Sends H2CTermReq if the target broke
 * the protocol. May sleep.
 */
void nof_tcp_send_stop(struct nof_tcp_queue *q);
/* Schedules @work on the CPU of the queue. Context: any. */
void nof_tcp_queue_work(struct nof_tcp_queue *q, struct work_struct *work);
/* Schedules send_work(): the socket has room again, or no sender is active. Context: any. */
void nof_tcp_send_wake(struct nof_tcp_queue *q);

/* recv.c */
/* struct nof_transport.detach. Must be called without the socket lock. */
struct nof_cmd *nof_tcp_recv_detach(struct nof_queue *queue, struct nof_detach *d);
void nof_tcp_recv_init(struct nof_tcp_queue *q);
/*
 * Processes the data in the socket; returns how many commands completed. The caller ends @done. Caller holds the socket
 * lock.
 */
int nof_tcp_recv(struct nof_tcp_queue *q, struct nof_completed *done);
int nof_tcp_recv_poll(struct nof_queue *queue, struct nof_completed *done);

/* copies.c. Context: process. */
/* @keep: copies are always needed, so one page is kept for progress without memory. False: no memory. May sleep */
bool nof_tcp_copies_init(struct nof_tcp_copies *copies, bool keep, int node);
void nof_tcp_copies_exit(struct nof_tcp_copies *copies);
/* The batch has been sent, or will not be */
void nof_tcp_copies_reset(struct nof_tcp_copies *copies);
/*
 * Sets @bv to room for up to @len bytes, and clears @splice if it must be copied by TCP. False: there is no memory now.
 */
bool nof_tcp_copies_room(struct nof_tcp_copies *copies, u32 len, struct bio_vec *bv, bool *splice);
int nof_tcp_pools_init(void);
void nof_tcp_pools_exit(void);

/* hold.c */
/* For a new connection */
void nof_tcp_hold_init(struct nof_tcp_queue *q);
/* No data are received any more: stops the timer. Must be called without the socket lock. May sleep. */
void nof_tcp_hold_stop(struct nof_tcp_queue *q);
/*
 * The receiver has processed @n more bytes of the socket's receive queue. Reports them to TCP as read now, or later.
 * Caller holds the socket lock.
 */
void nof_tcp_hold(struct nof_tcp_queue *q, u32 n);

/* crc.c: CRC-32C of the digests. Start with NOF_TCP_CRC_INIT, finish with nof_tcp_crc_final(). */
#define NOF_TCP_CRC_INIT	(~0U)
u32 nof_tcp_crc(u32 crc, const void *buf, u32 len);
u32 nof_tcp_crc_skb(u32 crc, struct sk_buff *skb, u32 offset, u32 len);

static inline __le32 nof_tcp_crc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

static inline __le32 nof_tcp_digest(const void *buf, u32 len)
{
	return nof_tcp_crc_final(nof_tcp_crc(NOF_TCP_CRC_INIT, buf, len));
}

#endif
