// SPDX-License-Identifier: GPL-2.0-only
/*
 * TLS below the PDUs. An agent in userspace does the handshake and installs the keys of the connection in the socket.
 * From then on, the kernel's TLS encrypts what its sendmsg() takes, and decrypts what its read_sock() passes on.
 */
#include "compat/tls.h"

#if NOF_TLS
#include <linux/file.h>
#include <linux/key.h>
#include <linux/net.h>
#include <linux/uio.h>
#include <asm/simd.h>
#include <crypto/aead.h>
#include <net/handshake.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tls.h>
#include <net/tls_prot.h>
#include "core/subsys.h"
#include "core/tls_key.h"
#include "tcp/tcp.h"
#include "tcp/tls.h"

#define RETRY_DELAY	(HZ / 50)	/* before another request, while as many handshakes wait as the kernel allows */
#define CONNECT_TIME	(HZ / 4)	/* after that, another connection may take the place */
#define TICKETS_MAX	16		/* records with session tickets that a target may send */
#define CONTROL_MAX	1024		/* bytes of a record that is not data; session tickets have about 300 */
#define SEND_VECS	16		/* copied pieces that go to the socket in one call */

/* Types of handshake messages (RFC 8446, 4) */
enum { MESSAGE_SESSION_TICKET = 4, MESSAGE_KEY_UPDATE = 24 };

int nof_tls_prepare(struct socket *sock)
{
	sk_net_refcnt_upgrade(sock->sk);
	/* releases the socket on an error */
	return PTR_ERR_OR_ZERO(sock_alloc_file(sock, O_CLOEXEC, NULL));
}

void nof_tls_release(struct socket *sock)
{
	__fput_sync(sock->file);
}

/*
 * Handshake
 */

/* Takes the place @i of a subsystem until @end, if it is free or its time is over. */
static bool place_take(struct nof_subsys *subsys, u32 i, long end)
{
	long old = atomic_long_read(&subsys->tls_connects[i]);

	return (!old || time_after_eq(jiffies, (unsigned long)old)) &&
	       atomic_long_try_cmpxchg(&subsys->tls_connects[i], &old, end);
}

/* jiffies + CONNECT_TIME if a place was free, or 0 */
static long place_find(struct nof_subsys *subsys, u32 *place)
{
	long end = (jiffies + CONNECT_TIME) ?: 1;

	for (*place = 0; *place < NOF_TLS_CONNECTS; ++*place) {
		if (place_take(subsys, *place, end))
			return end;
	}
	return 0;
}

/*
 * A target may close the connections that exceed its limit of handshakes. So each connection needs one of the places of
 * its subsystem. It keeps it for CONNECT_TIME at most: those to a dead target must not delay the others for long.
 */
bool nof_tls_connect_begin(struct nof_tcp_queue *q)
{
	while (!nof_tcp_given_up(q) && time_before(jiffies, q->q.deadline)) {
		q->tls_setup.place_end = place_find(q->q.ctrl->subsys, &q->tls_setup.place);
		if (q->tls_setup.place_end)
			return true;
		wait_event_idle_timeout(q->wait, nof_tcp_given_up(q), RETRY_DELAY);
	}
	if (!nof_tcp_given_up(q))
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -ETIMEDOUT,
				"too many connections to this subsystem set up TLS");
	return false;
}

void nof_tls_connect_end(struct nof_tcp_queue *q)
{
	long end = q->tls_setup.place_end;

	/* after that time it may be another's */
	atomic_long_try_cmpxchg(&q->q.ctrl->subsys->tls_connects[q->tls_setup.place], &end, 0);
}

/* Kernels differ in the sign of @status. The completion comes last: then the queue may be freed. */
static void handshake_done(void *data, int status, key_serial_t used)
{
	struct nof_tcp_queue *q = data;

	q->tls_setup.status = status > 0 ? -status : status;
	q->tls_setup.key = used;
	smp_store_release(&q->tls_setup.ended, true);
	wake_up(&q->wait);
	complete(&q->tls_setup.done);
}

/* Hands the socket to the agent. Returns 0 or a negative errno. */
static int handshake_begin(struct nof_tcp_queue *q, struct key *key, u32 keyring)
{
	struct tls_handshake_args args = {
		.ta_sock	= q->sock,
		.ta_done	= handshake_done,
		.ta_data	= q,
		.ta_keyring	= keyring,
		.ta_num_peerids	= 1,
		.ta_my_peerids	= { key_serial(key) },
	};
	long left;
	int ret;

	do {
		left = q->q.deadline - jiffies;
		if (left <= 0)
			return -EAGAIN;
		args.ta_timeout_ms = jiffies_to_msecs(left);
		ret = tls_client_hello_psk(&args, GFP_KERNEL);
		/* the kernel bounds the handshakes that no agent has accepted yet */
		if (ret == -EAGAIN)
			wait_event_idle_timeout(q->wait, nof_tcp_given_up(q), RETRY_DELAY);
	} while (ret == -EAGAIN && !nof_tcp_given_up(q));
	return ret;
}

/*
 * Returns the result of the handshake: 0 or a negative errno. Only this task cancels: the kernel frees a request that
 * it cannot announce while another task might look it up.
 */
static int handshake_wait(struct nof_tcp_queue *q)
{
	long left = max_t(long, q->q.deadline - jiffies, 1);

	wait_event_idle_timeout(q->wait, smp_load_acquire(&q->tls_setup.ended) || nof_tcp_given_up(q), left);
	if (!smp_load_acquire(&q->tls_setup.ended) && tls_handshake_cancel(q->sock->sk))
		return nof_tcp_given_up(q) ? -ECANCELED : -ETIMEDOUT;
	wait_for_completion(&q->tls_setup.done);
	return q->tls_setup.status;
}

static const char *handshake_error_text(int err, bool generated)
{
	if (generated && err == -EACCES)
		return "the target refused the TLS key that the authentication has generated";
	if (generated && err == -EKEYREVOKED)
		return "the TLS key was revoked: a reconnect generates a new one";
	switch (err) {
	case -ESRCH:		return "no TLS agent is running: start nvmeof-tlsd, or tlshd";
	case -EAGAIN:		return "too many TLS handshakes wait for the TLS agent: see its log";
	case -EACCES:		return "the target refused the TLS key, or has none for this host and subsystem";
	case -EKEYREJECTED:	return "the TLS agent rejected the TLS key: wrong length or description";
	case -ECONNRESET:	return "connection closed during the TLS handshake: does the port use TLS?";
	case -ENOKEY:		return "the TLS agent cannot read the TLS key: see its log";
	case -EKEYREVOKED:	return "the TLS key was revoked";
	case -EKEYEXPIRED:	return "the TLS key has expired";
	case -EBADE:		return "the TLS agent has used another key than the generated one: see its log";
	case -ETIMEDOUT:	return "no answer during the TLS handshake: does the port use TLS, and the agent run?";
	default:		return "the TLS handshake failed: does the port use TLS? See the TLS agent's log";
	}
}

static int handshake_failed(struct nof_tcp_queue *q, int err)
{
	const char *text = handshake_error_text(err, q->q.ctrl->opts.concat);

	if (nof_tcp_given_up(q))
		return -ECANCELED;
	if (err == -EACCES)
		err = -EKEYREJECTED;
	nof_queue_error(&q->q, err == -EKEYREJECTED || err == -ECONNRESET ? NOF_CAUSE_PEER : NOF_CAUSE_LOCAL, err,
			"%s", text);
	return err;
}

/*
 * A cipher whose driver may return before it has decrypted cannot be used in softirq: the caller would sleep. The
 * wrappers of x86's own AES-GCM are flagged so, too, but only defer what they cannot do at once without SIMD.
 */
static bool decrypts_at_once(struct tls_context *ctx)
{
	struct crypto_alg *alg;

	if (ctx->rx_conf != TLS_SW)
		return false;
	alg = crypto_aead_tfm(tls_sw_ctx_rx(ctx)->aead_recv)->__crt_alg;
	return !(alg->cra_flags & CRYPTO_ALG_ASYNC) || strstarts(alg->cra_driver_name, "generic-gcm-");
}

/* The agent is trusted, but must not be able to leave a connection in plain text by mistake. */
static bool is_encrypted(struct sock *sk)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);
	const struct tls_context *ctx = tls_get_ctx(sk);

	return icsk->icsk_ulp_ops && !strcmp(icsk->icsk_ulp_ops->name, "tls") && ctx &&
	       (ctx->tx_conf == TLS_SW || ctx->tx_conf == TLS_HW) &&
	       (ctx->rx_conf == TLS_SW || ctx->rx_conf == TLS_HW) && ctx->prot_info.version == TLS_1_3_VERSION;
}

static int handshake_run(struct nof_tcp_queue *q)
{
	struct key *key;
	u32 keyring;
	int ret;

	key = nof_tls_key_get(q->q.ctrl, &keyring);
	if (IS_ERR(key))
		return PTR_ERR(key);
	ret = handshake_begin(q, key, keyring) ?: handshake_wait(q);
	/* only the generated key ties this connection to the authentication */
	if (!ret && q->q.ctrl->opts.concat && q->tls_setup.key != key_serial(key))
		ret = -EBADE;
	if (!ret && !q->tls_setup.key)
		q->tls_setup.key = key_serial(key);
	key_put(key);
	return ret;
}

int nof_tls_handshake(struct nof_tcp_queue *q)
{
	struct nof_ctrl *ctrl = q->q.ctrl;
	struct sock *sk = q->sock->sk;
	struct tls_context *ctx;
	int ret = handshake_run(q);

	if (ret)
		return handshake_failed(q, ret);
	if (!is_encrypted(sk)) {
		nof_queue_error(&q->q, NOF_CAUSE_LOCAL, -EPROTO, "the TLS agent has not encrypted the connection");
		return -EPROTO;
	}
	ctx = tls_get_ctx(sk);
	q->tls_setup.at_once = decrypts_at_once(ctx);
	/* hardware encrypts the pages themselves, when it sends them */
	q->tx.copy = ctx->tx_conf == TLS_HW;
	q->tls = true;
	if (!q->q.qid) {
		WRITE_ONCE(ctrl->tls.used, q->tls_setup.key);
		WRITE_ONCE(ctrl->tls.at, ktime_get_boottime_ns());
		WRITE_ONCE(ctrl->tls.cipher, ctx->prot_info.cipher_type);
	}
	return 0;
}

/* The target gets a FIN, unless it has sent one itself, and an RST. In LAST_ACK there would be no RST. */
void nof_tls_abort(struct socket *sock)
{
	tls_handshake_close(sock);
	if (READ_ONCE(sock->sk->sk_state) != TCP_CLOSE_WAIT)
		kernel_sock_shutdown(sock, SHUT_RDWR);
	tcp_abort(sock->sk, ECONNABORTED);
}

/*
 * Receiving
 */

bool nof_tls_may_read(const struct nof_tcp_queue *q, const struct sock *sk)
{
	return q->tls_setup.at_once && !sock_owned_by_user_nocheck(sk) && may_use_simd();
}

bool nof_tls_unread(const struct sock *sk)
{
	return !skb_queue_empty(&tls_sw_ctx_rx(tls_get_ctx(sk))->rx_list) || READ_ONCE(sk->sk_err);
}

/* RFC 8446, 6. Alerts of the handshake reach the agent, unless the target sends them later. */
static const char *alert_name(u8 description)
{
	switch (description) {
	case TLS_ALERT_DESC_UNEXPECTED_MESSAGE:		return "unexpected_message";
	case TLS_ALERT_DESC_RECORD_OVERFLOW:		return "record_overflow";
	case TLS_ALERT_DESC_HANDSHAKE_FAILURE:		return "handshake_failure";
	case TLS_ALERT_DESC_ILLEGAL_PARAMETER:		return "illegal_parameter";
	case TLS_ALERT_DESC_ACCESS_DENIED:		return "access_denied";
	case TLS_ALERT_DESC_DECODE_ERROR:		return "decode_error";
	case TLS_ALERT_DESC_DECRYPT_ERROR:		return "decrypt_error";
	case TLS_ALERT_DESC_PROTOCOL_VERSION:		return "protocol_version";
	case TLS_ALERT_DESC_INSUFFICIENT_SECURITY:	return "insufficient_security";
	case TLS_ALERT_DESC_INTERNAL_ERROR:		return "internal_error";
	case TLS_ALERT_DESC_USER_CANCELED:		return "user_canceled";
	case TLS_ALERT_DESC_MISSING_EXTENSION:		return "missing_extension";
	case TLS_ALERT_DESC_UNSUPPORTED_EXTENSION:	return "unsupported_extension";
	case TLS_ALERT_DESC_UNKNOWN_PSK_IDENTITY:	return "unknown_psk_identity";
	default:					return "unknown";
	}
}

static struct nof_tls_end alert_end(u8 description)
{
	switch (description) {
	case TLS_ALERT_DESC_CLOSE_NOTIFY:
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -ECONNRESET, "connection closed by the target" };
	case TLS_ALERT_DESC_BAD_RECORD_MAC:
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -ECONNRESET,
					     "the target could not decrypt a TLS record (alert bad_record_mac)" };
	default:
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -ECONNRESET, alert_name(description), description };
	}
}

/* Session tickets are not needed here. New keys cannot be installed, so the connection has to be made again. */
static struct nof_tls_end message_end(struct nof_tcp_queue *q, u8 type)
{
	if (type == MESSAGE_SESSION_TICKET && q->tls_setup.tickets++ < TICKETS_MAX)
		return (struct nof_tls_end){};
	if (type == MESSAGE_SESSION_TICKET)
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -EPROTO, "too many TLS session tickets from the target" };
	if (type == MESSAGE_KEY_UPDATE)
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -ECONNRESET,
					     "TLS KeyUpdate from the target, which the kernel cannot follow" };
	return (struct nof_tls_end){ NOF_CAUSE_PEER, -EPROTO, "unexpected TLS handshake message from the target" };
}

static struct nof_tls_end record_end(struct nof_tcp_queue *q, u8 type, const u8 *data, int len)
{
	if (type == TLS_RECORD_TYPE_ALERT && len >= 2)
		return alert_end(data[1]);
	if (type == TLS_RECORD_TYPE_HANDSHAKE && len >= 1)
		return message_end(q, data[0]);
	return (struct nof_tls_end){ NOF_CAUSE_PEER, -EPROTO, "unexpected TLS record from the target" };
}

struct nof_tls_end nof_tls_read_control(struct nof_tcp_queue *q)
{
	union {
		struct cmsghdr	hdr;
		u8		space[CMSG_SPACE(sizeof(u8))];
	} control;
	struct msghdr msg = { .msg_control = &control, .msg_controllen = sizeof(control) };
	u8 data[CONTROL_MAX];
	struct kvec vec = { data, sizeof(data) };
	int n = kernel_recvmsg(q->sock, &msg, &vec, 1, sizeof(data), MSG_DONTWAIT);

	if (n <= 0)
		return (struct nof_tls_end){ NOF_CAUSE_PEER, !n || n == -EAGAIN ? -EPROTO : n,
					     "cannot read a TLS record" };
	if (n == sizeof(data))
		return (struct nof_tls_end){ NOF_CAUSE_PEER, -EPROTO, "a TLS message from the target is too long" };
	return record_end(q, tls_get_record_type(q->sock->sk, &control.hdr), data, n);
}

/*
 * Sending
 */

static int send_pages(struct socket *sock, struct iov_iter *iter, int flags)
{
	struct msghdr msg = { .msg_flags = flags | MSG_SPLICE_PAGES, .msg_iter = *iter };

	return sock->sk->sk_prot->sendmsg(sock->sk, &msg, iov_iter_count(iter));
}

/* From memory that is mapped, TLS copies into the record, and encrypts it there. */
static int send_copies(struct socket *sock, const struct iov_iter *iter, int flags)
{
	const struct bio_vec *bv = iter->bvec;
	size_t skip = iter->iov_offset, left = iov_iter_count(iter), n, len = 0;
	struct msghdr msg = { .msg_flags = flags };
	struct kvec vecs[SEND_VECS];
	unsigned int nr = 0;

	for (; left && nr < SEND_VECS; bv++, skip = 0) {
		n = min(bv->bv_len - skip, left);
		if (!n)
			continue;
		vecs[nr++] = (struct kvec){ bvec_virt((struct bio_vec *)bv) + skip, n };
		left -= n;
		len += n;
	}
	if (left)
		msg.msg_flags |= MSG_MORE;
	iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, vecs, nr, len);
	return sock->sk->sk_prot->sendmsg(sock->sk, &msg, len);
}

int nof_tls_send(struct socket *sock, struct iov_iter *iter, bool splice, bool more)
{
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (more ? MSG_MORE : 0);
	int n = splice ? send_pages(sock, iter, flags) : send_copies(sock, iter, flags);

	if (n > 0)
		iov_iter_advance(iter, n);
	return n;
}
#endif
