/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DH-HMAC-CHAP (NVMe Base 2.0, 8.13.5): the messages of one authentication, in their order. Pure logic, also compiled
 * in userspace: the caller computes hashes and exchanges the messages.
 */
#ifndef NOF_WIRE_DHCHAP_H
#define NOF_WIRE_DHCHAP_H

#include <linux/types.h>

#define NOF_DHCHAP_HASH_MAX	64	/* bytes of SHA-512 */
#define NOF_DHCHAP_DH_MAX	1024	/* bytes of a DH value of ffdhe8192 */
/* Buffer for any message: the reply is the longest, with header, response, challenge and DH value */
#define NOF_DHCHAP_MESSAGE_MAX	(16 + 2 * NOF_DHCHAP_HASH_MAX + NOF_DHCHAP_DH_MAX)

#define NOF_DHCHAP_NR_HASHES	3	/* identifiers 1 to 3 */
#define NOF_DHCHAP_NR_GROUPS	6	/* identifiers 0 to 5 */

/* Bytes of a hash value, 0 for an unknown identifier */
u32 nof_dhchap_hash_len(u8 hash);
/* "SHA-256", "ffdhe2048"; "?" for an unknown identifier */
const char *nof_dhchap_hash_name(u8 hash);
const char *nof_dhchap_group_name(u8 group);

/**
 * struct nof_dhchap_secret - a decoded secret
 * @hash:	hash function that transforms it before use; 0: none
 * @len:	bytes of @key: 32, 48 or 64
 */
struct nof_dhchap_secret {
	u8	hash;
	u8	len;
	u8	key[NOF_DHCHAP_HASH_MAX];
};

/**
 * nof_dhchap_parse_secret() - decode the text "DHHC-1:HH:BASE64:" (NVMe Base 2.0, 8.13.5.8)
 * @text:	@len bytes; a newline and a NUL at the end are allowed
 * @secret:	the result; holds nothing of the text after an error
 * Returns NULL, or a text that describes the error.
 */
const char *nof_dhchap_parse_secret(const char *text, size_t len, struct nof_dhchap_secret *secret);

/* The caller's next step */
enum nof_dhchap_step {
	NOF_DHCHAP_SEND_REPLY,		/* compute @response and, with a DH group, @own_dh; then send the reply */
	NOF_DHCHAP_CHECK_RESPONSE,	/* compare @peer_response, then send success2 or failure2 */
	NOF_DHCHAP_DONE,		/* authenticated; nothing more is sent */
	NOF_DHCHAP_REFUSED,		/* the controller has ended the authentication: @reason */
	NOF_DHCHAP_FAILED,		/* the message is not acceptable: @reason; send failure2 */
};

/* SC_C of the negotiate message (NVMe Base 2.1, 8.3.4.5.2): whether the authentication also generates a key of TLS */
enum {
	NOF_DHCHAP_NO_CHANNEL	= 0,
	NOF_DHCHAP_NEW_TLS_PSK	= 2,	/* on a connection without TLS; needs a DH group */
};

/**
 * struct nof_dhchap - one authentication
 * @transaction: chosen by the caller, new for each
 * @hashes, @groups: bitmaps of the identifiers to offer; at least one each
 * @mutual:	the controller has to authenticate itself, too
 * @channel:	SC_C, chosen by the caller; both responses cover it
 * @hash, @group: as chosen by the controller, usable or not
 * @hash_len, @dh_len: valid from NOF_DHCHAP_SEND_REPLY on, like
 * @seq, @challenge, @dh:	sequence number, challenge and DH value of the controller
 * @response, @own_dh:	of the host, for the reply
 * @own_challenge: of the host, for the reply, if nof_dhchap_challenges(); @own_seq, not 0, if @mutual
 * @peer_response:	of the controller, valid at NOF_DHCHAP_CHECK_RESPONSE
 * @reason:	reason code explanation of a failure (NVMe Base 2.0, figure 503)
 * @why:	text of the failure that this host has found
 * @no_proof:	the failure: the controller has not proved its identity
 * @replied:	the reply has been built: success1 is expected next
 */
struct nof_dhchap {
	u16	transaction;
	u8	hashes;
	u8	groups;
	u8	channel;
	bool	mutual;
	bool	replied;
	bool	no_proof;
	u8	hash;
	u8	group;
	u8	reason;
	const char *why;
	u32	hash_len;
	u32	dh_len;
	u32	seq;
	u32	own_seq;
	u8	challenge[NOF_DHCHAP_HASH_MAX];
	u8	own_challenge[NOF_DHCHAP_HASH_MAX];
	u8	response[NOF_DHCHAP_HASH_MAX];
	u8	peer_response[NOF_DHCHAP_HASH_MAX];
	u8	dh[NOF_DHCHAP_DH_MAX];
	u8	own_dh[NOF_DHCHAP_DH_MAX];
};

/*
 * Whether the reply has a challenge: for a proof of the controller, or only because the key of TLS is derived from both
 * challenges; in that case its sequence number is 0 (NVMe Base 2.2, 8.3.4.5.4).
 */
static inline bool nof_dhchap_challenges(const struct nof_dhchap *d)
{
	return d->mutual || d->channel;
}

/* Each builds a message in @buf, which has NOF_DHCHAP_MESSAGE_MAX bytes, and returns its length. */
u32 nof_dhchap_negotiate(const struct nof_dhchap *d, void *buf);
u32 nof_dhchap_reply(struct nof_dhchap *d, void *buf);
u32 nof_dhchap_success2(const struct nof_dhchap *d, void *buf);
/* @reason: reason code explanation */
u32 nof_dhchap_failure2(const struct nof_dhchap *d, u8 reason, void *buf);

/* Takes the message that was received, @len bytes of it, and tells what to do next. */
enum nof_dhchap_step nof_dhchap_receive(struct nof_dhchap *d, const void *buf, u32 len);

/* Text of a reason code explanation */
const char *nof_dhchap_reason(u8 reason);

#endif
