// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of DH-HMAC-CHAP as a host sends them to the service
#pragma once

#include <catch2/catch.hpp>

#include <span>
#include <string>

#include "libctl/keys/dhchap.h"
#include "libctl/wire/bytes.h"
#include "libctl/wire/fabrics.h"
#include "target/auth_client.h"

namespace cdc {

using namespace nofctl::wire;

inline const std::string testHostnqn = "nqn.host";
constexpr std::uint32_t challengeNumber = 77; // sequence number of the host's own challenge

// A host's answer to a challenge
struct Reply {
	Bytes message, sessionKey, challenge;
};

inline Reply replyTo(const Bytes &challenge, bool mutual, const std::string &secret = target::testHostSecret)
{
	const std::uint8_t hash = challenge.at(dhchap_at::hash), group = challenge.at(dhchap_at::group);
	const std::size_t hl = nofctl::dhchapHashLength(hash), dhvlen = nofctl::dhchapDhLength(group);
	REQUIRE(challenge.size() == dhchap_at::values + hl + dhvlen);
	Reply reply;
	Bytes own;
	if (dhvlen) {
		const nofctl::DhKey key(group);
		const auto shared = key.sharedSecret(std::span(challenge).subspan(dhchap_at::values + hl));
		REQUIRE(shared);
		reply.sessionKey = nofctl::dhchapDigest(hash, shared->bytes());
		own = key.publicValue();
	}
	reply.challenge = Bytes(hl, 0x5a);
	reply.message = nofctl::dhchapMessage(auth_dhchap, dhchap_reply, target::testTransaction, dhchap_at::values);
	reply.message[dhchap_at::hl] = static_cast<std::uint8_t>(hl);
	reply.message[dhchap_at::valid] = mutual;
	put<std::uint16_t>(reply.message, dhchap_at::replyDhvlen, static_cast<std::uint16_t>(dhvlen));
	put<std::uint32_t>(reply.message, dhchap_at::sequence, mutual ? challengeNumber : 0);
	append(reply.message, nofctl::dhchapResponse({secret, testHostnqn, wellKnownDiscoveryNqn, "HostHost",
						      std::span(challenge).subspan(dhchap_at::values, hl),
						      get<std::uint32_t>(challenge, dhchap_at::sequence)},
						     hash, target::testTransaction, reply.sessionKey));
	append(reply.message, mutual ? reply.challenge : Bytes(hl));
	append(reply.message, own);
	return reply;
}

inline Bytes success2()
{
	return nofctl::dhchapMessage(auth_dhchap, dhchap_success2, target::testTransaction, dhchap_at::values);
}

} // namespace cdc
