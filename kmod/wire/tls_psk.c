// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nvme.h>
#include <linux/string.h>
#include "wire/dhchap.h"
#include "wire/tls_psk.h"

#define DIGEST_TEXT_MAX	64	/* characters of the base64 text of NOF_TLS_PSK_MAX bytes */

bool nof_tls_psk_possible(u8 hash)
{
	return hash == NVME_AUTH_HASH_SHA256 || hash == NVME_AUTH_HASH_SHA384;
}

/* Encodes @len bytes (RFC 4648), and appends a NUL. */
static void base64_encode_all(const u8 *from, u32 len, char *to)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 i, bits;

	for (i = 0; i < len; i += 3) {
		bits = from[i] << 16 | (i + 1 < len ? from[i + 1] << 8 : 0) | (i + 2 < len ? from[i + 2] : 0);
		*to++ = digits[bits >> 3 * 6];
		*to++ = digits[bits >> 2 * 6 & 63];
		*to++ = i + 1 < len ? digits[bits >> 6 & 63] : '=';
		*to++ = i + 2 < len ? digits[bits & 63] : '=';
	}
	*to = 0;
}

static int source_hmac(const struct nof_tls_psk_source *source, const u8 *key, const void *data, u32 len, u8 *out)
{
	return source->hmac(source->context, key, nof_dhchap_hash_len(source->hash), data, len, out);
}

/* Generated PSK = HMAC(session key, challenge of the controller || challenge of the host) */
static int generate_input(const struct nof_tls_psk_source *source, u32 len, u8 *input)
{
	u8 challenges[2 * NOF_TLS_PSK_MAX];

	memcpy(challenges, source->ctrl_challenge, len);
	memcpy(challenges + len, source->host_challenge, len);
	return source_hmac(source, source->session, challenges, 2 * len, input);
}

/* Digest = base64(HMAC(generated PSK, "HOSTNQN SUBSYSNQN NVMe-over-Fabrics")) */
static int digest_text(const struct nof_tls_psk_source *source, const u8 *input, u32 len, char *text)
{
	char names[NOF_TLS_NQN_MAX + 1 + NOF_TLS_NQN_MAX + sizeof(" NVMe-over-Fabrics")];
	u8 digest[NOF_DHCHAP_HASH_MAX];
	int ret, n;

	n = scnprintf(names, sizeof(names), "%s %s NVMe-over-Fabrics", source->hostnqn, source->subsysnqn);
	ret = source_hmac(source, input, names, n, digest);
	if (!ret)
		base64_encode_all(digest, len, text);
	return ret;
}

/*
 * HKDF-Expand-Label(HKDF-Extract(0, generated PSK), "nvme-tls-psk", "HH DIGEST", length of the hash): RFC 5869, and RFC
 * 8446, 7.1. The output is one block of HKDF-Expand.
 */
static int expand_label(const struct nof_tls_psk_source *source, const u8 *input, u32 len, const char *digest,
			u8 *key)
{
	static const char label[] = "tls13 nvme-tls-psk";
	static const u8 no_salt[NOF_DHCHAP_HASH_MAX];
	char context[sizeof("00 ") + DIGEST_TEXT_MAX];
	u8 info[2 + 1 + sizeof(label) + 1 + sizeof(context) + 1], prk[NOF_DHCHAP_HASH_MAX];
	u32 n = 0, context_len;
	int ret;

	context_len = scnprintf(context, sizeof(context), "%02u %s", source->hash, digest);
	info[n++] = len >> 8;
	info[n++] = len;
	info[n++] = sizeof(label) - 1;
	memcpy(info + n, label, sizeof(label) - 1);
	n += sizeof(label) - 1;
	info[n++] = context_len;
	memcpy(info + n, context, context_len);
	n += context_len;
	info[n++] = 1;
	ret = source_hmac(source, no_salt, input, len, prk);
	if (!ret)
		ret = source_hmac(source, prk, info, n, key);
	memzero_explicit(prk, sizeof(prk));
	return ret;
}

int nof_tls_psk_generate(const struct nof_tls_psk_source *source, struct nof_tls_psk *psk)
{
	u32 len = nof_dhchap_hash_len(source->hash);
	char digest[DIGEST_TEXT_MAX + 1] = "";
	u8 input[NOF_DHCHAP_HASH_MAX];
	int ret;

	memset(psk, 0, sizeof(*psk));
	if (!nof_tls_psk_possible(source->hash) || strlen(source->hostnqn) > NOF_TLS_NQN_MAX ||
	    strlen(source->subsysnqn) > NOF_TLS_NQN_MAX)
		return -EINVAL;
	ret = generate_input(source, len, input) ?: digest_text(source, input, len, digest) ?:
	      expand_label(source, input, len, digest, psk->key);
	memzero_explicit(input, sizeof(input));
	if (ret) {
		memzero_explicit(psk, sizeof(*psk));
		return ret;
	}
	psk->len = len;
	scnprintf(psk->identity, sizeof(psk->identity), "NVMe1G%02u %s %s %s", source->hash, source->hostnqn,
		  source->subsysnqn, digest);
	return 0;
}
