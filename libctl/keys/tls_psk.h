// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From a configured pre-shared key to that of TLS: NVMe TCP Transport 1.0, 3.6.1.3 to 3.6.1.5. Host and controller
 * derive the same key for a pair of NQNs, and name it by its identity in the handshake.
 */
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nvmeof/result.h>

#include "secret.h"

namespace nofctl {

/*
 * "NVMe0R01 HOSTNQN SUBSYSNQN" or "NVMe1R01 HOSTNQN SUBSYSNQN DIGEST". R: a retained key, which a configured key
 * becomes; G: a generated one, of secure channel concatenation. 01: SHA-256, 02: SHA-384.
 */
struct TlsIdentity {
	unsigned version = 1; // 0, 1
	char kind = 'R';      // 'R', 'G'
	KeyHash hash = KeyHash::sha256;
	std::string hostnqn, subsysnqn;
	std::string digest; // of version 1: base64 of an HMAC of the retained key

	static nvmeof::Result<TlsIdentity> parse(std::string_view text);
	std::string format() const;
};

// How the input of HKDF-Expand-Label is encoded
enum class HkdfLabel {
	rfc8446,    // with the lengths of label and context, big endian, as the specification requires
	libnvme115, // as libnvme and nvme-cli before 1.16 and 2.16 do: without them, little endian
};

// A key of TLS, ready for the handshake
struct DerivedPsk {
	std::string identity;
	SecretBytes secret;
};

/*
 * Derives the key of TLS for a host and a subsystem. The hash function is that of the configured key; without one, it
 * follows from the key's length. @version: 0 or 1, of the identity. Errors: invalid, if the NQNs are too long for
 * version 0; failed, if OpenSSL fails, as it does without these algorithms.
 */
nvmeof::Result<DerivedPsk> deriveTlsPsk(const TlsPsk &configured, const std::string &hostnqn,
					const std::string &subsysnqn, unsigned version = 1,
					HkdfLabel label = HkdfLabel::rfc8446);

/*
 * The key that secure channel concatenation generates (NVMe Base 2.1, 8.3.4.5.9) from what DH-HMAC-CHAP has agreed on:
 * its session key, and the challenges of controller and host. They have the length of the hash function: SHA-256 or
 * SHA-384. Errors: failed, if OpenSSL fails.
 */
nvmeof::Result<DerivedPsk> generateTlsPsk(KeyHash hash, std::span<const std::uint8_t> sessionKey,
					  std::span<const std::uint8_t> ctrlChallenge,
					  std::span<const std::uint8_t> hostChallenge, const std::string &hostnqn,
					  const std::string &subsysnqn);

/*
 * A line of a key file of nvme-cli, "IDENTITY NVMeTLSkey-1:HH:BASE64:", without its newline. The text is that of the
 * TLS key itself, not of a configured key. Errors: invalid; the message contains no part of the line.
 */
nvmeof::Result<DerivedPsk> parseKeyLine(std::string_view line);
SecretBytes formatKeyLine(const DerivedPsk &psk);

} // namespace nofctl
