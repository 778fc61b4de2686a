// SPDX-License-Identifier: LGPL-2.1-or-later
// DH-HMAC-CHAP, the controller's side (NVMe Base 2.0, 8.13.5): computations, and the messages of one queue. Errors of
// OpenSSL are thrown as std::runtime_error, except by Dhchap.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libctl/wire/bytes.h"
#include "libctl/wire/dhchap.h"
#include "secret.h"
#include "tls_psk.h"

struct evp_pkey_st;

namespace nofctl {

using wire::Bytes;

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
	std::optional<SecretBytes> sharedSecret(std::span<const std::uint8_t> peer) const;

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
	std::uint8_t channel = wire::dhchap_no_channel; // SC_C of the negotiation
};

// sessionKey: empty with the NULL group. Throws std::invalid_argument if the secret is none.
Bytes dhchapResponse(const DhchapSide &side, std::uint8_t hash, std::uint16_t transaction,
		     std::span<const std::uint8_t> sessionKey);

// The beginning of a message, zeroed up to `size`
Bytes dhchapMessage(wire::DhchapMessageType type, wire::DhchapMessage id, std::uint16_t transaction, std::size_t size);

// The secrets of a host and of the controller that it connects to: texts that the owner of the object keeps
struct DhchapSecrets {
	std::string_view host;
	std::string_view ctrl = {}; // empty: the controller cannot authenticate itself
};

// Algorithms that a controller allows: identifiers, the most preferred first
struct DhchapRules {
	std::vector<std::uint8_t> hashes, groups;
	// Whether a negotiate message may end an authentication that has not ended otherwise
	bool restart = false;
	bool concatenate = false; // whether hosts may have the authentication generate a key of TLS
};

// The controller of one queue. It does not throw, except std::bad_alloc.
class Dhchap {
public:
	// The message that is exchanged next
	enum class Step { negotiate, challenge, reply, success1, success2, failure1, done, failed };

	Dhchap(DhchapRules rules, std::shared_ptr<const DhchapSecrets> secrets, std::string hostnqn,
	       std::string subsysnqn);

	// Takes a message of the host. An unacceptable one is answered by the next message: failure1.
	void take(std::span<const std::uint8_t> message);
	// The next message for the host; nothing if it is the host's turn.
	std::optional<Bytes> next();
	// The challenge was sent with this content instead; for the misbehaviours of tests.
	void challenged(const Bytes &message);
	// Secrets of the next authentication, in place of the current ones
	void renew(std::shared_ptr<const DhchapSecrets> secrets) { renewed_ = std::move(secrets); }

	Step step() const { return step_; }
	// The host has proved its identity. It says afterwards whether it accepts that of the controller: then the
	// step is done.
	bool authenticated() const { return authenticated_; }
	std::uint8_t hash() const { return hash_; }
	std::uint8_t group() const { return group_; }
	std::uint16_t transaction() const { return transaction_; }
	// Whether the authentication generates a key of TLS, and then that key, when the step is done
	bool concatenates() const { return channel_ != wire::dhchap_no_channel; }
	const std::optional<DerivedPsk> &generated() const { return generated_; }
	const Bytes &hostResponse() const { return hostResponse_; }
	// Whether the host demands a proof of the controller. With concatenation, it may have sent a challenge only
	// because the key of TLS is derived from it.
	bool mutual() const { return !hostChallenge_.empty() && !(concatenates() && !hostSequence_); }
	const std::optional<DhKey> &key() const { return key_; }
	const char *why() const { return why_; }        // of a failure, for the log
	Bytes failure(wire::DhchapReason reason) const; // failure1
	Bytes success1() const;

private:
	void takeNegotiate(std::span<const std::uint8_t> message);
	void takeReply(std::span<const std::uint8_t> message);
	void fail(wire::DhchapReason reason, const char *why);
	void forget();
	void generate();
	Bytes challenge();

	DhchapRules rules_;
	std::shared_ptr<const DhchapSecrets> secrets_, renewed_;
	std::string hostnqn_, subsysnqn_;
	Step step_ = Step::negotiate;
	bool authenticated_ = false;
	std::uint8_t hash_ = 0, group_ = 0, channel_ = wire::dhchap_no_channel;
	wire::DhchapReason reason_ = wire::dhchap_failed;
	const char *why_ = "";
	std::uint16_t transaction_ = 0;
	std::uint32_t sequence_ = 0, hostSequence_ = 0;
	Bytes challenge_, hostChallenge_, hostResponse_;
	SecretBytes sessionKey_;
	std::optional<DhKey> key_;
	std::optional<DerivedPsk> generated_;
};

// "SHA-256", "ffdhe2048", "NULL"; "?" for an unknown identifier
const char *dhchapHashName(std::uint8_t hash);
const char *dhchapGroupName(std::uint8_t group);

} // namespace nofctl
