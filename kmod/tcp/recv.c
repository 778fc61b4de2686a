// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receiving: a state machine over the byte stream. It runs where data arrive: in softirq, in the backlog of a task that
 * owned the socket (from 6.2 usually a sender), or in a poller. All of these hold the socket lock, owned or as a
 * spinlock, so each queue has one receiver at a time. It reads the buffers in the socket's receive queue itself, and
 * reports them to TCP as read later (hold.c). Over TLS, the read_sock() of TLS calls it.
 *
 * A PDU is processed only after its header and header digest have been checked. After the first fault the queue
 * receives nothing more. A wrong data digest affects one command only: it is recorded there, and the command completes
 * once, when the target completes it, with a status that allows a retry.
 */
#include <linux/blk-mq.h>
#include <linux/skbuff.h>
#include <net/busy_poll.h>
#include <net/tcp.h>
#include "tcp/tcp.h"
#include "tcp/tls.h"

/* Length of all headers but that of ICResp, which is longer. */
#define FIRST_WANT	sizeof(struct nvme_tcp_rsp_pdu)

static_assert(sizeof(struct nvme_tcp_rsp_pdu) == 24 && sizeof(struct nvme_tcp_r2t_pdu) == 24 &&
	      sizeof(struct nvme_tcp_data_pdu) == 24 && sizeof(struct nvme_tcp_term_pdu) == 24 &&
	      sizeof(struct nvme_tcp_icresp_pdu) == 128);

/* State of one run of the receiver */
struct run {
	struct nof_tcp_queue	*q;
	struct nof_completed	*done;
	int			completed;
	int			failed;	/* negative errno */
	u32			budget;	/* bytes, over TLS */
};

/* Records an error of the target */
static bool fault_set_peer(struct nof_tcp_queue *q, u16 fes, u32 fei, const char *why)
{
	q->fault = (struct nof_pdu_fault){ .why = why, .fes = fes, .fei = fei };
	return false;
}

/* Records an error of this host or the network: no H2CTermReq is sent */
static int fault_set_local(struct nof_tcp_queue *q, const char *why)
{
	fault_set_peer(q, 0, 0, why);
	return -EIO;
}

static void expect_header(struct nof_tcp_rx *rx)
{
	rx->step = NOF_TCP_RX_HEADER;
	rx->have = 0;
	rx->want = FIRST_WANT;
	rx->checked = false;
}

/* Everything that was to be sent for the command up to now has been acknowledged, or copied or encrypted by TLS. */
static bool is_sent(struct nof_tcp_queue *q, struct nof_cmd *cmd)
{
	return READ_ONCE(q->acked) >= READ_ONCE(to_tcp_cmd(cmd)->end_off);
}

/*
 * Finds the command that a PDU refers to in the field at @fei. The receive side may use it once the peer has
 * acknowledged everything sent for it.
 */
static struct nof_cmd *recv_find(struct nof_tcp_queue *q, __u16 cid, u32 fei)
{
	struct nof_cmd *cmd = nof_queue_find(&q->q, (__force __le16)cid);

	if (unlikely(!cmd)) {
		fault_set_peer(q, NVME_TCP_FES_INVALID_PDU_HDR, fei, "PDU for a command that is not outstanding");
		return NULL;
	}
	if (unlikely(!is_sent(q, cmd))) {
		fault_set_peer(q, NVME_TCP_FES_PDU_SEQ_ERR, 0, "PDU for a command that has not been sent in full");
		return NULL;
	}
	return cmd;
}

static bool is_auth_receive(const struct nof_cmd *cmd)
{
	return cmd->sqe.common.opcode == nvme_fabrics_command &&
	       cmd->sqe.auth_common.fctype == nvme_fabrics_type_auth_receive;
}

/* The host does not know the length of a message of authentication: it may be shorter than its buffer. */
static u16 recv_status(struct nof_cmd *cmd, u16 status)
{
	const struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);
	u16 ret = nof_pdu_rsp_status(status, &tc->xfer, tc->bad_digest);

	if (unlikely(ret != status) && ret == NVME_SC_DATA_XFER_ERROR && !tc->bad_digest && is_auth_receive(cmd))
		return status;
	return ret;
}

static void cmd_complete(struct run *run, struct nof_cmd *cmd, u16 status, const union nvme_result *result)
{
	run->completed++;
	nof_cmd_complete(cmd, status, result, run->done);
}

static bool recv_rsp(struct run *run, const struct nvme_completion *cqe)
{
	struct nof_tcp_queue *q = run->q;
	u16 status = le16_to_cpu(cqe->status) >> 1;
	struct nof_tcp_cmd *tc;
	struct nof_cmd *cmd;

	cmd = recv_find(q, cqe->command_id, offsetof(struct nvme_tcp_rsp_pdu, cqe.command_id));
	if (unlikely(!cmd))
		return false;
	tc = to_tcp_cmd(cmd);
	if (unlikely(!nof_pdu_check_rsp(status, &tc->xfer, &q->fault)))
		return false;
	/* FFFFh in the response to Connect turns flow control off: the core checks it (NVMe Base 2.0, 6.3). */
	if (q->q.sq_flow)
		WRITE_ONCE(q->q.sq_head, le16_to_cpu(cqe->sq_head));
	cmd_complete(run, cmd, recv_status(cmd, status), &cqe->result);
	return true;
}

static bool recv_r2t(struct nof_tcp_queue *q, const struct nvme_tcp_r2t_pdu *pdu)
{
	struct nof_cmd *cmd = recv_find(q, pdu->command_id, offsetof(struct nvme_tcp_r2t_pdu, command_id));
	struct nof_tcp_cmd *tc;

	if (!cmd)
		return false;
	tc = to_tcp_cmd(cmd);
	if (!nof_pdu_check_r2t(pdu, &tc->xfer, &q->fault))
		return false;
	tc->r2t_off = le32_to_cpu(pdu->r2t_offset);
	tc->r2t_len = le32_to_cpu(pdu->r2t_length);
	tc->r2t_tag = pdu->ttag;
	tc->xfer.next += tc->r2t_len;
	/* Belongs to the send side until mark_sent() sets the new end_off */
	WRITE_ONCE(tc->end_off, U64_MAX);
	nof_tcp_send_r2t(q, cmd);
	return true;
}

static bool recv_c2h_data(struct nof_tcp_queue *q, const struct nvme_tcp_data_pdu *pdu)
{
	struct nof_tcp_rx *rx = &q->rx;
	struct nof_tcp_cmd *tc;

	if (!nof_pdu_check_c2h_data(pdu, &q->conf, &q->fault))
		return false;
	rx->cmd = recv_find(q, pdu->command_id, offsetof(struct nvme_tcp_data_pdu, command_id));
	if (!rx->cmd)
		return false;
	tc = to_tcp_cmd(rx->cmd);
	if (!nof_pdu_check_c2h_xfer(pdu, &tc->xfer, &q->fault))
		return false;
	if (!tc->xfer.next)
		nof_data_init(&tc->data, rx->cmd, ITER_DEST);
	tc->xfer.last = pdu->hdr.flags & NVME_TCP_F_DATA_LAST;
	rx->flags = pdu->hdr.flags;
	rx->padding = pdu->hdr.pdo - nof_pdu_header_len(&pdu->hdr, &q->conf);
	rx->left = le32_to_cpu(pdu->data_length);
	rx->crc = NOF_TCP_CRC_INIT;
	rx->have = 0;
	rx->step = NOF_TCP_RX_DATA;
	return true;
}

static bool recv_term(struct nof_tcp_queue *q, const struct nvme_tcp_term_pdu *pdu)
{
	nof_queue_error(&q->q, NOF_CAUSE_PEER, -ECONNRESET, "target ended the connection: %s (FES 0x%02x, FEI 0x%x)",
			nof_pdu_fes_text(le16_to_cpu(pdu->fes)), le16_to_cpu(pdu->fes), nof_pdu_fei(pdu));
	return fault_set_peer(q, 0, 0, "target ended the connection");
}

static bool recv_header(struct run *run)
{
	struct nof_tcp_queue *q = run->q;
	struct nof_tcp_rx *rx = &q->rx;

	switch (rx->hdr.type) {
	case nvme_tcp_rsp:
		expect_header(rx);
		return recv_rsp(run, &rx->pdu.rsp.cqe);
	case nvme_tcp_c2h_data:
		return recv_c2h_data(q, &rx->pdu.data);
	case nvme_tcp_r2t:
		expect_header(rx);
		return recv_r2t(q, &rx->pdu.r2t);
	case nvme_tcp_icresp:
		expect_header(rx);
		return nof_tcp_handshake_done(q, &rx->pdu.icresp);
	default:
		return recv_term(q, &rx->term);
	}
}

static bool check_hdr_digest(struct nof_tcp_queue *q)
{
	struct nof_tcp_rx *rx = &q->rx;
	__le32 got;

	if (!nof_pdu_has_hdr_digest(rx->hdr.type, &q->conf))
		return true;
	memcpy(&got, rx->buf + rx->hdr.hlen, sizeof(got));
	if (got == nof_tcp_digest(rx->buf, rx->hdr.hlen))
		return true;
	return fault_set_peer(q, NVME_TCP_FES_HDR_DIGEST_ERR, le32_to_cpu(got), "header digest error");
}

/* Over TLS: returns whether the sender may still have to count the command that the PDU refers to. */
static bool must_defer(struct nof_tcp_queue *q)
{
	const struct nof_tcp_rx *rx = &q->rx;
	struct nof_cmd *cmd;
	__u16 cid;

	switch (rx->hdr.type) {
	case nvme_tcp_rsp:	cid = rx->pdu.rsp.cqe.command_id; break;
	case nvme_tcp_c2h_data:	cid = rx->pdu.data.command_id; break;
	case nvme_tcp_r2t:	cid = rx->pdu.r2t.command_id; break;
	default:		return false;
	}
	cmd = nof_queue_find(&q->q, (__force __le16)cid);
	return cmd && !is_sent(q, cmd);
}

/* Each of the three steps returns how many bytes it consumed, or a negative errno with q->fault set. */
static int step_header(struct run *run, struct sk_buff *skb, u32 offset, u32 len)
{
	struct nof_tcp_queue *q = run->q;
	struct nof_tcp_rx *rx = &q->rx;
	u32 n = min_t(u32, len, rx->want - rx->have);

	if (skb_copy_bits(skb, offset, rx->buf + rx->have, n))
		return fault_set_local(q, "damaged socket buffer");
	rx->have += n;
	if (!rx->checked) {
		if (rx->have < sizeof(rx->hdr))
			return n;
		if (!nof_pdu_check_header(&rx->hdr, &q->conf, &q->fault))
			return -EPROTO;
		rx->checked = true;
		rx->want = nof_pdu_header_len(&rx->hdr, &q->conf);
	}
	if (rx->have < rx->want)
		return n;
	if (!check_hdr_digest(q))
		return -EPROTO;
	if (unlikely(q->tls) && must_defer(q)) {
		rx->deferred = true;
		return n;
	}
	return recv_header(run) ? n : -EPROTO;
}

static void data_done(struct run *run)
{
	static const union nvme_result none;
	struct nof_tcp_rx *rx = &run->q->rx;
	struct nof_cmd *cmd = rx->cmd;

	rx->cmd = NULL;
	expect_header(rx);
	if (rx->flags & NVME_TCP_F_DATA_SUCCESS)
		cmd_complete(run, cmd, recv_status(cmd, NVME_SC_SUCCESS), &none);
}

/*
 * As skb_copy_datagram_iter(), but without the check of each piece for CONFIG_HARDENED_USERCOPY, which costs up to a
 * tenth of the copy. Neither the socket buffer nor the memory of the request belongs to userspace.
 */
static bool copy_skb(const struct sk_buff *skb, u32 offset, struct iov_iter *to, u32 len)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 start = skb_headlen(skb), n;
	const void *from;
	int i;

	if (offset < start) {
		n = min(len, start - offset);
		if (_copy_to_iter(skb->data + offset, n, to) != n)
			return false;
		offset += n;
		len -= n;
	}
	for (i = 0; len && i < info->nr_frags; start += skb_frag_size(&info->frags[i++])) {
		if (offset >= start + skb_frag_size(&info->frags[i]))
			continue;
		from = skb_frag_address_safe(&info->frags[i]);
		n = min(len, start + skb_frag_size(&info->frags[i]) - offset);
		if (!from || _copy_to_iter(from + (offset - start), n, to) != n)
			return false;
		offset += n;
		len -= n;
	}
	/* the rest is in the frag list */
	return !len || !skb_copy_datagram_iter(skb, offset, to, len);
}

static int step_data(struct run *run, struct sk_buff *skb, u32 offset, u32 len)
{
	struct nof_tcp_queue *q = run->q;
	struct nof_tcp_rx *rx = &q->rx;
	struct nof_tcp_cmd *tc = to_tcp_cmd(rx->cmd);
	u32 n = min3(len, rx->left, (u32)min_t(size_t, iov_iter_count(&tc->data.iter), U32_MAX));

	if (unlikely(rx->padding)) {
		n = min_t(u32, len, rx->padding);
		rx->padding -= n;
		return n;
	}
	if (!n || !copy_skb(skb, offset, &tc->data.iter, n))
		return fault_set_local(q, "cannot store received data");
	nof_data_consumed(&tc->data, n);
	if (q->conf.data_digest)
		rx->crc = nof_tcp_crc_skb(rx->crc, skb, offset, n);
	tc->xfer.next += n;
	rx->left -= n;
	if (rx->left)
		return n;
	if (q->conf.data_digest)
		rx->step = NOF_TCP_RX_DIGEST;
	else
		data_done(run);
	return n;
}

static int step_digest(struct run *run, struct sk_buff *skb, u32 offset, u32 len)
{
	struct nof_tcp_queue *q = run->q;
	struct nof_tcp_rx *rx = &q->rx;
	u32 n = min_t(u32, len, sizeof(rx->digest) - rx->have);

	if (skb_copy_bits(skb, offset, (u8 *)&rx->digest + rx->have, n))
		return fault_set_local(q, "damaged socket buffer");
	rx->have += n;
	if (rx->have < sizeof(rx->digest))
		return n;
	if (rx->digest != nof_tcp_crc_final(rx->crc)) {
		to_tcp_cmd(rx->cmd)->bad_digest = true;
		dev_warn_ratelimited(&q->q.ctrl->dev, "queue %u: data digest error\n", q->q.qid);
	}
	data_done(run);
	return n;
}

static int recv_step(struct run *run, struct sk_buff *skb, u32 offset, u32 len)
{
	switch (run->q->rx.step) {
	case NOF_TCP_RX_DATA:
		return step_data(run, skb, offset, len);
	case NOF_TCP_RX_DIGEST:
		return step_digest(run, skb, offset, len);
	default:
		return step_header(run, skb, offset, len);
	}
}

/* Discards data that still arrive for a detached command, including the rest of a PDU that has begun. */
static void recv_take_over(struct nof_tcp_queue *q, struct nof_cmd *cmd, struct nof_cmd *placeholder)
{
	struct nof_tcp_cmd *tc = to_tcp_cmd(cmd);

	tc->data = (struct nof_data){ .dest = ITER_DEST, .left = tc->xfer.len - tc->xfer.next };
	iov_iter_discard(&tc->data.iter, ITER_DEST, tc->data.left);
	if (q->rx.cmd == cmd)
		q->rx.cmd = placeholder;
}

/*
 * A sent command without data to send belongs to the receive side only. Caller holds the socket lock and
 * nof_tcp_send_lock().
 */
static struct nof_cmd *detach_locked(struct nof_tcp_queue *q, struct nof_detach *d)
{
	/* pairs with nof_queue_add(), which may run */
	struct nof_cmd *cmd = smp_load_acquire(&q->q.slots[d->index].cmd);
	bool sent;

	if (q->phase != NOF_TCP_UP || !cmd || !nof_cmd_has_rq(cmd))
		return NULL;
	sent = smp_load_acquire(&cmd->state) == NOF_CMD_SENT;
	if ((sent && cmd->write) || !d->may(cmd, sent))
		return NULL;
	if (sent)
		recv_take_over(q, cmd, d->placeholder);
	else if (!nof_tcp_send_withdraw(q, cmd))
		return NULL;
	nof_cmd_detach(cmd, d, sent);
	return cmd;
}

struct nof_cmd *nof_tcp_recv_detach(struct nof_queue *queue, struct nof_detach *d)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);
	struct sock *sk = q->sock->sk;
	struct nof_cmd *cmd;

	nof_tcp_send_lock(q);
	lock_sock(sk);
	cmd = detach_locked(q, d);
	release_sock(sk);
	nof_tcp_send_unlock(q);
	return cmd;
}

/* Returns how many bytes were consumed, or a negative errno. */
static int recv_skb(struct run *run, struct sk_buff *skb, u32 offset, u32 len)
{
	u32 left = len;

	while (left) {
		int n = recv_step(run, skb, offset, left);

		if (unlikely(n < 0)) {
			run->failed = n;
			return n;
		}
		offset += n;
		left -= n;
		if (unlikely(run->q->rx.deferred))
			break;
	}
	return len - left;
}

#define RECORD_COST	1024	/* bytes that a short record counts for */

/* As recv_skb(), for the data of a record */
static int record_actor(read_descriptor_t *desc, struct sk_buff *skb, unsigned int offset, size_t len)
{
	struct run *run = desc->arg.data;
	int n;

	run->budget -= min_t(size_t, max_t(size_t, len, RECORD_COST), run->budget);
	n = recv_skb(run, skb, offset, len);
	if (!run->budget || run->q->rx.deferred)
		desc->count = 0;
	return n;
}

/* Where this cannot go on for now, recv_work does. */
static void recv_tls(struct nof_tcp_queue *q, read_descriptor_t *desc, struct run *run)
{
	struct nof_tcp_rx *rx = &q->rx;
	struct sock *sk = q->sock->sk;

	if (rx->read <= 0 && rx->read != -EAGAIN) {
		nof_tcp_queue_work(q, &q->recv_work);
		return;
	}
	if (rx->deferred) {
		if (!rx->synced)
			return;
		rx->deferred = false;
		rx->synced = false;
		if (!recv_header(run)) {
			run->failed = -EPROTO;
			return;
		}
	}
	run->budget = NOF_TCP_TLS_READ;
	rx->read = q->sock->ops->read_sock(sk, desc, record_actor);
	/* a record of another type would be left: this is one with a wrong header */
	if (rx->read == -EINVAL && !nof_tls_unread(sk))
		rx->read = -EPROTO;
	if (rx->deferred || !run->budget || (rx->read <= 0 && rx->read != -EAGAIN) || nof_tls_unread(sk))
		nof_tcp_queue_work(q, &q->recv_work);
}

/* The buffer with the byte @seq or, if that has not arrived yet, one before it. NULL: the queue is empty. */
static struct sk_buff *find_buffer(struct sock *sk, u32 seq)
{
	struct sk_buff *skb;

	/* from the end: held buffers come first, and there may be many */
	skb_queue_reverse_walk(&sk->sk_receive_queue, skb) {
		if (!after(TCP_SKB_CB(skb)->seq, seq))
			return skb;
	}
	return skb_peek(&sk->sk_receive_queue);
}

/* Processes the bytes in the socket's receive queue behind those that are held. Returns how many. */
static u32 recv_stream(struct nof_tcp_queue *q, struct run *run)
{
	struct sock *sk = q->sock->sk;
	u32 from = tcp_sk(sk)->copied_seq + q->hold.bytes, seq = from, offset;
	struct sk_buff *skb = find_buffer(sk, seq);

	if (!skb)
		return 0;
	/* TCP would not pass on the urgent byte, and NVMe/TCP has none */
	if (unlikely(tcp_sk(sk)->urg_data)) {
		fault_set_peer(q, 0, 0, "the target sent urgent data");
		run->failed = -EPROTO;
		return 0;
	}
	skb_queue_walk_from(&sk->sk_receive_queue, skb) {
		offset = seq - TCP_SKB_CB(skb)->seq;
		if (offset >= skb->len)
			continue;
		if (recv_skb(run, skb, offset, skb->len - offset) < 0)
			break;
		seq += skb->len - offset;
	}
	return seq - from;
}

int nof_tcp_recv(struct nof_tcp_queue *q, struct nof_completed *done)
{
	struct run run = { .q = q, .done = done };
	read_descriptor_t desc = { .arg.data = &run, .count = 1 };

	if (q->phase < NOF_TCP_ICREQ)
		return 0;
	if (unlikely(q->tls)) {
		recv_tls(q, &desc, &run);
	} else {
		nof_tcp_count_acked(q);
		nof_tcp_hold(q, recv_stream(q, &run));
	}
	if (unlikely(run.failed)) {
		q->phase = NOF_TCP_CLOSED;
		wake_up(&q->wait);
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, run.failed, "%s", q->fault.why);
	}
	return run.completed;
}

/* Does not sleep: callers may be in an RCU read section. If a task owns the socket, the next poll receives. */
int nof_tcp_recv_poll(struct nof_queue *queue, struct nof_completed *done)
{
	struct nof_tcp_queue *q = to_tcp_queue(queue);
	struct sock *sk = q->sock->sk;
	int n = 0;

	if (skb_queue_empty_lockless(&sk->sk_receive_queue)) {
		if (sk_can_busy_loop(sk))
			sk_busy_loop(sk, 1);
		if (skb_queue_empty_lockless(&sk->sk_receive_queue))
			return 0;
	}
	local_bh_disable();
	bh_lock_sock(sk);
	if (unlikely(q->tls) && !nof_tls_may_read(q, sk)) {
		if (q->phase >= NOF_TCP_ICREQ)
			nof_tcp_queue_work(q, &q->recv_work);
	} else if (!sock_owned_by_user(sk)) {
		n = nof_tcp_recv(q, done);
	}
	bh_unlock_sock(sk);
	local_bh_enable();
	return n;
}

void nof_tcp_recv_init(struct nof_tcp_queue *q)
{
	const struct nof_opts *opts = &q->q.ctrl->opts;

	memset(&q->rx, 0, sizeof(q->rx));
	nof_tcp_hold_init(q);
	q->rx.read = -EAGAIN;
	expect_header(&q->rx);
	q->conf = (struct nof_pdu_conf){ .hdr_digest = opts->hdr_digest, .data_digest = opts->data_digest };
	q->params = (struct nof_pdu_params){ .align = 4, .maxh2cdata = NVME_TCP_MIN_MAXH2CDATA };
	q->fault = (struct nof_pdu_fault){};
	q->phase = NOF_TCP_CLOSED;
	q->tls = false;
	q->acked = 0;
	q->una = 0;
}
