/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The key of TLS that secure channel concatenation generates: from the session key of DH-HMAC-CHAP (NVMe Base 2.1,
 * 8.3.4.5.9) to the key and its identity (NVMe TCP Transport 1.1, "TLS PSK and PSK Identity Derivation"). Pure logic,
 * also compiled in userspace: the caller computes the HMACs.
 */
#ifndef NOF_WIRE_TLS_PSK_H
#define NOF_WIRE_TLS_PSK_H

#include <linux/types.h>

#define NOF_TLS_PSK_MAX		48	/* bytes of SHA-384, the longest hash function of a cipher suite of TLS 1.3 */
#define NOF_TLS_NQN_MAX		223
/* "NVMe1G02 ", two NQNs, the base64 text of a SHA-384 digest, two blanks */
#define NOF_TLS_IDENTITY_MAX	(9 + NOF_TLS_NQN_MAX + 1 + NOF_TLS_NQN_MAX + 1 + 64)

/**
 * struct nof_tls_psk - a key of TLS. The owner wipes it
 * @len:	bytes of @key
 * @identity:	by which the host names it in the handshake, with a NUL
 */
struct nof_tls_psk {
	u32	len;
	u8	key[NOF_TLS_PSK_MAX];
	char	identity[NOF_TLS_IDENTITY_MAX + 1];
};

/**
 * struct nof_tls_psk_source - what both sides of an authentication know
 * @hash:	identifier of the hash function that the controller chose; all values have its length
 * @session:	session key
 * @host_challenge: sent by the host; @ctrl_challenge: by the controller. Neither is augmented
 * @hmac:	computes HMAC(@key, @data) with the hash function. Returns 0 or a negative errno
 * @context:	for @hmac
 */
struct nof_tls_psk_source {
	u8		hash;
	const u8	*session;
	const u8	*ctrl_challenge;
	const u8	*host_challenge;
	const char	*hostnqn;
	const char	*subsysnqn;
	int		(*hmac)(void *context, const u8 *key, u32 key_len, const void *data, u32 len, u8 *out);
	void		*context;
};

/* Whether a key can be generated with this hash function: TLS has no cipher suite with SHA-512. */
bool nof_tls_psk_possible(u8 hash);

/* Returns 0, -EINVAL for a hash function or NQNs that are not possible, or an error of @hmac. */
int nof_tls_psk_generate(const struct nof_tls_psk_source *source, struct nof_tls_psk *psk);

#endif
