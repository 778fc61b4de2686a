// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending. A task that has queued a command and finds no other sender sends everything queued, up to a bound. Commands
 * are made into one batch of PDUs. Each run of copied bvecs (headers, small data) and each run of spliced ones goes to
 * the socket in one call. Nothing here waits for the network: write_space() schedules send_work() for the rest.
 */
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>
#include <net/tcp.h>
#include "compat/sock_send.h"
#include "tcp/tcp.h"
#include "tcp/tls.h"

/*
 * Memory of batches. A machine may have a hundred thousand connections, nearly all of them idle. So each keeps a batch
 * for a few commands only, and a sender takes a large one, which its CPU then caches for the next sender.
 */
static DEFINE_PER_CPU(struct nof_tcp_batch *, batch_kept);

#define BATCH_HEADERS(bytes, bvecs, pieces)							\
	((bytes) - sizeof(struct nof_tcp_batch) - (bvecs) * sizeof(struct bio_vec) -		\
	 (pieces) * sizeof(struct nof_tcp_piece))

static_assert(BATCH_HEADERS(NOF_TCP_SMALL, NOF_TCP_SMALL_BVECS, NOF_TCP_SMALL_PIECES) >= 2 * NOF_TCP_PDU_ROOM);

/* Headers are sent as pages, so no vmalloc. */
static struct nof_tcp_batch *batch_alloc(u32 bytes, u16 bvecs, u16 pieces, gfp_t gfp, int node)
{
	struct nof_tcp_batch *b = kmalloc_node(bytes, gfp, node);

	if (!b)
		return NULL;
	b->max_bvecs = bvecs;
	b->max_pieces = pieces;
	b->max_headers = BATCH_HEADERS(bytes, bvecs, pieces);
	b->pieces = (void *)&b->bvecs[bvecs];
	b->headers = (void *)&b->pieces[pieces];
	return b;
}

/* Returns a large batch, or NULL without memory. tx_release_batch() returns it when all of it is sent. Context: any. */
static struct nof_tcp_batch *batch_cache_get(void)
{
	return this_cpu_xchg(batch_kept, NULL) ?:
	       batch_alloc(NOF_TCP_BATCH, NOF_TCP_BVECS, NOF_TCP_PIECES, GFP_NOWAIT | __GFP_NOWARN, NUMA_NO_NODE);
}

static void batch_cache_put(struct nof_tcp_batch *batch)
{
	kfree(this_cpu_xchg(batch_kept, batch));
}

void nof_tcp_batch_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu(batch_kept, cpu));
}

struct workqueue_struct *nof_tcp_wq;

#define CMD_HLEN	sizeof(struct nvme_tcp_cmd_pdu)
#define DATA_HLEN	sizeof(struct nvme_tcp_data_pdu)
#define NO_MEMORY_DELAY	msecs_to_jiffies(10)	/* delay before a send that failed for lack of it is retried */

static_assert(NOF_TCP_PDU_ROOM >= CMD_HLEN + NOF_PDU_DIGEST + NOF_PDU_MAX_ALIGN + NOF_PDU_DIGEST);
static_assert(CMD_HLEN == 72 && DATA_HLEN == 24);

/* A reset comes from the peer. A timeout, a missing route, or a firewall's answer comes from the network. */
enum nof_cause nof_tcp_cause(int err)
{
	return !err || err == ECONNRESET || err == EPIPE ? NOF_CAUSE_PEER : NOF_CAUSE_NETWORK;
}

void nof_tcp_count_acked(struct nof_tcp_queue *q)
{
	u32 una = tcp_sk(q->sock->sk)->snd_una;

	q->acked += una - q->una;
	q->una = una;
}

/*
 * The batch. Appending is possible only while nothing of it has been sent.
 */

static struct nof_tcp_piece *open_piece(struct nof_tcp_tx *tx, bool splice)
{
	struct nof_tcp_piece *p = &tx->batch->pieces[tx->nr_pieces];

	if (tx->nr_pieces && p[-1].splice == splice)
		return p - 1;
	*p = (struct nof_tcp_piece){ .splice = splice };
	tx->nr_pieces++;
	return p;
}

static void append_bvec(struct nof_tcp_tx *tx, const struct bio_vec *bv, bool splice)
{
	struct nof_tcp_piece *p = open_piece(tx, splice);

	tx->batch->bvecs[tx->nr_bvecs++] = *bv;
	tx->bytes += bv->bv_len;
	p->nr_bvecs++;
	p->len += bv->bv_len;
	tx->open_header = false;
}

/* Successive copies in a chunk share a bvec. */
static void append_copy(struct nof_tcp_tx *tx, const struct bio_vec *bv, bool splice)
{
	struct nof_tcp_piece *p = tx->nr_pieces ? &tx->batch->pieces[tx->nr_pieces - 1] : NULL;
	struct bio_vec *last = tx->nr_bvecs ? &tx->batch->bvecs[tx->nr_bvecs - 1] : NULL;

	if (!last || p->splice != splice || last->bv_page != bv->bv_page ||
	    last->bv_offset + last->bv_len != bv->bv_offset) {
		append_bvec(tx, bv, splice);
		return;
	}
	last->bv_len += bv->bv_len;
	p->len += bv->bv_len;
	tx->bytes += bv->bv_len;
}

/* Reserves @len bytes that the caller fills in. Successive headers share a bvec. */
static void *append_header(struct nof_tcp_tx *tx, u32 len)
{
	void *p = &tx->batch->headers[tx->headers_len];
	struct bio_vec bv;

	tx->headers_len += len;
	if (tx->open_header) {
		tx->batch->bvecs[tx->nr_bvecs - 1].bv_len += len;
		tx->bytes += len;
		tx->batch->pieces[tx->nr_pieces - 1].len += len;
	} else {
		bvec_set_page(&bv, virt_to_page(p), len, offset_in_page(p));
		append_bvec(tx, &bv, false);
		tx->open_header = true;
	}
	return p;
}

static bool room_for_pdu(const struct nof_tcp_tx *tx)
{
	const struct nof_tcp_batch *b = tx->batch;

	return tx->headers_len + NOF_TCP_PDU_ROOM <= b->max_headers && tx->nr_bvecs + 3 <= b->max_bvecs &&
	       tx->nr_pieces + 3 <= b->max_pieces;
}

/* One bvec and one piece are reserved for the data digest. */
static bool room_for_data(const struct nof_tcp_tx *tx)
{
	const struct nof_tcp_batch *b = tx->batch;

	return tx->nr_bvecs + 1 < b->max_bvecs && tx->nr_pieces + 1 < b->max_pieces &&
	       tx->bytes + PAGE_SIZE <= NOF_TCP_BYTES;
}

/* Nothing of the batch is in use any more */
static void tx_release_batch(struct nof_tcp_tx *tx)
{
	nof_tcp_copies_reset(&tx->copies);
	if (tx->batch == tx->small)
		return;
	batch_cache_put(tx->batch);
	tx->batch = tx->small;
}

static void reset_batch(struct nof_tcp_tx *tx)
{
	tx->nr_bvecs = 0;
	tx->nr_pieces = 0;
	tx->headers_len = 0;
	tx->bytes = 0;
	tx->open_header = false;
	tx->piece = 0;
	nof_tcp_copies_reset(&tx->copies);
}

static void load_piece(struct nof_tcp_tx *tx, u32 first_bvec)
{
	const struct nof_tcp_piece *p = &tx->batch->pieces[tx->piece];

	iov_iter_bvec(&tx->iter, ITER_SOURCE, &tx->batch->bvecs[first_bvec], p->nr_bvecs, p->len);
}

/*
 * Building PDUs in the batch
 */

static u32 data_offset(const struct nof_tcp_queue *q, u32 hlen)
{
	u32 pdo = hlen + (q->conf.hdr_digest ? NOF_PDU_DIGEST : 0);
	u32 align = q->params.align;

	return align == 4 ? pdo : roundup(pdo, align);
}

static u32 data_digest_len(const struct nof_tcp_queue *q)
{
	return q->conf.data_digest ? NOF_PDU_DIGEST : 0;
}

/* Appends header digest and padding, up to @len, to a complete header. */
static void finish_header(struct nof_tcp_queue *q, struct nvme_tcp_hdr *hdr, u32 len)
{
	void *p = hdr;
	u32 used = hdr->hlen;

	if (q->conf.hdr_digest) {
		hdr->flags |= NVME_TCP_F_HDGST;
		*(__le32 *)(p + used) = nof_tcp_digest(p, used);
		used += NOF_PDU_DIGEST;
	}
	if (used < len)
		memset(p + used, 0, len - used);
}

static void begin_data(struct nof_tcp_queue *q, struct nof_cmd *cmd, u32 len)
{
	struct nof_tcp_tx *tx = &q->tx;
	bool large = len >= (q->tls ? NOF_TCP_TLS_SPLICE_MIN : NOF_TCP_SPLICE_MIN);

	tx->cmd = cmd;
	tx->data_left = len;
	tx->crc = NOF_TCP_CRC_INIT;
	tx->own = q->conf.data_digest || (large && tx->copy && !q->tls);
	if (tx->own)
		tx->splice = large && !q->tls; /* TLS encrypts into memory of its own */
	else
		/* with protection information, of which no page can be spliced, each block would take two calls */
		tx->splice = large && !tx->copy && !cmd->pi_bytes;
}

/*
 * From here on the target may answer. An answer is accepted only once the peer has acknowledged the stream up to
 * end_off, which covers every byte that is still to be read for sending.
 */
static void mark_sent(struct nof_tcp_queue *q, struct nof_cmd *cmd, u64 len)
{
	q->tx.offset += len;
	WRITE_ONCE(to_tcp_cmd(cmd)->end_off, q->tx.offset);
	smp_store_release(&cmd->state, NOF_CMD_SENT);
}

static void append_capsule(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);
	u32 len = tc->in_capsule ? cmd->len : 0;
	u32 start = len ? data_offset(q, CMD_HLEN) : CMD_HLEN + (q->conf.hdr_digest ? NOF_PDU_DIGEST : 0);
	u32 plen = start + len + (len ? data_digest_len(q) : 0);
	struct nvme_tcp_cmd_pdu *pdu = append_header(&q->tx, start);

	pdu->hdr.type = nvme_tcp_cmd;
	pdu->hdr.flags = len && q->conf.data_digest ? NVME_TCP_F_DDGST : 0;
	pdu->hdr.hlen = CMD_HLEN;
	pdu->hdr.pdo = len ? start : 0;
	pdu->hdr.plen = cpu_to_le32(plen);
	pdu->cmd = cmd->sqe;
	finish_header(q, &pdu->hdr, start);

	q->tx.r2t_left = 0;
	if (len) {
		nof_data_init(&tc->data, cmd, ITER_SOURCE);
		begin_data(q, cmd, len);
	}
	mark_sent(q, cmd, plen);
}

static void put_h2c_data(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);
	u32 len = min(q->tx.r2t_left, q->params.maxh2cdata);
	u32 start = data_offset(q, DATA_HLEN);
	struct nvme_tcp_data_pdu *pdu = append_header(&q->tx, start);

	pdu->hdr.type = nvme_tcp_h2c_data;
	pdu->hdr.flags = (len == q->tx.r2t_left ? NVME_TCP_F_DATA_LAST : 0) |
			 (q->conf.data_digest ? NVME_TCP_F_DDGST : 0);
	pdu->hdr.hlen = DATA_HLEN;
	pdu->hdr.pdo = start;
	pdu->hdr.plen = cpu_to_le32(start + len + data_digest_len(q));
	pdu->command_id = cmd->sqe.common.command_id;
	pdu->ttag = tc->r2t_tag;
	pdu->data_offset = cpu_to_le32(tc->r2t_off + tc->r2t_len - q->tx.r2t_left);
	pdu->data_length = cpu_to_le32(len);
	memset(pdu->rsvd, 0, sizeof(pdu->rsvd));
	finish_header(q, &pdu->hdr, start);

	q->tx.r2t_left -= len;
	begin_data(q, cmd, len);
}

static void put_first_h2c_data(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);
	u64 pdus = DIV_ROUND_UP(tc->r2t_len, q->params.maxh2cdata);

	if (!tc->r2t_off)
		nof_data_init(&tc->data, cmd, ITER_SOURCE);
	q->tx.r2t_left = tc->r2t_len;
	put_h2c_data(q, cmd);
	mark_sent(q, cmd, tc->r2t_len + pdus * (data_offset(q, DATA_HLEN) + data_digest_len(q)));
}

/* Checks from the start of the first page: sendpages_ok() counts pages by the length and could miss the last one */
static bool may_splice(const struct bio_vec *bv)
{
	return sendpages_ok(bv->bv_page + (bv->bv_offset >> PAGE_SHIFT), offset_in_page(bv->bv_offset) + bv->bv_len, 0);
}

static void copy_pages(void *to, struct page *page, u32 offset, u32 len)
{
	u32 n;

	page += offset >> PAGE_SHIFT;
	offset = offset_in_page(offset);
	for (; len; page++, offset = 0, to += n, len -= n) {
		n = min_t(u32, len, PAGE_SIZE - offset);
		if (n == PAGE_SIZE && PAGE_ALIGNED(to)) {
			void *from = kmap_local_page(page);

			copy_page(to, from);
			kunmap_local(from);
		} else {
			memcpy_from_page(to, page, offset, n);
		}
	}
}

/*
 * Appends a copy of the beginning of @from, and adds the data to the digest. Returns the length of the copy; 0: there
 * is no memory for it
 */
static u32 append_own(struct nof_tcp_queue *q, const struct bio_vec *from)
{
	struct nof_tcp_tx *tx = &q->tx;
	bool splice = tx->splice;
	struct bio_vec bv;

	if (!nof_tcp_copies_room(&tx->copies, from->bv_len, &bv, &splice))
		return 0;
	copy_pages(bvec_virt(&bv), from->bv_page, from->bv_offset, bv.bv_len);
	if (q->conf.data_digest)
		tx->crc = nof_tcp_crc(tx->crc, bvec_virt(&bv), bv.bv_len);
	append_copy(tx, &bv, splice);
	return bv.bv_len;
}

static bool put_data_piece(struct nof_tcp_queue *q, struct nof_data *d)
{
	struct nof_tcp_tx *tx = &q->tx;
	const struct bio_vec *from = d->iter.bvec;
	struct bio_vec bv;
	u32 n;

	n = min_t(size_t, from->bv_len - d->iter.iov_offset, iov_iter_count(&d->iter));
	/* the next batch begins with a whole page, which is copied faster */
	n = min3(n, tx->data_left, (u32)round_down(NOF_TCP_BYTES - tx->bytes, PAGE_SIZE));
	bv = (struct bio_vec){ from->bv_page, n, from->bv_offset + d->iter.iov_offset };
	if (tx->own) {
		u32 copied = append_own(q, &bv);

		if (!copied && q->conf.data_digest)
			return false;
		if (copied)
			n = copied;
		else
			append_bvec(tx, &bv, false); /* TCP copies */
	} else {
		bool splice = tx->splice && may_splice(&bv);

		tx->spliced |= splice;
		append_bvec(tx, &bv, splice);
	}

	iov_iter_advance(&d->iter, n);
	nof_data_consumed(d, n);
	tx->data_left -= n;
	return true;
}

/* Returns false if the batch is full, or memory is short, before the PDU is complete. */
static bool append_data(struct nof_tcp_queue *q)
{
	struct nof_tcp_tx *tx = &q->tx;
	struct nof_data *d = &to_tcp_cmd(tx->cmd)->data;

	while (tx->data_left && room_for_data(tx)) {
		if (WARN_ON_ONCE(!iov_iter_count(&d->iter)) || !put_data_piece(q, d))
			return false;
	}
	if (tx->data_left)
		return false;
	if (q->conf.data_digest)
		*(__le32 *)append_header(tx, NOF_PDU_DIGEST) = nof_tcp_crc_final(tx->crc);
	return true;
}

static struct nof_cmd *next_cmd(struct nof_tcp_queue *q)
{
	struct nof_tcp_tx *tx = &q->tx;
	struct llist_node *n;

	if (!tx->pending)
		tx->pending = llist_reverse_order(llist_del_all(&q->send_list));
	n = tx->pending;
	if (!n)
		return NULL;
	/* Unlink first: an R2T can queue the node again as soon as the PDU is sent. */
	tx->pending = n->next;
	return llist_entry(n, struct nof_tcp_cmd, node)->cmd;
}

static bool begin_next(struct nof_tcp_queue *q)
{
	struct nof_cmd *cmd = next_cmd(q);

	if (!cmd)
		return false;
	if (to_tcp_cmd(cmd)->r2t_len)
		put_first_h2c_data(q, cmd);
	else
		append_capsule(q, cmd);
	return true;
}

/* A command whose last byte is in the batch must not be accessed any more: it may complete once the batch is sent. */
static void fill_batch(struct nof_tcp_queue *q)
{
	struct nof_tcp_tx *tx = &q->tx;

	if (tx->batch == tx->small)
		tx->batch = batch_cache_get() ?: tx->small;
	reset_batch(tx);
	for (;;) {
		if (tx->cmd) {
			if (!append_data(q))
				break;
			if (!tx->r2t_left)
				tx->cmd = NULL;
		}
		if (!room_for_pdu(tx))
			break;
		if (tx->cmd)
			put_h2c_data(q, tx->cmd);
		else if (!begin_next(q))
			break;
	}
	if (tx->nr_pieces)
		load_piece(tx, 0);
}

/*
 * Writing the batch to the socket
 */

static int push_plain(struct nof_tcp_queue *q, bool splice)
{
	struct nof_tcp_tx *tx = &q->tx;

	return nof_sock_send(q->sock->sk, &tx->iter, splice, tx->cmd || tx->pending || tx->piece + 1 < tx->nr_pieces);
}

/*
 * A record ends with the batch, and with spliced pages: once the call has taken all of them, they are encrypted. Other
 * data are copied when they are taken.
 */
static int push_tls(struct nof_tcp_queue *q, bool splice)
{
	struct nof_tcp_tx *tx = &q->tx;
	int n = nof_tls_send(q->sock, &tx->iter, splice, !splice && tx->piece + 1 < tx->nr_pieces);

	if (!n)
		return -EIO;
	if (n < 0)
		return n == -EINTR ? -EBUSY : n;
	tx->taken += n;
	if (!splice || !iov_iter_count(&tx->iter))
		WRITE_ONCE(q->acked, tx->taken);
	return n;
}

static int push_pieces(struct nof_tcp_queue *q)
{
	struct nof_tcp_tx *tx = &q->tx;

	while (tx->piece < tx->nr_pieces) {
		const struct nof_tcp_piece *p = &tx->batch->pieces[tx->piece];
		u32 next = (tx->iter.bvec - tx->batch->bvecs) + tx->iter.nr_segs;
		int n = unlikely(q->tls) ? push_tls(q, p->splice) : push_plain(q, p->splice);

		if (n < 0)
			return n;
		if (iov_iter_count(&tx->iter))
			continue;
		if (++tx->piece < tx->nr_pieces)
			load_piece(tx, next);
	}
	return 0;
}

static int push_batch(struct nof_tcp_queue *q)
{
	struct sock *sk = q->sock->sk;
	unsigned int noreclaim;
	int err;

	if (!q->tls) {
		if (!nof_sock_lock(sk))
			return -EBUSY;
		nof_tcp_count_acked(q);
	}
	noreclaim = memalloc_noreclaim_save();
	err = push_pieces(q);
	memalloc_noreclaim_restore(noreclaim);
	if (!q->tls)
		nof_sock_unlock(sk);
	return err;
}

/**
 * struct send_budget - how much a task sends before it leaves the rest to send_work()
 * @batches:	number of batches that may still be sent
 * @until:	time after which no further batch is sent, ktime_get_ns(); 0 for none
 */
struct send_budget {
	u32	batches;
	u64	until;
};

/* For a task that has queued a command: sends that, and commands that others have queued meanwhile */
static const struct send_budget inline_budget = { .batches = NOF_TCP_INLINE };

static bool budget_spent(const struct send_budget *budget)
{
	return !budget->batches || (budget->until && ktime_get_ns() >= budget->until);
}

/*
 * Sends queued commands until the budget is over, and leaves the rest to send_work(): under load other tasks queue
 * without end, while the sending task is an SRCU reader of the subsystem, for which the recovery of all its paths
 * waits. Sets tx.blocked when sending is not possible now.
 */
static void send_batches(struct nof_tcp_queue *q, struct send_budget *budget)
{
	struct nof_tcp_tx *tx = &q->tx;
	int err = 0;

	lockdep_assert_held(&tx->lock);
	while (!tx->failed && !err) {
		if (tx->piece == tx->nr_pieces) {
			if (budget_spent(budget)) {
				if (tx->cmd || tx->pending || !llist_empty(&q->send_list))
					nof_tcp_send_wake(q);
				return;
			}
			fill_batch(q);
			budget->batches--;
		}
		if (!tx->nr_pieces && !tx->cmd)
			return;
		/* Data that end before their PDU are a bug of this driver; the stream cannot continue. */
		err = tx->nr_pieces ? push_batch(q) : -EIO;
	}
	tx->blocked = true;
	if (tx->failed)
		return;
	if (err == -EAGAIN || err == -ENOMEM || err == -ENOBUFS) {
		/* with an empty socket memory is short, and no acknowledgement will call write_space() */
		if (!READ_ONCE(q->sock->sk->sk_wmem_queued))
			queue_delayed_work(nof_tcp_wq, &q->retry_work, NO_MEMORY_DELAY);
		return;
	}
	if (err == -EBUSY) {
		/* a task owns the socket for a short time: send_work() can wait for it */
		nof_tcp_send_wake(q);
		return;
	}
	tx->failed = true;
	nof_queue_error(&q->q, nof_tcp_cause(-err), err, "cannot send");
}

static void send_drain(struct nof_tcp_queue *q, struct send_budget *budget)
{
	send_batches(q, budget);
	if (q->tx.piece == q->tx.nr_pieces)
		tx_release_batch(&q->tx);
}

/*
 * The lock holder checks send_list again after the unlock. With the barrier here and the one in llist_add(), either
 * that check sees a new command, or the trylock of the task that added it succeeds.
 */
static void send_kick(struct nof_tcp_queue *q, struct send_budget budget)
{
	/* TLS sleeps */
	if (!NOF_DISPATCH_SLEEPS && q->tls && !budget.until) {
		nof_tcp_send_wake(q);
		return;
	}
	while (!llist_empty(&q->send_list) && !READ_ONCE(q->tx.blocked)) {
		if (budget_spent(&budget)) {
			nof_tcp_send_wake(q);
			return;
		}
		if (!mutex_trylock(&q->tx.lock))
			return;
		send_drain(q, &budget);
		mutex_unlock(&q->tx.lock);
		smp_mb();
	}
}

static void send_work(struct work_struct *work)
{
	struct nof_tcp_queue *q = container_of(work, struct nof_tcp_queue, send_work);
	struct send_budget budget = { .batches = U32_MAX };

	nof_sock_wait(q->sock->sk);
	mutex_lock(&q->tx.lock);
	q->tx.blocked = q->tx.failed;
	budget.until = ktime_get_ns() + NOF_TCP_WORK_NS;
	send_drain(q, &budget);
	mutex_unlock(&q->tx.lock);
	smp_mb();
	send_kick(q, budget);
}

static void retry_work(struct work_struct *work)
{
	nof_tcp_send_wake(container_of(to_delayed_work(work), struct nof_tcp_queue, retry_work));
}

void nof_tcp_queue_work(struct nof_tcp_queue *q, struct work_struct *work)
{
	int cpu = q->q.cpu;

	queue_work_on(cpu >= 0 && cpu_online(cpu) ? cpu : WORK_CPU_UNBOUND, nof_tcp_wq, work);
}

void nof_tcp_send_wake(struct nof_tcp_queue *q)
{
	nof_tcp_queue_work(q, &q->send_work);
}

/*
 * Queueing
 */

/* Connect on an I/O queue has its data in the capsule regardless of IOCCSZ (NVMe TCP Transport 1.0, 3.3.2.1). */
static u32 capsule_room(const struct nof_queue *queue, const struct nof_cmd *cmd)
{
	const struct nof_ctrl *ctrl = queue->ctrl;

	if (!queue->qid || cmd->sqe.common.opcode == nvme_fabrics_command)
		return NVME_TCP_ADMIN_CCSZ;
	if (ctrl->ident.icdoff || ctrl->ident.ioccsz < sizeof(struct nvme_command))
		return 0;
	return ctrl->ident.ioccsz - sizeof(struct nvme_command);
}

static void set_sgl(struct nof_cmd *cmd, bool in_capsule)
{
	struct nvme_sgl_desc *sg = &cmd->sqe.common.dptr.sgl;

	sg->addr = 0;
	sg->length = cpu_to_le32(cmd->len);
	memset(sg->rsvd, 0, sizeof(sg->rsvd));
	sg->type = in_capsule ? (NVME_SGL_FMT_DATA_DESC << 4) | NVME_SGL_FMT_OFFSET :
				(NVME_TRANSPORT_SGL_DATA_DESC << 4) | NVME_SGL_FMT_TRANSPORT_A;
}

static void send_prepare(struct nof_queue *queue, struct nof_cmd *cmd)
{
	struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);

	tc->in_capsule = cmd->write && cmd->len && cmd->len <= capsule_room(queue, cmd);
	tc->cmd = cmd;
	tc->xfer.len = cmd->len;
	tc->xfer.next = tc->in_capsule ? cmd->len : 0;
	tc->xfer.write = cmd->write;
	tc->xfer.last = false;
	tc->end_off = U64_MAX;
	tc->r2t_len = 0;
	tc->bad_digest = false;

	cmd->sqe.common.flags |= NVME_CMD_SGL_METABUF;
	cmd->sqe.common.command_id = (__force __u16)cpu_to_le16(cmd->cid);
	set_sgl(cmd, tc->in_capsule);
}

void nof_tcp_send_cmd(struct nof_queue *queue, struct nof_cmd *cmd, bool last)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);

	send_prepare(queue, cmd);
	llist_add(&to_tcp_cmd(cmd)->node, &q->send_list);
	if (last)
		send_kick(q, inline_budget);
}

void nof_tcp_send_commit(struct nof_queue *queue)
{
	send_kick(to_tcp_queue(queue), inline_budget);
}

/* A lock holder, possibly further up this call stack, checks send_list again after the unlock. */
void nof_tcp_send_r2t(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	llist_add(&to_tcp_cmd(cmd)->node, &q->send_list);
	if (!mutex_is_locked(&q->tx.lock))
		nof_tcp_send_wake(q);
}

/* Moves all commands of send_list to tx.pending. Caller holds tx.lock. */
static void send_gather(struct nof_tcp_queue *q)
{
	struct llist_node **end = &q->tx.pending;

	while (*end)
		end = &(*end)->next;
	*end = llist_reverse_order(llist_del_all(&q->send_list));
}

bool nof_tcp_send_withdraw(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	struct llist_node **at = &q->tx.pending;

	lockdep_assert_held(&q->tx.lock);
	send_gather(q);
	while (*at && *at != &to_tcp_cmd(cmd)->node)
		at = &(*at)->next;
	if (!*at)
		return false;
	*at = (*at)->next;
	return true;
}

void nof_tcp_send_lock(struct nof_tcp_queue *q)
{
	mutex_lock(&q->tx.lock);
}

/* Tasks that found the lock held rely on its holder to send their commands: send_work() does. */
void nof_tcp_send_unlock(struct nof_tcp_queue *q)
{
	bool left = q->tx.pending && !q->tx.blocked;

	mutex_unlock(&q->tx.lock);
	smp_mb();
	if (left || (!llist_empty(&q->send_list) && !READ_ONCE(q->tx.blocked)))
		nof_tcp_send_wake(q);
}

void nof_tcp_send_sync(struct nof_tcp_queue *q)
{
	nof_tcp_send_lock(q);
	nof_tcp_send_unlock(q);
}

int nof_tcp_send_pdu(struct nof_tcp_queue *q, const void *pdu, u32 len)
{
	struct nof_tcp_tx *tx = &q->tx;
	struct send_budget budget = inline_budget;
	int err = -ECANCELED;

	mutex_lock(&tx->lock);
	if (!tx->failed) {
		reset_batch(tx);
		memcpy(append_header(tx, len), pdu, len);
		tx->offset += len;
		load_piece(tx, 0);
		send_drain(q, &budget);
		err = tx->failed ? -EPIPE : 0;
	}
	mutex_unlock(&tx->lock);
	return err;
}

/* Best effort: only between two PDUs, and only if the socket has room. */
static void send_term(struct nof_tcp_queue *q)
{
	struct nvme_tcp_term_pdu pdu = {
		.hdr.type	= nvme_tcp_h2c_term,
		.hdr.hlen	= sizeof(pdu),
		.hdr.plen	= cpu_to_le32(sizeof(pdu)),
		.fes		= cpu_to_le16(q->fault.fes),
		.feil		= cpu_to_le16(q->fault.fei & 0xffff),
		.feiu		= cpu_to_le16(q->fault.fei >> 16),
	};
	struct nof_tcp_tx *tx = &q->tx;

	if (!q->fault.fes || tx->failed || tx->piece < tx->nr_pieces || tx->cmd)
		return;
	reset_batch(tx);
	memcpy(append_header(tx, sizeof(pdu)), &pdu, sizeof(pdu));
	load_piece(tx, 0);
	push_batch(q);
}

void nof_tcp_send_stop(struct nof_tcp_queue *q)
{
	mutex_lock(&q->tx.lock);
	send_term(q);
	q->tx.failed = true;
	q->tx.blocked = true;
	mutex_unlock(&q->tx.lock);
	cancel_delayed_work_sync(&q->retry_work);
	cancel_work_sync(&q->send_work);
}

int nof_tcp_send_init(struct nof_tcp_queue *q)
{
	int node = q->q.cpu >= 0 ? cpu_to_node(q->q.cpu) : NUMA_NO_NODE;

	memset(&q->tx, 0, sizeof(q->tx));
	/* kept while the queue is idle */
	q->tx.small = batch_alloc(NOF_TCP_SMALL, NOF_TCP_SMALL_BVECS, NOF_TCP_SMALL_PIECES, GFP_KERNEL, node);
	q->tx.batch = q->tx.small;
	if (!nof_tcp_copies_init(&q->tx.copies, q->q.ctrl->opts.data_digest, node) || !q->tx.small) {
		nof_tcp_send_exit(q);
		return -ENOMEM;
	}
	mutex_init(&q->tx.lock);
	init_llist_head(&q->send_list);
	INIT_WORK(&q->send_work, send_work);
	INIT_DELAYED_WORK(&q->retry_work, retry_work);
	return 0;
}

void nof_tcp_send_exit(struct nof_tcp_queue *q)
{
	tx_release_batch(&q->tx);
	kfree(q->tx.small);
	nof_tcp_copies_exit(&q->tx.copies);
	q->tx.batch = NULL;
	q->tx.small = NULL;
}
