// SPDX-License-Identifier: GPL-2.0-only
/* The two PDUs that open an NVMe/TCP connection (NVMe TCP Transport 1.0, 3.2 and 3.6.2.2) */
#include <net/tcp.h>
#include "tcp/tcp.h"

static_assert(sizeof(struct nvme_tcp_icreq_pdu) == 128);

/* stop_queue() may run concurrently: after it the phase must stay NOF_TCP_CLOSED. */
static int expect_icresp(struct nof_tcp_queue *q)
{
	struct sock *sk = q->sock->sk;
	int err = 0;

	lock_sock(sk);
	if (q->phase != NOF_TCP_CONNECTING) {
		err = nof_tcp_stopped(q) ? -ECANCELED : -ECONNRESET;
	} else {
		q->una = tcp_sk(sk)->snd_una;
		q->acked = 0;
		q->phase = NOF_TCP_ICREQ;
	}
	release_sock(sk);
	return err;
}

static int send_icreq(struct nof_tcp_queue *q)
{
	struct nvme_tcp_icreq_pdu pdu = {
		.hdr.type	= nvme_tcp_icreq,
		.hdr.hlen	= sizeof(pdu),
		.hdr.plen	= cpu_to_le32(sizeof(pdu)),
		.pfv		= cpu_to_le16(NVME_TCP_PFV_1_0),
		.hpda		= 0,
		.digest		= (q->conf.hdr_digest ? NVME_TCP_HDR_DIGEST_ENABLE : 0) |
				  (q->conf.data_digest ? NVME_TCP_DATA_DIGEST_ENABLE : 0),
		.maxr2t		= 0,	/* 0's based */
	};

	return nof_tcp_send_pdu(q, &pdu, sizeof(pdu));
}

bool nof_tcp_handshake_done(struct nof_tcp_queue *q, const struct nvme_tcp_icresp_pdu *pdu)
{
	if (!nof_pdu_check_icresp(pdu, &q->conf, &q->params, &q->fault))
		return false;
	q->conf.connected = true;
	/* Pairs with the acquire in nof_tcp_handshake(): publishes params. */
	smp_store_release(&q->phase, NOF_TCP_UP);
	wake_up(&q->wait);
	return true;
}

static bool icresp_settled(struct nof_tcp_queue *q)
{
	return smp_load_acquire(&q->phase) != NOF_TCP_ICREQ || nof_tcp_given_up(q);
}

int nof_tcp_handshake(struct nof_tcp_queue *q)
{
	long left = max_t(long, q->q.deadline - jiffies, 1);
	int err;

	err = expect_icresp(q) ?: send_icreq(q);
	if (err)
		return err;
	left = wait_event_idle_timeout(q->wait, icresp_settled(q), left);
	if (nof_tcp_given_up(q))
		return -ECANCELED;
	if (!left) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -ETIMEDOUT, "connected, but nothing there answers in NVMe/TCP");
		return -ETIMEDOUT;
	}
	if (smp_load_acquire(&q->phase) == NOF_TCP_UP)
		return 0;
	return q->fault.why ? -EPROTO : -ECONNRESET;
}
