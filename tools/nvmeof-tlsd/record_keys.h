// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys of the record layer after a handshake (RFC 8446, 7.3), and their installation in the kernel (kTLS).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <nvmeof/result.h>

#include "libctl/keys/secret.h"
#include "libctl/keys/tls_handshake.h"

namespace tlsd {

enum class RecordCipher { aes128Gcm, aes256Gcm, chacha20Poly1305 };

// The cipher suites of TLS 1.3 that kTLS knows, by their numbers in the protocol (RFC 8446, B.4)
std::optional<RecordCipher> recordCipherOf(std::uint16_t suite);
const char *toString(RecordCipher cipher);

/*
 * HKDF-Expand-Label (RFC 8446, 7.1) with an empty context. @label: without "tls13 ". Errors: failed, if OpenSSL lacks
 * the algorithm.
 */
nvmeof::Result<nofctl::SecretBytes> expandLabel(nofctl::KeyHash hash, const nofctl::SecretBytes &secret,
						std::string_view label, std::size_t size);

// Of one direction
struct RecordKeys {
	nofctl::SecretBytes key, iv;

	// @secret: the traffic secret of the direction
	static nvmeof::Result<RecordKeys> derive(RecordCipher cipher, nofctl::KeyHash hash,
						 const nofctl::SecretBytes &secret);
};

struct SessionKeys {
	RecordCipher cipher = RecordCipher::aes128Gcm;
	RecordKeys send, receive;
};

// Of a handshake that is done, with TlsRecords::elsewhere
nvmeof::Result<SessionKeys> sessionKeysOf(const nofctl::TlsHandshake &handshake);

/*
 * Hands the records of a connected TCP socket over to the kernel, which counts them from 0: no record with application
 * traffic keys may have been sent or received. Errors: failed, with the errno of setsockopt(2).
 */
nvmeof::Result<void> installKeys(int socket, const SessionKeys &keys);

} // namespace tlsd
