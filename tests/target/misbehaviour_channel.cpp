// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour during secure channel concatenation. Always armed, against a host with the right secrets.
#include "acts.h"
#include "connection.h"
#include "tcp_connection.h"

namespace target {
namespace {

using namespace acts;

constexpr auto armedFirst = When::withSecrets;
constexpr auto channel = Needs::channel;

bool hasId(const S &s, DhchapMessage id)
{
	return (*s.data)[dhchap_at::type] == auth_dhchap && (*s.data)[dhchap_at::id] == id;
}

// The host is sending this message
bool hostSends(const S &s, Dhchap::Step step)
{
	auto *auth = s.conn.authentication();
	return s.is(op_fabrics) && s.cmd->fctype() == fc_auth_send && auth && auth->step() == step;
}

// AUTHREQ of a connection with or without TLS
bool asks(S &s, bool encrypted, std::uint64_t bits)
{
	return when(s.conn.encrypted() == encrypted, [&] { *s.value = (*s.value & 0xffff) | bits; });
}

// Goes on in plain text, as if the host had not begun with TLS
bool plain(S &s)
{
	s.verdict = Verdict::drop;
	s.after = [conn = static_cast<TcpConnection *>(&s.conn)] { conn->sendBytes(encode(make<IcResp>())); };
	return true;
}

// clang-format off
const Misbehaviour channelTable[] = {
	// In plain text
	{"channel-unasked", 21, Hook::connected, armedFirst, Expect::refused, channel, // no authentication at all
		[](S &s) { return asks(s, false, 0); }},
	{"channel-authentication-only", 21, Hook::connected, armedFirst, Expect::harmless, channel, // as nvmet does
		[](S &s) { return asks(s, false, authreqAuthentication); }},
	{"channel-ignored", 21, Hook::command, armedFirst, Expect::refused, channel, // SC_C of the host
		[](S &s) { return poke<std::uint8_t>(hostSends(s, Dhchap::Step::negotiate), s, dhchap_at::secureChannel,
						     dhchap_no_channel); }},
	{"channel-mismatch", 21, Hook::message, armedFirst, Expect::refused, channel,
		[](S &s) { return when(hasId(s, dhchap_challenge), [&] {
			*s.data = s.conn.authentication()->failure(dhchap_concatenation); }); }},
	{"channel-group-null", 21, Hook::message, armedFirst, Expect::refused, channel,
		[](S &s) { return poke<std::uint8_t>(hasId(s, dhchap_challenge), s, dhchap_at::group, 0); }},
	{"channel-hash-sha512", 21, Hook::message, armedFirst, Expect::refused, channel, // no cipher suite has it
		[](S &s) { return poke<std::uint8_t>(hasId(s, dhchap_challenge), s, dhchap_at::hash, 3); }},
	{"channel-proof-none", 21, Hook::message, armedFirst, Expect::refused, channel,
		[](S &s) { return poke<std::uint8_t>(hasId(s, dhchap_success1), s, dhchap_at::valid, 0); }},
	{"channel-proof-wrong", 21, Hook::message, armedFirst, Expect::refused, channel,
		[](S &s) { return when(hasId(s, dhchap_success1), [&] { s.data->back() ^= 1; }); }},
	{"channel-success2-rejected", 21, Hook::command, armedFirst, Expect::refused, channel,
		[](S &s) { return failed(hostSends(s, Dhchap::Step::success2), s, st_internal | st_dnr); }},

	// The handshake
	{"channel-key-forgotten", 21, Hook::generated, armedFirst, Expect::refused, channel, // or of another name
		[](S &s) { s.data->clear(); return true; }},
	{"channel-key-other", 21, Hook::generated, armedFirst, Expect::refused, channel,
		[](S &s) { s.data->front() ^= 1; return true; }},
	{"channel-plain", 21, Hook::tls, armedFirst, Expect::refused, channel, plain},
	{"channel-tls-closed", 22, Hook::tls, armedFirst, Expect::refused, channel,
		[](S &s) { return verdict(true, s, Verdict::close); }},
	{"channel-tls-silent", 22, Hook::tls, armedFirst, Expect::refused, channel,
		[](S &s) { return verdict(true, s, Verdict::drop); }},

	// Over TLS
	{"channel-again", 21, Hook::connected, armedFirst, Expect::refused, channel,
		[](S &s) { return asks(s, true, authreqSecureChannel); }},
	{"channel-authentication-again", 21, Hook::connected, armedFirst, Expect::harmless, channel,
		[](S &s) { return asks(s, true, authreqAuthentication); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> channelMisbehaviours()
{
	return channelTable;
}

} // namespace target
