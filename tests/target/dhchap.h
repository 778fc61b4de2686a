// SPDX-License-Identifier: LGPL-2.1-or-later
// DH-HMAC-CHAP, the controller's side (NVMe Base 2.0, 8.13.5): computations, and the messages of one queue.
#pragma once

#include "config.h"
#include "wire.h"

#include <memory>
#include <string_view>

struct evp_pkey_st;

namespace target {

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

constexpr std::uint8_t dhchapHashes = 3, dhchapGroups = 6; // numbers of identifiers
constexpr std::uint8_t secpNvme = 0xe9, spspDhchap = 1;    // SECP; SPSP0 and SPSP1

std::size_t dhchapHashLength(std::uint8_t hash); // bytes; 0: unknown
std::size_t dhchapDhLength(std::uint8_t group);  // bytes; 0: NULL or unknown
Bytes dhchapDigest(std::uint8_t hash, std::span<const std::uint8_t> data);
Bytes dhchapHmac(std::uint8_t hash, std::span<const std::uint8_t> key, std::span<const std::uint8_t> data);

// A key pair of one of the groups 1 to 5
class DhKey {
public:
	explicit DhKey(std::uint8_t group); // random
	// privateKey: big endian
	DhKey(std::uint8_t group, std::span<const std::uint8_t> privateKey);

	Bytes publicValue() const; // as long as the prime
	Bytes prime() const;
	// Nothing if the group does not allow the public value of the peer.
	std::optional<Bytes> sharedSecret(std::span<const std::uint8_t> peer) const;

private:
	std::uint8_t group_;
	std::shared_ptr<evp_pkey_st> key_;
};

// The side that proves its identity, and what the other has sent (8.13.5.4, 8.13.5.5)
struct DhchapSide {
	std::string_view secret; // text
	std::string_view nqn, other;
	std::string_view label; // "HostHost" or "Controller"
	std::span<const std::uint8_t> challenge;
	std::uint32_t sequence = 0;
};

// sessionKey: empty with the NULL group. Throws std::invalid_argument if the secret is none.
Bytes dhchapResponse(const DhchapSide &side, std::uint8_t hash, std::uint16_t transaction,
		     std::span<const std::uint8_t> sessionKey);

// The beginning of a message, zeroed up to `size`
Bytes dhchapMessage(DhchapMessageType type, DhchapMessage id, std::uint16_t transaction, std::size_t size);

// The controller of one queue.
class Dhchap {
public:
	// The message that is exchanged next
	enum class Step { negotiate, challenge, reply, success1, success2, failure1, done, failed };

	Dhchap(const Authentication &config, std::string hostnqn, std::string subsysnqn);

	// Takes a message of the host. An unacceptable one is answered by the next message: failure1.
	void take(std::span<const std::uint8_t> message);
	// The next message for the host; nothing if it is the host's turn.
	std::optional<Bytes> next();
	// The challenge went out with this content, which a misbehaviour may have changed.
	void challenged(const Bytes &message);

	Step step() const { return step_; }
	bool authenticated() const { return authenticated_; }
	std::uint16_t transaction() const { return transaction_; }
	const Bytes &hostResponse() const { return hostResponse_; }
	bool mutual() const { return !hostChallenge_.empty(); }
	const std::optional<DhKey> &key() const { return key_; }
	Bytes failure(DhchapReason reason) const; // failure1
	Bytes success1() const;

private:
	void takeNegotiate(std::span<const std::uint8_t> message);
	void takeReply(std::span<const std::uint8_t> message);
	void fail(DhchapReason reason);
	Bytes challenge();

	Authentication config_;
	std::string hostnqn_, subsysnqn_;
	Step step_ = Step::negotiate;
	bool authenticated_ = false;
	DhchapReason reason_ = dhchap_failed;
	std::uint16_t transaction_ = 0;
	std::uint32_t sequence_ = 0, hostSequence_ = 0;
	Bytes challenge_, hostChallenge_, hostResponse_, sessionKey_;
	std::optional<DhKey> key_;
};

} // namespace target
