// SPDX-License-Identifier: LGPL-2.1-or-later
// The host's side of DH-HMAC-CHAP, for the target's own tests.
#pragma once

#include "client.h"

#include <algorithm>

namespace target {

// Of bytes 0, 1, 2, ...; of bytes 32, 33, ...
inline const std::string testHostSecret = "DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:";
inline const std::string testCtrlSecret = "DHHC-1:00:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj/jBqb2:";

constexpr std::uint16_t testTransaction = 0x1234;
constexpr std::uint32_t messageRoom = 1168;
constexpr std::uint32_t authAsked = 2, secureAsked = 4; // AUTHREQ

inline Command authCommand(FabricsType type, std::size_t length)
{
	Command cmd{};
	cmd.opcode = op_fabrics;
	cmd.nsid = type;
	cmd.cdw10 = dhchapProtocol;
	cmd.cdw11 = static_cast<std::uint32_t>(length);
	if (type == fc_auth_receive) {
		cmd.sgl.type = sgl_transport;
		cmd.sgl.length = static_cast<std::uint32_t>(length);
	}
	return cmd;
}

inline int authSend(Queue &q, const Bytes &message)
{
	return q.run(authCommand(fc_auth_send, message.size()), message);
}

// The message is in q.data().
inline int authReceive(Queue &q, std::uint32_t room = messageRoom)
{
	return q.run(authCommand(fc_auth_receive, room));
}

inline Bytes negotiateMessage(std::uint8_t hashes = dhchapHashes, std::uint8_t groups = dhchapGroups)
{
	auto m = dhchapMessage(auth_common, dhchap_negotiate, testTransaction, 72);
	m[dhchap_at::descriptors] = 1;
	m[dhchap_at::authid] = spspDhchap;
	m[dhchap_at::halen] = hashes;
	m[dhchap_at::dhlen] = groups;
	for (std::uint8_t i = 0; i < hashes; i++)
		m[dhchap_at::hashes + i] = static_cast<std::uint8_t>(i + 1);
	for (std::uint8_t i = 0; i < groups; i++)
		m[dhchap_at::groups + i] = i;
	return m;
}

// The fields of a correct challenge before the values
inline Bytes challengeHeader(const Authentication &config)
{
	auto m = dhchapMessage(auth_dhchap, dhchap_challenge, testTransaction, dhchap_at::values);
	m[dhchap_at::hl] = static_cast<std::uint8_t>(dhchapHashLength(config.hash));
	m[dhchap_at::hash] = config.hash;
	m[dhchap_at::group] = config.group;
	put<std::uint16_t>(m, dhchap_at::challengeDhvlen, static_cast<std::uint16_t>(dhchapDhLength(config.group)));
	return m;
}

inline Bytes success1Header(const Authentication &config, bool mutual)
{
	auto m = dhchapMessage(auth_dhchap, dhchap_success1, testTransaction, dhchap_at::values);
	m[dhchap_at::hl] = static_cast<std::uint8_t>(dhchapHashLength(config.hash));
	m[dhchap_at::valid] = mutual;
	return m;
}

// Offsets at which the beginning of a message differs from this one; the sequence number is left out.
inline std::vector<std::size_t> differences(const Bytes &message, const Bytes &header)
{
	std::vector<std::size_t> list;
	for (std::size_t i = 0; i < header.size(); i++)
		if ((i < dhchap_at::sequence || i >= dhchap_at::values) &&
		    (i >= message.size() || message[i] != header[i]))
			list.push_back(i);
	return list;
}

// One authentication as a host sees it; it ends at the first message that the host cannot use. Statuses: -1: no
// completion; unsent: not reached.
struct AuthSession {
	static constexpr int unsent = -3;

	std::uint32_t asked = 0;
	int negotiated = unsent, challenged = unsent, replied = unsent, succeeded = unsent, accepted = unsent;
	Bytes challenge, success1, response;
	bool responseGood = false; // of the controller
	bool open = true;
	int admitted = unsent;                 // a command after that
	std::optional<nofctl::DerivedPsk> psk; // generated, with secure channel concatenation
	bool challengeForKey = false;          // not mutual, but with a challenge for that key

	AuthSession() = default;
	AuthSession(Queue &q, const Authentication &config, bool mutual, const std::string &secret = testHostSecret,
		    const Command &then = propertyGet(prop_cap), bool challengeForKey = false)
		: asked(static_cast<std::uint32_t>(q.result() >> 16)), challengeForKey(challengeForKey)
	{
		if (asked == 0 || exchange(q, config, mutual, secret))
			admitted = q.run(then);
		else
			open = q.open();
	}

private:
	// False: no completion
	bool exchange(Queue &q, const Authentication &config, bool mutual, const std::string &secret)
	{
		auto negotiate = negotiateMessage();
		if (config.channel)
			negotiate[dhchap_at::secureChannel] = dhchap_new_tls_psk;
		negotiated = authSend(q, negotiate);
		if (negotiated)
			return negotiated > 0;
		challenged = authReceive(q);
		challenge = q.data();
		auto hl = dhchapHashLength(config.hash), dhvlen = dhchapDhLength(config.group);
		if (challenged || challenge.size() < dhchap_at::values + hl + dhvlen ||
		    !differences(challenge, challengeHeader(config)).empty())
			return challenged >= 0;
		Bytes sessionKey, dh;
		if (dhvlen) {
			DhKey key(config.group);
			auto shared = key.sharedSecret(std::span(challenge).subspan(dhchap_at::values + hl, dhvlen));
			if (!shared)
				return true;
			sessionKey = dhchapDigest(config.hash, shared->bytes());
			dh = key.publicValue();
		}
		response = dhchapResponse(
			{secret, hostNqn, nqn, "HostHost", std::span(challenge).subspan(dhchap_at::values, hl),
			 get<std::uint32_t>(challenge, dhchap_at::sequence), negotiate[dhchap_at::secureChannel]},
			config.hash, testTransaction, sessionKey);
		const Bytes own(hl, 0x5a);
		replied = authSend(q, reply(config, mutual, own, dh));
		if (replied)
			return replied > 0;
		succeeded = authReceive(q);
		success1 = q.data();
		if (challengeForKey && succeeded == st_ok &&
		    differences(success1, success1Header(config, false)).empty())
			psk = generated(config, sessionKey, own);
		if (succeeded || !mutual)
			return succeeded >= 0;
		auto wanted = dhchapResponse({testCtrlSecret, nqn, hostNqn, "Controller", own, sequence,
					      negotiate[dhchap_at::secureChannel]},
					     config.hash, testTransaction, sessionKey);
		responseGood = differences(success1, success1Header(config, true)).empty() &&
			       std::ranges::equal(std::span(success1).subspan(dhchap_at::values), wanted);
		if (responseGood)
			accepted = authSend(q, dhchapMessage(auth_dhchap, dhchap_success2, testTransaction, 16));
		if (config.channel && accepted == st_ok)
			psk = generated(config, sessionKey, own);
		return accepted != -1;
	}

	nofctl::DerivedPsk generated(const Authentication &config, const Bytes &sessionKey, const Bytes &own) const
	{
		const auto theirs = std::span(challenge).subspan(dhchap_at::values, dhchapHashLength(config.hash));
		return *nofctl::generateTlsPsk(static_cast<nofctl::KeyHash>(config.hash), sessionKey, theirs, own,
					       hostNqn, nqn);
	}

	Bytes reply(const Authentication &config, bool mutual, const Bytes &own, const Bytes &dh) const
	{
		auto m = dhchapMessage(auth_dhchap, dhchap_reply, testTransaction, dhchap_at::values);
		m[dhchap_at::hl] = static_cast<std::uint8_t>(dhchapHashLength(config.hash));
		put<std::uint16_t>(m, dhchap_at::replyDhvlen, static_cast<std::uint16_t>(dh.size()));
		m.insert(m.end(), response.begin(), response.end());
		if (mutual || challengeForKey) {
			m[dhchap_at::valid] = 1;
			put<std::uint32_t>(m, dhchap_at::sequence, mutual ? sequence : 0);
			m.insert(m.end(), own.begin(), own.end());
		} else {
			m.resize(m.size() + response.size());
		}
		m.insert(m.end(), dh.begin(), dh.end());
		return m;
	}

	static constexpr std::uint32_t sequence = 77;
	static inline const std::string nqn = Config{}.nqn;
};

} // namespace target
