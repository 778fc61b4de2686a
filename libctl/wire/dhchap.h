// SPDX-License-Identifier: LGPL-2.1-or-later
// DH-HMAC-CHAP: messages and identifiers; NVMe Base 2.0, 8.13.5. The computations are in libctl/keys/dhchap.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nvme.h"

namespace nofctl::wire {

enum DhchapMessageType : std::uint8_t { auth_common = 0, auth_dhchap = 1 }; // AUTH_TYPE

// AUTH_ID; negotiate and the failures have the type auth_common.
enum DhchapMessage : std::uint8_t {
	dhchap_negotiate = 0x00,
	dhchap_challenge = 0x01,
	dhchap_reply = 0x02,
	dhchap_success1 = 0x03,
	dhchap_success2 = 0x04,
	dhchap_failure2 = 0xf0,
	dhchap_failure1 = 0xf1,
};

// SC_C of the negotiate message (NVMe Base 2.1, 8.3.4.5.2)
enum DhchapChannel : std::uint8_t { dhchap_no_channel = 0, dhchap_new_tls_psk = 2, dhchap_replace_tls_psk = 3 };

// Reason Code Explanation of a failure (figure 503)
enum DhchapReason : std::uint8_t {
	dhchap_failed = 1, // wrong secret
	dhchap_protocol_unusable = 2,
	dhchap_concatenation = 3,
	dhchap_hash_unusable = 4,
	dhchap_group_unusable = 5,
	dhchap_payload = 6,
	dhchap_wrong_message = 7,
};

// Offsets in messages
namespace dhchap_at {
constexpr std::size_t type = 0, id = 1, transaction = 4, hl = 6;
constexpr std::size_t secureChannel = 6, descriptors = 7, authid = 8, halen = 10, dhlen = 11, hashes = 12,
		      groups = 42;                                              // negotiate
constexpr std::size_t hash = 8, group = 9, challengeDhvlen = 10, sequence = 12; // challenge; sequence also of reply
constexpr std::size_t valid = 8;                                                // CVALID, RVALID
constexpr std::size_t replyDhvlen = 10;                                         // reply
constexpr std::size_t reasonCode = 6, reason = 7;                               // failures
constexpr std::size_t values = 16;
} // namespace dhchap_at

constexpr std::uint8_t dhchapHashes = 3, dhchapGroups = 6;    // numbers of identifiers
constexpr std::uint8_t secpNvme = 0xe9, spspDhchap = 1;       // SECP; SPSP0 and SPSP1
constexpr std::size_t maxDhchapHash = 64, maxDhchapDh = 1024; // bytes: SHA-512, ffdhe8192
// The longest message is the reply: header, response, challenge and DH value.
constexpr std::size_t maxDhchapMessage = dhchap_at::values + 2 * maxDhchapHash + maxDhchapDh;

// AUTHREQ in dword 0 of the completion of Connect (figure 395)
constexpr std::uint64_t authreqAuthentication = 1 << 17, authreqSecureChannel = 1 << 18;

// Whether Authentication Send or Receive, @cmd, is one of DH-HMAC-CHAP
constexpr std::uint32_t dhchapProtocol = std::uint32_t(secpNvme) << 24 | spspDhchap << 16 | spspDhchap << 8;
inline bool isDhchap(const Command &cmd)
{
	return cmd.cdw10 == dhchapProtocol;
}

} // namespace nofctl::wire
