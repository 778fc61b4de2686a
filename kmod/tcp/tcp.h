/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NVMe/TCP: one connection for each queue.
 *
 * Who may touch what of a queue:
 * - The socket lock (slock in softirq and poller, and in a sender that may not sleep: compat/sock_send.h; or owned by a
 *   sender or stop) covers the receive side: phase, conf, rx, acked.
 * - tx.lock covers the send side: tx. It is taken outside the socket lock; the receive side never takes it, it only
 *   puts commands on send_list, which is lock-free.
 * - nof_tcp_recv_detach() has both.
 * - A command belongs to the send side from llist_add() until its last byte is in a batch, and to the receive side
 *   after that. What the peer has acknowledged tells the receive side which it is, whatever the peer says: see
 *   nof_tcp_cmd.end_off.
 */
#ifndef NOF_TCP_TCP_H
#define NOF_TCP_TCP_H

#include <linux/bvec.h>
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
 * struct nof_tcp_cmd - our part of a command
 * @node:	in send_list, or in tx.pending
 * @cmd:	whose slot this is while it is in one of them
 * @data:	a write: the next byte to send; a read: the next to receive
 * @xfer:	how far the receive side has granted or got data
 * @end_off:	stream offset behind the last byte we have to send for now; U64_MAX while that is not known. A PDU for
 *		this command is legal only when the peer has acknowledged that much
 * @r2t_off, @r2t_len, @r2t_tag: the R2T to serve; @r2t_len is 0 before the capsule is sent
 * @in_capsule:	the data go with the command
 * @bad_digest:	a data digest was wrong
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

/* Tunables, by measurement */
enum {
	NOF_TCP_BVECS		= 256,		/* pieces of data in one batch */
	NOF_TCP_PIECES		= 64,		/* changes between copied and spliced data in one batch */
	NOF_TCP_BATCH		= 16384,	/* bytes of memory for one batch: the rest is for headers, digests */
	NOF_TCP_SMALL_BVECS	= 16,		/* the same of what an idle queue keeps */
	NOF_TCP_SMALL_PIECES	= 8,
	NOF_TCP_SMALL		= 1024,
	NOF_TCP_BYTES		= NOF_SOCK_BYTES, /* of all that is in one batch, from which on no data is added */
	NOF_TCP_CHUNK		= 3,		/* pages, as a power of two, that copies of data are put into */
	NOF_TCP_INLINE		= 4,		/* batches that a task sends which has queued a command */
	NOF_TCP_WORK_NS		= NSEC_PER_MSEC, /* for which the worker sends before it gives way */
	NOF_TCP_SPLICE_MIN	= 4096,		/* data of a PDU from which on splicing is cheaper than copying */
	NOF_TCP_PDU_ROOM	= 256,		/* more than the header, padding and digests of one PDU */
};

/* Part of a batch that goes to the socket in one call */
struct nof_tcp_piece {
	u32	len;
	u16	nr_bvecs;
	bool	splice;
};

/* PDUs on their way into the socket: memory for them, in one piece */
struct nof_tcp_batch {
	u16			max_bvecs;
	u16			max_pieces;
	u16			max_headers;	/* bytes, of headers and digests */
	u8			*headers;
	struct nof_tcp_piece	*pieces;
	struct bio_vec		bvecs[];
};

/**
 * struct nof_tcp_copies - of data in a batch that have a digest: pages that their owner changes meanwhile would go out
 * with the digest of what they were
 * @chunks:	of pages, by lru. The first is a page that the queue keeps, so that there always is one
 * @chunk:	being filled, up to @used
 */
struct nof_tcp_copies {
	struct list_head	chunks;
	struct page		*chunk;
	u32			used;
};

/**
 * struct nof_tcp_tx - send side
 * @batch:	what is being sent: @small, or a large one that goes back when it is
 * @nr_bvecs, @nr_pieces, @headers_len: filled of it
 * @bytes:	in it
 * @open_header: the last bvec ends where the next header will begin
 * @piece:	the first piece not entirely sent
 * @iter:	what is left of it
 * @pending:	commands taken from send_list, oldest first
 * @cmd:	whose PDU is being put together, with data still to come
 * @data_left:	bytes of data to come in this PDU
 * @r2t_left:	bytes to come in further PDUs for the same R2T
 * @crc:	of the data in this PDU up to here
 * @copies:	with data digests
 * @splice:	do not copy the data of this PDU
 * @copy:	never splice: the peer is on this machine
 * @spliced:	pages of commands were given to the socket at some time
 * @offset:	in the stream, of the next PDU
 * @blocked:	no use to try: no room in the socket until send_work runs, or nothing will be sent any more
 * @failed:	nothing will be sent any more
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
	bool			spliced;
	bool			copy;
	bool			blocked;
	bool			failed;
	u64			offset;
};

enum nof_tcp_rx_step { NOF_TCP_RX_HEADER, NOF_TCP_RX_DATA, NOF_TCP_RX_DIGEST };

/**
 * struct nof_tcp_rx - receive side
 * @step:	what comes next in the stream
 * @have:	bytes of @buf, or of @digest, there already
 * @want:	bytes of header and its digest; the smallest of any PDU until it is known
 * @checked:	the common header has been looked at
 * @flags:	of the C2HData being received
 * @padding:	bytes to come before its data
 * @cmd:	its command
 * @left:	bytes of its data to come
 * @crc:	of its data up to here
 */
struct nof_tcp_rx {
	u8			step;
	u8			have;
	u8			want;
	bool			checked;
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

enum nof_tcp_phase {
	NOF_TCP_CLOSED,		/* nothing received is looked at */
	NOF_TCP_CONNECTING,	/* waiting for the handshake of TCP */
	NOF_TCP_ICREQ,		/* waiting for ICResp */
	NOF_TCP_UP,
};

enum { NOF_TCP_STOPPED };	/* bit of nof_tcp_queue.flags */

/**
 * struct nof_tcp_queue - queue
 * @flags:	NOF_TCP_STOPPED: stop_queue() was called; from then until free_queue()
 * @sock:	published under publish_lock of main.c, when everything else is initialised
 * @phase:	enum nof_tcp_phase
 * @hooked:	the callbacks of the socket are ours
 * @acked:	bytes of our stream that the peer has acknowledged
 * @una:	the TCP sequence number behind them
 * @received:	what the CPU that receives for the socket had done when socket_vital() was called last
 * @fault:	what the target did wrong, for the H2CTermReq; why is NULL when nothing
 */
struct nof_tcp_queue {
	struct nof_queue	q;
	unsigned long		flags;
	struct socket		*sock;
	u8			phase;
	bool			hooked;
	struct nof_pdu_conf	conf;
	struct nof_pdu_params	params;

	struct llist_head	send_list ____cacheline_aligned_in_smp;
	struct nof_tcp_tx	tx;
	struct work_struct	send_work;
	struct delayed_work	retry_work;

	u64			acked ____cacheline_aligned_in_smp;
	u32			una;
	struct nof_tcp_rx	rx;
	struct nof_pdu_fault	fault;

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

/* handshake.c: ICReq, ICResp. Context: process, sleeps. */
int nof_tcp_handshake(struct nof_tcp_queue *q);
/* Context: receive side. */
bool nof_tcp_handshake_done(struct nof_tcp_queue *q, const struct nvme_tcp_icresp_pdu *pdu);

/* send.c */
extern struct workqueue_struct *nof_tcp_wq;	/* made and ended by main.c */
/* Of an error of the socket, positive or 0: who has ended the connection */
enum nof_cause nof_tcp_cause(int err);
/* Takes into account what the peer has acknowledged since. Under the socket lock. */
void nof_tcp_count_acked(struct nof_tcp_queue *q);
/* Those that are kept for who comes next: no queue is left. */
void nof_tcp_batch_exit(void);
int nof_tcp_send_init(struct nof_tcp_queue *q);
void nof_tcp_send_exit(struct nof_tcp_queue *q);
void nof_tcp_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last);
void nof_tcp_send_commit(struct nof_queue *queue);
/* Serves the R2T noted in the command. Context: receive side. */
void nof_tcp_send_r2t(struct nof_tcp_queue *q, struct nof_cmd *cmd);
/* Nobody sends, and no command passes from those that wait to those that are sent. Outside the socket lock. Sleeps. */
void nof_tcp_send_lock(struct nof_tcp_queue *q);
void nof_tcp_send_unlock(struct nof_tcp_queue *q);
/* Under that lock: takes back a command of which no byte was put into a batch. False: it is on its way there. */
bool nof_tcp_send_withdraw(struct nof_tcp_queue *q, struct nof_cmd *cmd);
/* A PDU of the handshake, whole. Context: process. */
int nof_tcp_send_pdu(struct nof_tcp_queue *q, const void *pdu, u32 len);
/*
 * Ends all sending: no sender is in the socket any more, nor will be. With a last word to the target if it broke the
 * protocol.
 */
void nof_tcp_send_stop(struct nof_tcp_queue *q);
/* The worker is to go on: there is room in the socket again, or nobody else sends. Context: any. */
void nof_tcp_send_wake(struct nof_tcp_queue *q);

/* recv.c. Context: the socket lock of the queue is held, in softirq or by the caller. */
/* As the op. Context: process, without the lock. */
struct nof_cmd *nof_tcp_recv_detach(struct nof_queue *queue, struct nof_detach *d);
void nof_tcp_recv_init(struct nof_tcp_queue *q);
/* Takes in what is there; returns how many commands completed. The caller ends @done. */
int nof_tcp_recv(struct nof_tcp_queue *q, struct nof_completed *done);
int nof_tcp_recv_poll(struct nof_queue *queue, struct nof_completed *done);

/* digest.c: CRC-32C as the digests use it. Begin with NOF_TCP_CRC_INIT, end with nof_tcp_crc_final(). */
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
