// SPDX-License-Identifier: GPL-2.0-only
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/nvme.h>
#include <linux/string.h>
#include "wire/dhchap.h"

static const struct {
	const char	*name;
	u32		len;
} hashes[NOF_DHCHAP_NR_HASHES + 1] = {
	[NVME_AUTH_HASH_SHA256]		= { "SHA-256", 32 },
	[NVME_AUTH_HASH_SHA384]		= { "SHA-384", 48 },
	[NVME_AUTH_HASH_SHA512]		= { "SHA-512", 64 },
}, groups[NOF_DHCHAP_NR_GROUPS] = {
	[NVME_AUTH_DHGROUP_NULL]	= { "NULL", 0 },
	[NVME_AUTH_DHGROUP_2048]	= { "ffdhe2048", 256 },
	[NVME_AUTH_DHGROUP_3072]	= { "ffdhe3072", 384 },
	[NVME_AUTH_DHGROUP_4096]	= { "ffdhe4096", 512 },
	[NVME_AUTH_DHGROUP_6144]	= { "ffdhe6144", 768 },
	[NVME_AUTH_DHGROUP_8192]	= { "ffdhe8192", 1024 },
};

/* A protocol descriptor has room for 30 hash functions, then for 30 DH groups */
#define NR_LISTED	30

u32 nof_dhchap_hash_len(u8 hash)
{
	return hash < ARRAY_SIZE(hashes) ? hashes[hash].len : 0;
}

const char *nof_dhchap_hash_name(u8 hash)
{
	return nof_dhchap_hash_len(hash) ? hashes[hash].name : "?";
}

const char *nof_dhchap_group_name(u8 group)
{
	return group < ARRAY_SIZE(groups) ? groups[group].name : "?";
}

/* Value of a base64 digit (RFC 4648), or -1 */
static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/*
 * Decodes exactly @digits characters, padding included, into @to, which has room for 3 bytes of every 4. Returns the
 * number of bytes, or -1.
 */
static int base64_decode_all(const char *from, size_t digits, u8 *to)
{
	size_t pad = 0, i, n = 0;
	u32 bits = 0;

	if (!digits || digits % 4)
		return -1;
	while (pad < 2 && from[digits - 1 - pad] == '=')
		pad++;
	for (i = 0; i < digits; i++) {
		int value = i < digits - pad ? base64_digit(from[i]) : 0;

		if (value < 0)
			return -1;
		bits = bits << 6 | value;
		if (i % 4 != 3)
			continue;
		to[n++] = bits >> 16;
		to[n++] = bits >> 8;
		to[n++] = bits;
	}
	/* bits beyond the last byte have to be 0: one text for one value */
	for (i = 0; i < pad; i++)
		if (to[--n])
			return -1;
	return n;
}

#define SECRET_PREFIX		"DHHC-1:00:"
#define SECRET_PREFIX_LEN	(sizeof(SECRET_PREFIX) - 1)
#define SECRET_HASH_AT		8	/* second digit of the hash identifier */
#define SECRET_DIGITS_MAX	92	/* of 64 bytes and the CRC-32 */

const char *nof_dhchap_parse_secret(const char *text, size_t len, struct nof_dhchap_secret *secret)
{
	u8 bytes[SECRET_DIGITS_MAX / 4 * 3];
	const char *why = NULL;
	u32 crc, hash_len;
	int n;

	memset(secret, 0, sizeof(*secret));
	while (len && (!text[len - 1] || text[len - 1] == '\n'))
		len--;
	if (len < SECRET_PREFIX_LEN + 1 || memcmp(text, SECRET_PREFIX, SECRET_HASH_AT) ||
	    text[SECRET_HASH_AT + 1] != ':' || text[len - 1] != ':')
		return "not of the form DHHC-1:HH:BASE64:";
	if (text[SECRET_HASH_AT] < '0' || text[SECRET_HASH_AT] > '0' + NOF_DHCHAP_NR_HASHES)
		return "unknown hash function";
	len -= SECRET_PREFIX_LEN + 1;
	if (len > SECRET_DIGITS_MAX)
		return "too long";
	n = base64_decode_all(text + SECRET_PREFIX_LEN, len, bytes);
	if (n < 0) {
		why = "not valid base64";
		goto wipe;
	}
	n -= sizeof(crc);
	secret->hash = text[SECRET_HASH_AT] - '0';
	hash_len = nof_dhchap_hash_len(secret->hash);
	if ((n != 32 && n != 48 && n != 64) || (hash_len && hash_len != (u32)n)) {
		why = "the secret has a wrong length";
		goto wipe;
	}
	crc = ~crc32_le(~0U, bytes, n);
	if (bytes[n] != (u8)crc || bytes[n + 1] != (u8)(crc >> 8) || bytes[n + 2] != (u8)(crc >> 16) ||
	    bytes[n + 3] != (u8)(crc >> 24)) {
		why = "wrong checksum: mistyped or damaged";
		goto wipe;
	}
	secret->len = n;
	memcpy(secret->key, bytes, n);
wipe:
	memzero_explicit(bytes, sizeof(bytes));
	if (why)
		memzero_explicit(secret, sizeof(*secret));
	return why;
}

/* Each message begins with it */
struct message_header {
	u8	auth_type;
	u8	auth_id;
	__le16	reserved;
	__le16	transaction;
};

u32 nof_dhchap_negotiate(const struct nof_dhchap *d, void *buf)
{
	struct nvmf_auth_dhchap_negotiate_data *m = buf;
	struct nvmf_auth_dhchap_protocol_descriptor *p = &m->auth_protocol[0].dhchap;
	u32 len = sizeof(*m) + sizeof(*p);
	u8 i;

	memset(m, 0, len);
	m->auth_type = NVME_AUTH_COMMON_MESSAGES;
	m->auth_id = NVME_AUTH_DHCHAP_MESSAGE_NEGOTIATE;
	m->t_id = cpu_to_le16(d->transaction);
	m->sc_c = d->channel;
	m->napd = 1;
	p->authid = NVME_AUTH_DHCHAP_AUTH_ID;
	for (i = 1; i <= NOF_DHCHAP_NR_HASHES; i++)
		if (d->hashes & 1U << i)
			p->idlist[p->halen++] = i;
	for (i = 0; i < NOF_DHCHAP_NR_GROUPS; i++)
		if (d->groups & 1U << i)
			p->idlist[NR_LISTED + p->dhlen++] = i;
	return len;
}

u32 nof_dhchap_reply(struct nof_dhchap *d, void *buf)
{
	struct nvmf_auth_dhchap_reply_data *m = buf;
	u8 *values = m->rval;

	memset(m, 0, sizeof(*m) + 2 * d->hash_len);
	m->auth_type = NVME_AUTH_DHCHAP_MESSAGES;
	m->auth_id = NVME_AUTH_DHCHAP_MESSAGE_REPLY;
	m->t_id = cpu_to_le16(d->transaction);
	m->hl = d->hash_len;
	m->dhvlen = cpu_to_le16(d->dh_len);
	memcpy(values, d->response, d->hash_len);
	if (nof_dhchap_challenges(d)) {
		m->cvalid = 1;
		m->seqnum = cpu_to_le32(d->mutual ? d->own_seq : 0);
		memcpy(values + d->hash_len, d->own_challenge, d->hash_len);
	}
	memcpy(values + 2 * d->hash_len, d->own_dh, d->dh_len);
	d->replied = true;
	return sizeof(*m) + 2 * d->hash_len + d->dh_len;
}

u32 nof_dhchap_success2(const struct nof_dhchap *d, void *buf)
{
	struct nvmf_auth_dhchap_success2_data *m = buf;

	memset(m, 0, sizeof(*m));
	m->auth_type = NVME_AUTH_DHCHAP_MESSAGES;
	m->auth_id = NVME_AUTH_DHCHAP_MESSAGE_SUCCESS2;
	m->t_id = cpu_to_le16(d->transaction);
	return sizeof(*m);
}

u32 nof_dhchap_failure2(const struct nof_dhchap *d, u8 reason, void *buf)
{
	struct nvmf_auth_dhchap_failure_data *m = buf;

	memset(m, 0, sizeof(*m));
	m->auth_type = NVME_AUTH_COMMON_MESSAGES;
	m->auth_id = NVME_AUTH_DHCHAP_MESSAGE_FAILURE2;
	m->t_id = cpu_to_le16(d->transaction);
	m->rescode = NVME_AUTH_DHCHAP_FAILURE_REASON_FAILED;
	m->rescode_exp = reason;
	return sizeof(*m);
}

static enum nof_dhchap_step fail(struct nof_dhchap *d, u8 reason, const char *why)
{
	d->reason = reason;
	d->why = why;
	return NOF_DHCHAP_FAILED;
}

static bool all_bytes(const u8 *p, u32 len, u8 value)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (p[i] != value)
			return false;
	return true;
}

/*
 * Refuses 0, 1, and p - 1 or more, with which the shared secret could have one of two values. The crypto API checks
 * that in FIPS mode only. The first 64 bits of each prime are set (RFC 7919); of the values below p - 1, one in 2^64
 * has these bits and is refused, too.
 */
static bool dh_is_weak(const u8 *dh, u32 len)
{
	const u32 ones = 8;

	if (!len)
		return false;
	if (all_bytes(dh, len - 1, 0))
		return dh[len - 1] <= 1;
	return all_bytes(dh, ones, 0xff);
}

static enum nof_dhchap_step receive_challenge(struct nof_dhchap *d, const void *buf, u32 len)
{
	const struct nvmf_auth_dhchap_challenge_data *m = buf;
	u32 hash_len, dh_len;

	if (len < sizeof(*m))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, "the challenge is too short");
	d->hash = m->hashid;
	d->group = m->dhgid;
	hash_len = nof_dhchap_hash_len(m->hashid);
	if (!hash_len || !(d->hashes & 1U << m->hashid))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_HASH_UNUSABLE,
			    "the controller chose a hash function that this host has not offered");
	if (d->channel && m->dhgid == NVME_AUTH_DHGROUP_NULL)
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_DHGROUP_UNUSABLE,
			    "the controller chose no DH group, which secure channel concatenation needs");
	/* only what was offered: others on the network could lead the controller to a weaker group */
	if (m->dhgid >= NOF_DHCHAP_NR_GROUPS || !(d->groups & 1U << m->dhgid))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_DHGROUP_UNUSABLE,
			    "the controller chose a DH group that this host has not offered");
	dh_len = groups[m->dhgid].len;
	if (m->hl != hash_len || le16_to_cpu(m->dhvlen) != dh_len || len < sizeof(*m) + hash_len + dh_len)
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, "the challenge has a wrong length");
	if (dh_is_weak(m->cval + hash_len, dh_len))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, "the controller sent an invalid DH value");
	d->hash_len = hash_len;
	d->dh_len = dh_len;
	d->seq = le32_to_cpu(m->seqnum);
	memcpy(d->challenge, m->cval, hash_len);
	memcpy(d->dh, m->cval + hash_len, dh_len);
	return NOF_DHCHAP_SEND_REPLY;
}

/* Without a response, HL has no meaning */
static enum nof_dhchap_step receive_success1(struct nof_dhchap *d, const void *buf, u32 len)
{
	const struct nvmf_auth_dhchap_success1_data *m = buf;
	bool valid;

	if (len < sizeof(*m))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, "the message of success is too short");
	valid = m->rvalid & NVME_AUTH_DHCHAP_RESPONSE_VALID;
	if (valid && (m->hl != d->hash_len || len < sizeof(*m) + d->hash_len))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD,
			    "the controller's response has a wrong length");
	if (!d->mutual)
		return NOF_DHCHAP_DONE;
	if (!valid) {
		d->no_proof = true;
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_FAILED,
			    "the controller does not prove its identity: it has no secret of its own for this host");
	}
	memcpy(d->peer_response, m->rval, d->hash_len);
	return NOF_DHCHAP_CHECK_RESPONSE;
}

enum nof_dhchap_step nof_dhchap_receive(struct nof_dhchap *d, const void *buf, u32 len)
{
	const struct nvmf_auth_dhchap_failure_data *failure = buf;
	const struct message_header *h = buf;
	u8 expected = d->replied ? NVME_AUTH_DHCHAP_MESSAGE_SUCCESS1 : NVME_AUTH_DHCHAP_MESSAGE_CHALLENGE;

	if (len < sizeof(*h))
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD, "the message is too short");
	/* before the transaction: a controller that could not read the message may not know its identifier */
	if (h->auth_type == NVME_AUTH_COMMON_MESSAGES && h->auth_id == NVME_AUTH_DHCHAP_MESSAGE_FAILURE1) {
		d->reason = len < sizeof(*failure) ? 0 : failure->rescode_exp;
		return NOF_DHCHAP_REFUSED;
	}
	if (h->auth_type != NVME_AUTH_DHCHAP_MESSAGES || h->auth_id != expected ||
	    le16_to_cpu(h->transaction) != d->transaction)
		return fail(d, NVME_AUTH_DHCHAP_FAILURE_INCORRECT_MESSAGE, "the controller sent an unexpected message");
	return d->replied ? receive_success1(d, buf, len) : receive_challenge(d, buf, len);
}

const char *nof_dhchap_reason(u8 reason)
{
	switch (reason) {
	case NVME_AUTH_DHCHAP_FAILURE_FAILED:		return "wrong secret";
	case NVME_AUTH_DHCHAP_FAILURE_NOT_USABLE:	return "authentication protocol not usable";
	case NVME_AUTH_DHCHAP_FAILURE_CONCAT_MISMATCH:	return "secure channel concatenation mismatch";
	case NVME_AUTH_DHCHAP_FAILURE_HASH_UNUSABLE:	return "hash function not usable";
	case NVME_AUTH_DHCHAP_FAILURE_DHGROUP_UNUSABLE:	return "DH group not usable";
	case NVME_AUTH_DHCHAP_FAILURE_INCORRECT_PAYLOAD: return "incorrect payload";
	case NVME_AUTH_DHCHAP_FAILURE_INCORRECT_MESSAGE: return "incorrect protocol message";
	default:					return "unknown reason";
	}
}
