// SPDX-License-Identifier: LGPL-2.1-or-later
// Misbehaviour during authentication. Always armed, against a host with the right secrets. A line whose name ends with
// -never makes the host wait until its timeout.
#include "acts.h"
#include "connection.h"

#include <algorithm>

namespace target {
namespace {

using namespace acts;
using namespace std::chrono_literals;
using Step = Dhchap::Step;

constexpr auto withSecrets = When::withSecrets;
constexpr auto mutual = Needs::mutual, dhGroup = Needs::dhGroup;

constexpr std::size_t hashBytes = 32; // the target chooses SHA-256

bool is(const S &s, DhchapMessageType type, DhchapMessage id)
{
	return (*s.data)[dhchap_at::type] == type && (*s.data)[dhchap_at::id] == id;
}

bool challenge(const S &s)
{
	return is(s, auth_dhchap, dhchap_challenge);
}

bool success1(const S &s)
{
	return is(s, auth_dhchap, dhchap_success1);
}

// The host is sending this message
bool sent(S &s, DhchapMessage id)
{
	auto *auth = s.conn.authentication();
	Step step = id == dhchap_negotiate ? Step::negotiate : id == dhchap_reply ? Step::reply : Step::success2;
	return s.is(op_fabrics) && s.cmd->fctype() == fc_auth_send && auth && auth->step() == step;
}

// Sends failure1 instead of a message.
bool failure(S &s, bool condition, int reason)
{
	return when(condition, [&] { *s.data = s.conn.authentication()->failure(static_cast<DhchapReason>(reason)); });
}

bool resize(S &s, bool condition, std::size_t size)
{
	return when(condition, [&] { s.data->resize(size); });
}

bool fill(S &s, bool condition, std::uint8_t value)
{
	return when(condition, [&] { std::fill(s.data->begin(), s.data->end(), value); });
}

bool dhValue(S &s, Bytes (*value)(const DhKey &))
{
	return when(challenge(s), [&] {
		auto bytes = value(*s.conn.authentication()->key());
		std::copy(bytes.begin(), bytes.end(), s.data->begin() + dhchap_at::values + hashBytes);
	});
}

Bytes small(const DhKey &key, std::uint8_t value)
{
	Bytes bytes(key.prime().size());
	bytes.back() = value;
	return bytes;
}

bool response(S &s, Bytes (*value)(S &))
{
	return when(success1(s), [&] {
		auto bytes = value(s);
		std::copy(bytes.begin(), bytes.end(), s.data->begin() + dhchap_at::values);
	});
}

// Sends the message later; the connection goes on with other commands.
bool delayed(S &s, bool condition, std::chrono::milliseconds delay)
{
	return when(condition, [&] {
		auto *conn = &s.conn;
		s.verdict = Verdict::drop;
		s.after = [conn, cmd = *s.cmd, message = *s.data, delay] {
			conn->later(delay, [=] { conn->sendMessage(cmd, message); });
		};
	});
}

bool authreq(S &s, bool condition, std::uint64_t bits)
{
	return when(condition, [&] { *s.value = (*s.value & 0xffff) | bits; });
}

// An I/O queue gets the challenge that the admin queue had.
bool replayed(S &s)
{
	static Bytes last;
	if (!challenge(s))
		return false;
	if (!s.qid)
		last = *s.data;
	return when(s.qid != 0, [&] { *s.data = last; });
}

// clang-format off
const Misbehaviour authTable[] = {
	// Connect
	{"auth-admin-only", 21, Hook::connected, withSecrets, Expect::harmless, nothing,
		[](S &s) { return authreq(s, s.qid != 0, 0); }},
	{"auth-io-only", 21, Hook::connected, withSecrets, Expect::harmless, nothing,
		[](S &s) { return authreq(s, s.qid == 0, 0); }},
	{"auth-io-only-mutual", 21, Hook::connected, withSecrets, Expect::refused, mutual,
		[](S &s) { return authreq(s, s.qid == 0, 0); }},
	{"auth-unasked", 21, Hook::connected, withSecrets, Expect::harmless, nothing,
		[](S &s) { return authreq(s, true, 0); }},
	{"auth-unasked-mutual", 21, Hook::connected, withSecrets, Expect::refused, mutual,
		[](S &s) { return authreq(s, true, 0); }},
	{"auth-secure-channel", 21, Hook::connected, withSecrets, Expect::refused, nothing,
		[](S &s) { return authreq(s, true, authreqSecureChannel); }},
	{"auth-secure-channel-too", 21, Hook::connected, withSecrets, Expect::refused, nothing,
		[](S &s) { return authreq(s, true, authreqSecureChannel | authreqAuthentication); }},

	// Negotiate
	{"auth-negotiate-never", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_negotiate), s, Verdict::drop); }},
	{"auth-negotiate-rejected", 21, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return failed(sent(s, dhchap_negotiate), s, st_invalid_field | st_dnr); }},
	{"auth-negotiate-unknown", 21, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return failed(sent(s, dhchap_negotiate), s, st_invalid_opcode | st_dnr); }},
	{"auth-negotiate-not-now", 21, Hook::command, withSecrets, Expect::refused, nothing, // without DNR
		[](S &s) { return failed(sent(s, dhchap_negotiate), s, st_internal); }},
	{"auth-negotiate-close", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_negotiate), s, Verdict::close); }},
	{"auth-negotiate-rst", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_negotiate), s, Verdict::abort); }},
	{"auth-failure-secret", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_failed); }},
	{"auth-failure-protocol", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_protocol_unusable); }},
	{"auth-failure-concatenation", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_concatenation); }},
	{"auth-failure-hash", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_hash_unusable); }},
	{"auth-failure-group", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_group_unusable); }},
	{"auth-failure-payload", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_payload); }},
	{"auth-failure-message", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), dhchap_wrong_message); }},
	{"auth-failure-unknown", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, challenge(s), 255); }},
	{"auth-failure-transaction", 21, Hook::message, withSecrets, Expect::refused, nothing, // of an unknown one
		[](S &s) { return failure(s, challenge(s), dhchap_payload) &&
				  poke<std::uint16_t>(true, s, dhchap_at::transaction, 0); }},

	// Challenge
	{"auth-challenge-never", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(challenge(s), s, Verdict::drop); }},
	{"auth-challenge-minutes-never", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return delayed(s, challenge(s), 2min); }},
	{"auth-challenge-late", 22, Hook::message, withSecrets, Expect::harmless, nothing,
		[](S &s) { return delayed(s, challenge(s), 300ms); }},
	{"auth-challenge-rejected", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failed(challenge(s), s, st_internal | st_dnr); }},
	{"auth-challenge-close", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(challenge(s), s, Verdict::close); }},
	{"auth-challenge-rst", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(challenge(s), s, Verdict::abort); }},
	{"auth-challenge-type", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::type, 2); }},
	{"auth-challenge-common", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::type, auth_common); }},
	{"auth-challenge-id", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::id, dhchap_reply); }},
	{"auth-success1-early", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::id, dhchap_success1); }},
	{"auth-challenge-transaction", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint16_t>(challenge(s), s, dhchap_at::transaction,
			static_cast<std::uint16_t>(s.conn.authentication()->transaction() + 1)); }},
	{"auth-challenge-replayed", 21, Hook::message, withSecrets, Expect::refused, nothing, replayed},
	{"auth-challenge-sequence-zero", 21, Hook::message, withSecrets, Expect::harmless, nothing,
		[](S &s) { return poke<std::uint32_t>(challenge(s), s, dhchap_at::sequence, 0); }},
	{"auth-challenge-repeated", 21, Hook::message, withSecrets, Expect::harmless, nothing, // the same each time
		[](S &s) { return when(challenge(s), [&] {
			std::fill_n(s.data->begin() + dhchap_at::values, hashBytes, 7); }); }},
	{"auth-hash-zero", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hash, 0); }},
	{"auth-hash-unknown", 21, Hook::message, withSecrets, Expect::refused, nothing, // and not offered
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hash, dhchapHashes + 1); }},
	{"auth-hash-255", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hash, 255); }},
	{"auth-hash-other", 21, Hook::message, withSecrets, Expect::refused, nothing, // HL is that of SHA-256
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hash, 2); }},
	{"auth-group-unknown", 21, Hook::message, withSecrets, Expect::refused, nothing, // and not offered
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::group, dhchapGroups); }},
	{"auth-group-255", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::group, 255); }},
	{"auth-group-other", 21, Hook::message, withSecrets, Expect::refused, nothing, // DHVLEN is that of NULL
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::group, 1); }},
	{"auth-group-null", 21, Hook::message, withSecrets, Expect::refused, dhGroup, // with DHVLEN of ffdhe2048
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::group, 0); }},
	{"auth-hl-zero", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hl, 0); }},
	{"auth-hl-other", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hl, 48); }},
	{"auth-hl-255", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(challenge(s), s, dhchap_at::hl, 255); }},
	{"auth-dhvlen-unasked", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint16_t>(challenge(s), s, dhchap_at::challengeDhvlen, 256); }},
	{"auth-dhvlen-zero", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return poke<std::uint16_t>(challenge(s), s, dhchap_at::challengeDhvlen, 0); }},
	{"auth-dhvlen-short", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return poke<std::uint16_t>(challenge(s), s, dhchap_at::challengeDhvlen, 255); }},
	{"auth-dhvlen-huge", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return poke<std::uint16_t>(challenge(s), s, dhchap_at::challengeDhvlen, 0xffff); }},
	{"auth-dh-zero", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return dhValue(s, [](auto &key) { return small(key, 0); }); }},
	{"auth-dh-one", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return dhValue(s, [](auto &key) { return small(key, 1); }); }},
	{"auth-dh-prime-less-one", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return dhValue(s, [](auto &key) {
			auto p = key.prime();
			p.back() &= 0xfe; // the prime is odd
			return p; }); }},
	{"auth-dh-prime", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return dhValue(s, [](auto &key) { return key.prime(); }); }},
	{"auth-dh-ones", 21, Hook::message, withSecrets, Expect::refused, dhGroup,
		[](S &s) { return dhValue(s, [](auto &key) { return Bytes(key.prime().size(), 0xff); }); }},
	{"auth-dh-cut", 21, Hook::message, withSecrets, Expect::refused, dhGroup, // the host sees zeroes there
		[](S &s) { return resize(s, challenge(s), dhchap_at::values + hashBytes); }},
	{"auth-challenge-cut", 21, Hook::message, withSecrets, Expect::refused, nothing, // without a challenge value
		[](S &s) { return resize(s, challenge(s), dhchap_at::values); }},
	{"auth-challenge-half", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return resize(s, challenge(s), 8); }},
	{"auth-challenge-empty", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return resize(s, challenge(s), 0); }},
	{"auth-challenge-longer", 21, Hook::message, withSecrets, Expect::harmless, nothing, // zeroes follow
		[](S &s) { return resize(s, challenge(s), s.cmd->cdw11); }},
	{"auth-challenge-too-long", 21, Hook::message, withSecrets, Expect::refused, nothing, // for the host's buffer
		[](S &s) { return resize(s, challenge(s), s.cmd->cdw11 + 64); }},
	{"auth-challenge-zeroes", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return fill(s, challenge(s), 0); }},
	{"auth-challenge-ones", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return fill(s, challenge(s), 0xff); }},

	// Reply
	{"auth-reply-never", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_reply), s, Verdict::drop); }},
	{"auth-reply-rejected", 21, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return failed(sent(s, dhchap_reply), s, st_invalid_field | st_dnr); }},
	{"auth-reply-close", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_reply), s, Verdict::close); }},
	{"auth-reply-rst", 22, Hook::command, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(sent(s, dhchap_reply), s, Verdict::abort); }},

	// success1
	{"auth-success1-never", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(success1(s), s, Verdict::drop); }},
	{"auth-success1-rejected", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failed(success1(s), s, st_internal | st_dnr); }},
	{"auth-success1-close", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(success1(s), s, Verdict::close); }},
	{"auth-success1-rst", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(success1(s), s, Verdict::abort); }},
	{"auth-failure-after-reply", 21, Hook::message, withSecrets, Expect::refused, nothing, // which was correct
		[](S &s) { return failure(s, success1(s), dhchap_failed); }},
	{"auth-challenge-again", 21, Hook::message, withSecrets, Expect::refused, nothing, // as often as it is asked
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::id, dhchap_challenge); }},
	{"auth-success2-instead", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::id, dhchap_success2); }},
	{"auth-success1-type", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::type, auth_common); }},
	{"auth-success1-transaction", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return poke<std::uint16_t>(success1(s), s, dhchap_at::transaction,
			static_cast<std::uint16_t>(s.conn.authentication()->transaction() - 1)); }},
	{"auth-success1-hl-none", 21, Hook::message, withSecrets, Expect::harmless, nothing, // it has no value
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::hl, 0); }},
	{"auth-success1-hl-zero", 21, Hook::message, withSecrets, Expect::refused, mutual,
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::hl, 0); }},
	{"auth-success1-hl-255", 21, Hook::message, withSecrets, Expect::refused, mutual,
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::hl, 255); }},
	{"auth-success1-empty", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return resize(s, success1(s), 0); }},
	{"auth-response-unasked", 21, Hook::message, withSecrets, Expect::harmless, nothing,
		[](S &s) { return resize(s, success1(s), dhchap_at::values + hashBytes) &&
				  poke<std::uint8_t>(true, s, dhchap_at::valid, 1); }},
	{"auth-response-none", 21, Hook::message, withSecrets, Expect::refused, mutual, // RVALID 0
		[](S &s) { return poke<std::uint8_t>(success1(s), s, dhchap_at::valid, 0); }},
	{"auth-response-wrong", 21, Hook::message, withSecrets, Expect::refused, mutual, // in its last bit
		[](S &s) { return when(success1(s), [&] { s.data->back() ^= 1; }); }},
	{"auth-response-reflected", 21, Hook::message, withSecrets, Expect::refused, mutual, // the host's own
		[](S &s) { return response(s, [](S &o) { return o.conn.authentication()->hostResponse(); }); }},
	{"auth-response-zeroes", 21, Hook::message, withSecrets, Expect::refused, mutual,
		[](S &s) { return response(s, [](S &) { return Bytes(hashBytes); }); }},
	{"auth-response-cut", 21, Hook::message, withSecrets, Expect::refused, mutual,
		[](S &s) { return resize(s, success1(s), dhchap_at::values + hashBytes / 2); }},
	{"auth-success2-never", 22, Hook::command, withSecrets, Expect::refused, mutual,
		[](S &s) { return verdict(sent(s, dhchap_success2), s, Verdict::drop); }},
	{"auth-success2-rejected", 21, Hook::command, withSecrets, Expect::refused, mutual,
		[](S &s) { return failed(sent(s, dhchap_success2), s, st_internal | st_dnr); }},
	{"auth-success2-close", 22, Hook::command, withSecrets, Expect::refused, mutual,
		[](S &s) { return verdict(sent(s, dhchap_success2), s, Verdict::close); }},
	{"auth-success2-rst", 22, Hook::command, withSecrets, Expect::refused, mutual,
		[](S &s) { return verdict(sent(s, dhchap_success2), s, Verdict::abort); }},

	// I/O queues
	{"auth-io-queues-never", 22, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return verdict(s.qid && challenge(s), s, Verdict::drop); }},
	{"auth-io-queues-refused", 21, Hook::message, withSecrets, Expect::refused, nothing,
		[](S &s) { return failure(s, s.qid && success1(s), dhchap_failed); }},
	{"auth-second-io-queue-never", 22, Hook::message, withSecrets, Expect::harmless, nothing, // one is enough
		[](S &s) { return verdict(s.qid == 2 && challenge(s), s, Verdict::drop); }},
};
// clang-format on

} // namespace

std::span<const Misbehaviour> authMisbehaviours()
{
	return authTable;
}

} // namespace target
