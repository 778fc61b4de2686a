// SPDX-License-Identifier: GPL-2.0-only
/* In-band authentication: hashes and the exchange of messages; wire/dhchap.c has their format and order. */
#include <crypto/algapi.h>
#include <crypto/dh.h>
#include <crypto/hash.h>
#include <crypto/kpp.h>
#include <linux/key.h>
#include <linux/nvme.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "core/auth_keys.h"
#include "core/ctrl.h"
#include "core/lifecycle.h"
#include "core/queue.h"
#include "core/tls_key.h"
#include "core/work.h"
#include "wire/dhchap.h"
#include "wire/tls_psk.h"

#define AUTH_SPSP	1	/* SPSP0 and SPSP1 of DH-HMAC-CHAP (NVMe Base 2.0, figures 367 and 372) */

/* Names in the crypto API, by identifier */
static const char *const hash_names[] = { NULL, "sha256", "sha384", "sha512" };
static const char *const hmac_names[] = { NULL, "hmac(sha256)", "hmac(sha384)", "hmac(sha512)" };
static const char *const group_names[] = {
	NULL, "ffdhe2048(dh)", "ffdhe3072(dh)", "ffdhe4096(dh)", "ffdhe6144(dh)", "ffdhe8192(dh)",
};
static_assert(ARRAY_SIZE(hmac_names) == NOF_DHCHAP_NR_HASHES + 1);
static_assert(ARRAY_SIZE(group_names) == NOF_DHCHAP_NR_GROUPS);

/**
 * struct auth_exchange - one authentication of a queue
 * @queue:	the queue, which is being connected; NULL: the admin queue is authenticated again
 * @qid:	its number
 * @deadline:	jiffies by which the exchange must be over
 * @connection:	of the controller
 * @keys:	references
 * @with_next:	@keys are ctrl->auth.next
 * @failure_sent: failure2 has been sent
 * @unknown:	the connection ended before the controller's answer
 * @d:		state of the protocol
 * @hmac:	of the hash function chosen by the controller
 * @session:	session key, with a DH group (8.13.5.2): hash_len bytes
 * @message:	NOF_DHCHAP_MESSAGE_MAX bytes
 * @failure:	why it failed; empty: not recorded
 */
struct auth_exchange {
	struct nof_ctrl		*ctrl;
	struct nof_queue	*queue;
	u16			qid;
	unsigned long		deadline;
	u32			connection;
	struct nof_auth_keys	keys;
	bool			with_next;
	bool			failure_sent;
	bool			unknown;
	struct nof_dhchap	d;
	struct crypto_shash	*hmac;
	u8			session[NOF_DHCHAP_HASH_MAX];
	void			*message;
	char			failure[NOF_AUTH_TEXT];
};

/* A piece of a hash's input */
struct piece {
	const void	*data;
	u32		len;
};

#define PIECE_OF_STRING(s)	{ s, strlen(s) }

/*
 * Offers the algorithms that the kernel has, loaded or built in. They are loaded with this module, never later: then
 * modprobe may have to read from a disk that waits for the controller.
 */
static void offer_algorithms(struct nof_dhchap *d)
{
	u8 i;

	d->groups = BIT(NVME_AUTH_DHGROUP_NULL);
	for (i = 1; i < NOF_DHCHAP_NR_GROUPS; i++)
		if (crypto_has_kpp(group_names[i], 0, CRYPTO_NOLOAD))
			d->groups |= BIT(i);
	for (i = 1; i <= NOF_DHCHAP_NR_HASHES; i++)
		if (crypto_has_shash(hmac_names[i], 0, CRYPTO_NOLOAD))
			d->hashes |= BIT(i);
	if (!d->channel)
		return;
	/* a key of TLS comes from a DH value, and has the length of a hash function of TLS */
	d->groups &= ~BIT(NVME_AUTH_DHGROUP_NULL);
	for (i = 1; i <= NOF_DHCHAP_NR_HASHES; i++)
		if (!nof_tls_psk_possible(i))
			d->hashes &= ~BIT(i);
}

void nof_auth_load(void)
{
	u8 i;

	if (!NOF_AUTH_SUPPORTED)
		return;
	for (i = 1; i < NOF_DHCHAP_NR_GROUPS; i++)
		if (!crypto_has_kpp(group_names[i], 0, CRYPTO_NOLOAD))
			crypto_has_kpp(group_names[i], 0, 0);
	for (i = 1; i <= NOF_DHCHAP_NR_HASHES; i++)
		if (!crypto_has_shash(hmac_names[i], 0, CRYPTO_NOLOAD))
			crypto_has_shash(hmac_names[i], 0, 0);
}

/* Returns 0, a positive NVMe status, or a negative errno */
static int exchange_exec(struct auth_exchange *x, struct nof_cmd *cmd)
{
	u32 ms = nof_ms_until(x->deadline);

	return x->queue ? nof_queue_exec(x->queue, cmd, ms, NULL) :
			  nof_admin_exec_in(x->ctrl, x->connection, cmd, ms);
}

/* Records why the exchange failed. Returns @err. */
static __printf(4, 5) int exchange_note(struct auth_exchange *x, int err, u16 status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(x->failure, sizeof(x->failure), fmt, args);
	va_end(args);
	nof_ctrl_note(x->ctrl, err, status, "%s", x->failure);
	return err;
}

/* A deadline that has passed ends the connection, like other errors */
static bool timed_out(const struct auth_exchange *x)
{
	return time_after_eq(jiffies, x->deadline);
}

/* Sends (@fctype auth_send) or receives @len bytes of x->message. Returns 0, or a negative errno, recorded. */
static int exchange_message(struct auth_exchange *x, u8 fctype, u32 len)
{
	bool write = fctype == nvme_fabrics_type_auth_send;
	const char *name = write ? "Authentication Send" : "Authentication Receive";
	struct nof_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOIO);
	int ret;

	if (!cmd)
		return -ENOMEM;
	cmd->sqe.auth_common.opcode = nvme_fabrics_command;
	cmd->sqe.auth_common.fctype = fctype;
	cmd->sqe.auth_common.spsp0 = AUTH_SPSP;
	cmd->sqe.auth_common.spsp1 = AUTH_SPSP;
	cmd->sqe.auth_common.secp = NVME_AUTH_DHCHAP_PROTOCOL_IDENTIFIER;
	cmd->sqe.auth_common.al_tl = cpu_to_le32(len);
	cmd->buf = x->message;
	cmd->len = len;
	cmd->write = write;
	ret = exchange_exec(x, cmd);
	/* a live controller that rejects it does not support being authenticated again */
	if (ret > 0)
		ret = exchange_note(x, -EOPNOTSUPP, ret,
				    "authentication of queue %u failed: the controller rejected %s", x->qid, name);
	if (ret == -ECONNRESET && timed_out(x))
		exchange_note(x, -ETIMEDOUT, 0, "authentication of queue %u failed: no answer to %s", x->qid, name);
	kfree(cmd);
	return ret;
}

static int exchange_send(struct auth_exchange *x, u32 len)
{
	return exchange_message(x, nvme_fabrics_type_auth_send, len);
}

/* The length is an allocation length: a message may be shorter. The rest is zero. */
static int exchange_receive(struct auth_exchange *x)
{
	memset(x->message, 0, NOF_DHCHAP_MESSAGE_MAX);
	return exchange_message(x, nvme_fabrics_type_auth_receive, NOF_DHCHAP_MESSAGE_MAX);
}

static int hash_pieces(struct crypto_shash *tfm, const u8 *key, u32 key_len, const struct piece *pieces, u32 nr,
		       u8 *out)
{
	SHASH_DESC_ON_STACK(desc, tfm);
	int ret;
	u32 i;

	desc->tfm = tfm;
	ret = crypto_shash_setkey(tfm, key, key_len);
	if (!ret)
		ret = crypto_shash_init(desc);
	for (i = 0; !ret && i < nr; i++)
		ret = crypto_shash_update(desc, pieces[i].data, pieces[i].len);
	if (!ret)
		ret = crypto_shash_final(desc, out);
	shash_desc_zero(desc);
	return ret;
}

/* Transforms the secret of @nqn (8.13.5.7); @len: bytes of the key before and after */
static int transform_secret(const struct nof_dhchap_secret *secret, const char *nqn, u8 *key, u32 *len)
{
	const struct piece pieces[] = { PIECE_OF_STRING(nqn), PIECE_OF_STRING("NVMe-over-Fabrics") };
	struct crypto_shash *tfm;
	int ret;

	if (!secret->hash) {
		memcpy(key, secret->key, secret->len);
		*len = secret->len;
		return 0;
	}
	tfm = crypto_alloc_shash(hmac_names[secret->hash], 0, CRYPTO_NOLOAD);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	ret = hash_pieces(tfm, secret->key, secret->len, pieces, ARRAY_SIZE(pieces), key);
	*len = nof_dhchap_hash_len(secret->hash);
	crypto_free_shash(tfm);
	return ret;
}

/* With a DH group, the challenge is augmented by the session key (8.13.5.4) */
static int augment_challenge(struct auth_exchange *x, const u8 *challenge, u8 *augmented)
{
	const struct piece pieces[] = { { challenge, x->d.hash_len } };

	if (x->d.dh_len)
		return hash_pieces(x->hmac, x->session, x->d.hash_len, pieces, ARRAY_SIZE(pieces), augmented);
	memcpy(augmented, challenge, x->d.hash_len);
	return 0;
}

/**
 * struct auth_side - the host or the controller as the side that proves its identity
 * @key:	with its secret
 * @nqn:	its NQN; @other: that of the other side
 * @label:	its name in the response
 * @challenge, @seq: of the other side
 */
struct auth_side {
	struct key	*key;
	const char	*nqn;
	const char	*other;
	const char	*label;
	const u8	*challenge;
	u32		seq;
};

/* The response of one side to the challenge of the other (8.13.5.4 and 8.13.5.5). Records errors of the key. */
static int compute_response(struct auth_exchange *x, const struct auth_side *side, u8 *response)
{
	u8 key[NOF_DHCHAP_HASH_MAX], challenge[NOF_DHCHAP_HASH_MAX];
	__le16 transaction = cpu_to_le16(x->d.transaction);
	struct nof_dhchap_secret secret = {};
	__le32 seq = cpu_to_le32(side->seq);
	const char *why = NULL;
	static const u8 zero;	/* the end of an NQN */
	const struct piece pieces[] = {
		{ challenge, x->d.hash_len }, { &seq, sizeof(seq) }, { &transaction, sizeof(transaction) },
		{ &x->d.channel, 1 }, PIECE_OF_STRING(side->label), PIECE_OF_STRING(side->nqn), { &zero, 1 },
		PIECE_OF_STRING(side->other),
	};
	u32 key_len;
	int ret;

	ret = nof_auth_read_secret(side->key, &secret, &why);
	if (ret)
		exchange_note(x, ret, 0, "the key with the secret of the %s cannot be used: %s",
			      side->key == x->keys.key ? "host" : "controller", why ?: "revoked or expired");
	if (!ret)
		ret = transform_secret(&secret, side->nqn, key, &key_len);
	if (!ret)
		ret = augment_challenge(x, side->challenge, challenge);
	if (!ret)
		ret = hash_pieces(x->hmac, key, key_len, pieces, ARRAY_SIZE(pieces), response);
	memzero_explicit(&secret, sizeof(secret));
	memzero_explicit(key, sizeof(key));
	memzero_explicit(challenge, sizeof(challenge));
	return ret;
}

static int host_response(struct auth_exchange *x, u8 *response)
{
	const struct auth_side host = {
		.key		= x->keys.key,
		.nqn		= x->ctrl->opts.hostnqn,
		.other		= x->ctrl->opts.subsysnqn,
		.label		= "HostHost",
		.challenge	= x->d.challenge,
		.seq		= x->d.seq,
	};

	return compute_response(x, &host, response);
}

static int ctrl_response(struct auth_exchange *x, u8 *response)
{
	const struct auth_side controller = {
		.key		= x->keys.ctrl_key,
		.nqn		= x->ctrl->opts.subsysnqn,
		.other		= x->ctrl->opts.hostnqn,
		.label		= "Controller",
		.challenge	= x->d.own_challenge,
		.seq		= x->d.own_seq,
	};

	return compute_response(x, &controller, response);
}

/* Runs one operation of @tfm; @from may be NULL. Both buffers are kmalloc memory of x->d.dh_len bytes. */
static int dh_run(struct auth_exchange *x, struct crypto_kpp *tfm, const u8 *from, u8 *to,
		  int (*operation)(struct kpp_request *req))
{
	struct kpp_request *req = kpp_request_alloc(tfm, GFP_KERNEL);
	struct scatterlist in, out;
	DECLARE_CRYPTO_WAIT(wait);
	int ret;

	if (!req)
		return -ENOMEM;
	sg_init_one(&out, to, x->d.dh_len);
	kpp_request_set_output(req, &out, x->d.dh_len);
	if (from)
		sg_init_one(&in, from, x->d.dh_len);
	kpp_request_set_input(req, from ? &in : NULL, from ? x->d.dh_len : 0);
	kpp_request_set_callback(req, CRYPTO_TFM_REQ_MAY_BACKLOG | CRYPTO_TFM_REQ_MAY_SLEEP, crypto_req_done, &wait);
	ret = crypto_wait_req(operation(req), &wait);
	kpp_request_free(req);
	return ret;
}

/* The session key is the hash of the shared secret (8.13.5.2) */
static int hash_session_key(struct auth_exchange *x, const u8 *shared)
{
	struct crypto_shash *tfm = crypto_alloc_shash(hash_names[x->d.hash], 0, CRYPTO_NOLOAD);
	int ret;

	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	ret = crypto_shash_tfm_digest(tfm, shared, x->d.dh_len, x->session);
	crypto_free_shash(tfm);
	return ret;
}

#define PRIVATE_KEY_BYTES	64	/* twice the strength of ffdhe8192, 192 bits, and more */

/* Not the kernel's own choice of a private key: its random number generator may be a module to be loaded. */
static int set_private_key(struct crypto_kpp *tfm)
{
	u8 key[PRIVATE_KEY_BYTES], *packed;
	const struct dh params = { .key = key, .key_size = sizeof(key) };
	u32 len = crypto_dh_key_len(&params);
	int ret;

	packed = kzalloc(len, GFP_KERNEL);
	if (!packed)
		return -ENOMEM;
	get_random_bytes(key, sizeof(key));
	ret = crypto_dh_encode_key(packed, len, &params);
	if (!ret)
		ret = crypto_kpp_set_secret(tfm, packed, len);
	memzero_explicit(key, sizeof(key));
	kfree_sensitive(packed);
	return ret;
}

/* Returns 0, -EPROTO if the controller's value cannot be used, or another negative errno */
static int agree_on_session_key(struct auth_exchange *x)
{
	struct crypto_kpp *tfm;
	u8 *shared;
	int ret;

	if (!x->d.dh_len)
		return 0;
	tfm = crypto_alloc_kpp(group_names[x->d.group], 0, CRYPTO_NOLOAD);
	if (IS_ERR(tfm))
		return PTR_ERR(tfm);
	shared = kzalloc(x->d.dh_len, GFP_KERNEL);
	ret = shared ? set_private_key(tfm) : -ENOMEM;
	if (!ret)
		ret = dh_run(x, tfm, NULL, x->d.own_dh, crypto_kpp_generate_public_key);
	/* nof_dhchap_receive() has refused a value of 0, 1, or p - 1 or more */
	if (!ret)
		ret = dh_run(x, tfm, x->d.dh, shared, crypto_kpp_compute_shared_secret);
	if (ret == -EINVAL || ret == -EBADMSG)
		ret = -EPROTO;
	if (!ret)
		ret = hash_session_key(x, shared);
	kfree_sensitive(shared);
	crypto_free_kpp(tfm);
	return ret;
}

static int prepare_reply(struct auth_exchange *x)
{
	int ret;

	x->hmac = crypto_alloc_shash(hmac_names[x->d.hash], 0, CRYPTO_NOLOAD);
	if (IS_ERR(x->hmac)) {
		ret = PTR_ERR(x->hmac);
		x->hmac = NULL;
		return ret;
	}
	ret = agree_on_session_key(x);
	if (ret)
		return ret;
	if (nof_dhchap_challenges(&x->d))
		get_random_bytes(x->d.own_challenge, x->d.hash_len);
	x->d.own_seq = get_random_u32() | 1;	/* 0 stands for no proof of the controller */
	return host_response(x, x->d.response);
}

/* The reason that is recorded next is not replaced by later errors of the queue, such as its end. */
static void exchange_settle(struct auth_exchange *x)
{
	if (x->queue)
		set_bit(NOF_Q_ERROR, &x->queue->flags);
}

#define FAILURE_TMO_MS	1000

/* Tells the controller, which has little time to answer: I/O may go on meanwhile. */
static void exchange_send_failure(struct auth_exchange *x, u8 reason)
{
	unsigned long soon = jiffies + msecs_to_jiffies(FAILURE_TMO_MS);

	if (time_after(x->deadline, soon))
		x->deadline = soon;
	exchange_send(x, nof_dhchap_failure2(&x->d, reason, x->message));
	x->failure_sent = true;
}

/* Returns @err. */
static int exchange_fail(struct auth_exchange *x, u8 reason, int err, const char *what)
{
	exchange_send_failure(x, reason);
	exchange_settle(x);
	return exchange_note(x, err, 0, "authentication of queue %u failed: %s", x->qid, what);
}

/* A message of the controller is not acceptable. */
static int exchange_protest(struct auth_exchange *x)
{
	char what[96];

	switch (x->d.reason) {
	case NVME_AUTH_DHCHAP_FAILURE_HASH_UNUSABLE:
		scnprintf(what, sizeof(what), "%s: %s (%u)", x->d.why, nof_dhchap_hash_name(x->d.hash), x->d.hash);
		break;
	case NVME_AUTH_DHCHAP_FAILURE_DHGROUP_UNUSABLE:
		scnprintf(what, sizeof(what), "%s: %s (%u)", x->d.why, nof_dhchap_group_name(x->d.group), x->d.group);
		break;
	default:
		strscpy(what, x->d.why, sizeof(what));
	}
	return exchange_fail(x, x->d.reason, x->d.no_proof ? -EKEYREJECTED : -EPROTO, what);
}

/* The host could not compute its reply. */
static int exchange_give_up(struct auth_exchange *x, int err)
{
	if (err == -EPROTO)
		return exchange_fail(x, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, err,
				     "the controller sent an invalid DH value");
	if (err == -ENOENT)
		return exchange_fail(x, NVME_AUTH_DHCHAP_FAILURE_FAILED, -EOPNOTSUPP,
				     "an algorithm is no longer available: load dh_generic, hmac and sha512_generic");
	exchange_send_failure(x, NVME_AUTH_DHCHAP_FAILURE_FAILED);
	return err;
}

/* Returns 0 if the controller's response proves that it has the secret. */
static int check_response(struct auth_exchange *x)
{
	u8 expected[NOF_DHCHAP_HASH_MAX];
	int ret = ctrl_response(x, expected);
	bool same = !ret && !crypto_memneq(expected, x->d.peer_response, x->d.hash_len);

	memzero_explicit(expected, sizeof(expected));
	if (ret || same)
		return ret;
	return exchange_fail(x, NVME_AUTH_DHCHAP_FAILURE_FAILED, -EKEYREJECTED,
			     "the controller does not have the secret that this host has for it");
}

/* The reason of the controller: it concerns the host's secret, or what the host supports. */
static int exchange_refused(struct auth_exchange *x)
{
	exchange_settle(x);
	return exchange_note(x, -EKEYREJECTED, 0, "the controller refused the authentication of queue %u: %s", x->qid,
			     nof_dhchap_reason(x->d.reason));
}

/* A controller that refuses may end the connection before the host has fetched its reason. */
static bool ended_by_peer(const struct auth_exchange *x)
{
	bool ended = x->queue ? test_bit(NOF_Q_ERROR, &x->queue->flags) :
				x->connection == READ_ONCE(x->ctrl->connection);

	return ended && READ_ONCE(x->ctrl->end.cause) == NOF_CAUSE_PEER;
}

/* Returns 0 if a message has been received, or a negative errno, recorded. */
static int exchange_await(struct auth_exchange *x)
{
	int ret = exchange_receive(x);

	x->unknown = ret == -ECONNRESET || ret == -ENOTCONN;
	if (!x->unknown || !ended_by_peer(x))
		return ret;
	if (x->d.replied)
		return exchange_note(x, -EKEYREJECTED, 0, "authentication of queue %u failed: the controller ended the "
				     "connection after the reply: the host's secret is probably wrong", x->qid);
	if (x->d.channel && !test_bit(NOF_CTRL_EVER_LIVE, &x->ctrl->flags))
		return exchange_note(x, -EKEYREJECTED, 0, "the controller ended the connection when it was asked for "
				     "secure channel concatenation: it probably does not support that");
	return ret;
}

static int psk_hmac(void *context, const u8 *key, u32 key_len, const void *data, u32 len, u8 *out)
{
	const struct piece pieces[] = { { data, len } };

	return hash_pieces(context, key, key_len, pieces, ARRAY_SIZE(pieces), out);
}

/*
 * The authentication for secure channel concatenation has succeeded: the host has proved its identity, and the
 * controller, too, if there is a secret for that.
 */
static int exchange_make_psk(struct auth_exchange *x)
{
	const struct nof_tls_psk_source source = {
		.hash		= x->d.hash,
		.session	= x->session,
		.ctrl_challenge	= x->d.challenge,
		.host_challenge	= x->d.own_challenge,
		.hostnqn	= x->ctrl->opts.hostnqn,
		.subsysnqn	= x->ctrl->opts.subsysnqn,
		.hmac		= psk_hmac,
		.context	= x->hmac,
	};
	struct nof_tls_psk psk;
	int ret;

	/* the controller may end this connection now */
	exchange_settle(x);
	ret = nof_tls_psk_generate(&source, &psk);
	if (!ret)
		ret = nof_tls_key_generated(x->ctrl, &psk);
	memzero_explicit(&psk, sizeof(psk));
	if (ret == -ENOKEY)
		return exchange_note(x, ret, 0, "cannot store the generated TLS key: load the module nvme-keyring");
	if (ret && ret != -ENOMEM)
		return exchange_note(x, ret, 0, "cannot generate the TLS key: error %d", -ret);
	return ret;
}

static int exchange_run(struct auth_exchange *x)
{
	int ret = exchange_send(x, nof_dhchap_negotiate(&x->d, x->message));

	/* two rounds at most: nof_dhchap_receive() expects success1 after the reply */
	while (!ret) {
		ret = exchange_await(x);
		if (ret)
			break;
		switch (nof_dhchap_receive(&x->d, x->message, NOF_DHCHAP_MESSAGE_MAX)) {
		case NOF_DHCHAP_SEND_REPLY:
			ret = prepare_reply(x);
			if (ret)
				return exchange_give_up(x, ret);
			ret = exchange_send(x, nof_dhchap_reply(&x->d, x->message));
			break;
		case NOF_DHCHAP_CHECK_RESPONSE:
			ret = check_response(x);
			if (!ret)
				ret = exchange_send(x, nof_dhchap_success2(&x->d, x->message));
			if (!ret && x->d.channel)
				ret = exchange_make_psk(x);
			return ret;
		case NOF_DHCHAP_DONE:
			return x->d.channel ? exchange_make_psk(x) : 0;
		case NOF_DHCHAP_REFUSED:
			return exchange_refused(x);
		case NOF_DHCHAP_FAILED:
			return exchange_protest(x);
		}
	}
	return ret;
}

static void exchange_free(struct auth_exchange *x)
{
	if (!x)
		return;
	nof_auth_put_keys(&x->keys);
	if (x->hmac)
		crypto_free_shash(x->hmac);
	kfree_sensitive(x->message);
	kfree_sensitive(x);
}

static struct auth_exchange *exchange_alloc(struct nof_ctrl *ctrl, struct nof_queue *queue)
{
	struct auth_exchange *x = kzalloc(sizeof(*x), GFP_KERNEL);

	if (!x)
		return NULL;
	x->message = kzalloc(NOF_DHCHAP_MESSAGE_MAX, GFP_KERNEL);
	if (!x->message) {
		kfree(x);
		return NULL;
	}
	x->ctrl = ctrl;
	x->queue = queue;
	x->qid = queue ? queue->qid : 0;
	x->deadline = queue ? queue->deadline : jiffies + msecs_to_jiffies(ctrl->opts.connect_tmo_ms);
	x->connection = READ_ONCE(ctrl->connection);
	x->d.transaction = atomic_inc_return(&ctrl->auth.transactions);
	x->with_next = nof_auth_choose_keys(ctrl, x->qid, !queue, &x->keys);
	if (queue && nof_auth_concatenates(queue))
		x->d.channel = NOF_DHCHAP_NEW_TLS_PSK;
	offer_algorithms(&x->d);
	x->d.mutual = x->keys.ctrl_key;
	return x;
}

static void auth_succeeded(struct auth_exchange *x)
{
	struct nof_ctrl_auth *auth = &x->ctrl->auth;

	nof_auth_keys_succeeded(x->ctrl, &x->keys);
	WRITE_ONCE(auth->agreed, NOF_AUTH_AGREED(x->d.hash, x->d.group, x->d.mutual));
	WRITE_ONCE(auth->at, ktime_get_boottime_ns());
}

/*
 * If a re-authentication has failed, the connection stays as it was authenticated: most likely only one side has a new
 * secret yet. The controller may end it. After failure2 the host does, as the controller may refuse further commands.
 */
static void reauth_ended(struct auth_exchange *x, int err)
{
	bool unknown = x->unknown || err == -ECONNRESET || err == -ENOTCONN;
	const char *why = x->failure;

	if (!*why)
		why = unknown ? "the connection ended before the controller had answered" : "authentication failed";
	if (err == -ECONNRESET && timed_out(x))
		err = -ETIMEDOUT;
	if (err == -ENOMEM || (unknown && !x->d.replied))
		nof_auth_keys_not_tried(x->ctrl, err, err == -ENOMEM ? "out of memory: try again" : why);
	else
		nof_auth_keys_tried(x->ctrl, &x->keys, err, unknown, why);
	if (x->failure_sent && x->connection == READ_ONCE(x->ctrl->connection))
		nof_ctrl_error_live(x->ctrl, false);
}

/* Returns 0, or a negative errno; all but -ENOMEM and those of a connection that ended are recorded. */
static int authenticate(struct nof_ctrl *ctrl, struct nof_queue *queue)
{
	struct auth_exchange *x;
	int ret;

	if (!NOF_AUTH_SUPPORTED) {
		nof_ctrl_note(ctrl, -EOPNOTSUPP, 0,
			      "the controller requires authentication, which this kernel does not support: "
			      "CONFIG_NVME_KEYRING or CONFIG_CRYPTO_DH_RFC7919_GROUPS is missing");
		return -EOPNOTSUPP;
	}
	x = exchange_alloc(ctrl, queue);
	if (!x) {
		if (!queue)
			nof_auth_keys_not_tried(ctrl, -ENOMEM, "out of memory: try again");
		return -ENOMEM;
	}
	if (x->d.channel && !(x->d.groups && x->d.hashes))
		ret = exchange_note(x, -EOPNOTSUPP, 0, "secure channel concatenation needs SHA-256 or "
				    "SHA-384, and a DH group: load dh_generic");
	else if (x->keys.key)
		ret = exchange_run(x);
	else if (x->qid)
		ret = exchange_note(x, -ENOKEY, 0, "the controller requires authentication of queue %u, though not of "
				    "queue 0: give it the secret of this host (dhchap-key)", x->qid);
	else
		ret = exchange_note(x, -ENOKEY, 0, "the controller requires authentication: give it the secret of this "
				    "host (dhchap-key)");
	if (!ret && !x->qid)
		auth_succeeded(x);
	else if (ret && queue && !x->qid && (x->d.replied || !x->unknown))
		nof_auth_keys_failed(ctrl, x->with_next, ret);
	if (!queue)
		reauth_ended(x, ret);
	exchange_free(x);
	return ret;
}

bool nof_auth_concatenates(const struct nof_queue *queue)
{
	return queue->ctrl->opts.concat && !queue->qid && !nof_tls_key_set(queue->ctrl);
}

int nof_auth_queue(struct nof_queue *queue)
{
	struct nof_ctrl *ctrl = queue->ctrl;
	bool channel = ctrl->opts.concat && nof_tls_key_set(ctrl), proof = nof_auth_wants_proof(ctrl);

	/* over TLS, the authentication of the admin queue is the one that has generated the key */
	if (!queue->qid && !channel)
		WRITE_ONCE(ctrl->auth.at, 0);
	if (nof_auth_peer_unproven(ctrl) && (proof || queue->must_authenticate)) {
		nof_ctrl_note(ctrl, -EKEYREJECTED, 0, proof ?
			      "the controller has not proved its identity yet: connect again" :
			      "the controller asks for another authentication, but has not proved its identity: set "
			      "dhchap-ctrl-key");
		return -EKEYREJECTED;
	}
	if (queue->must_authenticate)
		return authenticate(ctrl, queue);
	/* only the peer of that authentication knows the key of the connection */
	if (channel)
		return 0;
	if (!proof && !ctrl->opts.auth_required && !nof_auth_concatenates(queue))
		return 0;
	/*
	 * An impostor would not ask for authentication, and one on the network can remove the request for it. The
	 * kernel's target, from 7.x on, asks on the admin queue only, but lets the host begin on the others.
	 */
	if (queue->qid)
		return authenticate(ctrl, queue);
	if (proof)
		nof_ctrl_note(ctrl, -EKEYREJECTED, 0, "the controller has to prove its identity, but does not ask for "
			      "authentication: set the secrets at the target, too");
	else
		nof_ctrl_note(ctrl, -EKEYREJECTED, 0, "authentication is required here, but the controller does not "
			      "ask for it: set the secret of this host at the target, too");
	return -EKEYREJECTED;
}

static void reauth_work(struct work_struct *work)
{
	struct nof_ctrl *ctrl = container_of(work, struct nof_ctrl, auth.work);
	unsigned int noio = memalloc_noio_save();
	int ret;

	if (nof_ctrl_state(ctrl) == NVMEOF_CTRL_LIVE && READ_ONCE(ctrl->auth.at)) {
		ret = authenticate(ctrl, NULL);
		if (!ret)
			nof_ctrl_event(ctrl, NVMEOF_EVENT_CHANGED, NVMEOF_CTRL_LIVE);
	} else {
		nof_auth_keys_not_tried(ctrl, 0, "");
	}
	memalloc_noio_restore(noio);
}

void nof_auth_stop(struct nof_ctrl *ctrl)
{
	cancel_work_sync(&ctrl->auth.work);
}

void nof_auth_init(struct nof_ctrl *ctrl)
{
	mutex_init(&ctrl->auth.lock);
	INIT_WORK(&ctrl->auth.work, reauth_work);
}

void nof_auth_exit(struct nof_ctrl *ctrl)
{
	nof_auth_put_keys(&ctrl->auth.keys);
	nof_auth_put_keys(&ctrl->auth.next);
}
