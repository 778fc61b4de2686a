// SPDX-License-Identifier: LGPL-2.1-or-later
// Each misbehaviour of authentication does what its table line says.
#include "auth_client.h"
#include "misbehaviour.h"

#include <catch2/catch.hpp>

#include <string_view>

using namespace target;

namespace {

bool waits(const Misbehaviour &m)
{
	return std::string_view(m.name).ends_with("-never");
}

// The sessions of an admin queue and, after a successful one, of an I/O queue
struct AuthPlay {
	Authentication auth;
	bool mutual;
	AuthSession admin, io;

	explicit AuthPlay(const Misbehaviour &m)
		: auth{testHostSecret, m.needs == Needs::mutual ? testCtrlSecret : "", 1,
		       static_cast<std::uint8_t>(m.needs == Needs::dhGroup)},
		  mutual(m.needs == Needs::mutual)
	{
		Config config;
		config.authentication = auth;
		Server server(config);
		server.stores().add(1, 1 << 20);
		server.script().arm(m, Script::forever);
		Queue q(server);
		const bool second = std::string_view(m.name).find("second") != std::string_view::npos;
		const std::chrono::milliseconds patience(waits(m) ? 300 : 2000);
		q.setPatience(patience);
		admin = AuthSession(q, auth, mutual);
		if (admin.admitted == st_ok && q.run(propertySet(prop_cc, 1)) == st_ok) {
			Queue other(server, q.cntlid(), 0, {}, st_ok, second ? 2 : 1);
			other.setPatience(patience);
			auto read = command(op_read);
			read.nsid = 1;
			read.sgl.length = 512;
			io = AuthSession(other, auth, mutual, testHostSecret, read);
		}
		CHECK(server.script().strikes() > 0);
		for (auto &text : server.violations())
			FAIL_CHECK(text);
	}
};

using A = AuthPlay;
using Status = int AuthSession::*;
using Message = Bytes AuthSession::*;
constexpr Status negotiated = &AuthSession::negotiated, challenged = &AuthSession::challenged,
		 replied = &AuthSession::replied, succeeded = &AuthSession::succeeded,
		 accepted = &AuthSession::accepted;
constexpr int unsent = AuthSession::unsent;
constexpr int rejected = st_auth_required | st_dnr;

void asks(A &p, std::uint32_t ofAdmin, std::uint32_t ofIo)
{
	CHECK(p.admin.asked == ofAdmin);
	CHECK(p.io.asked == ofIo);
	CHECK(p.admin.admitted == st_ok);
	CHECK(p.io.admitted == st_ok);
}

void secure(A &p, std::uint32_t asked)
{
	CHECK(p.admin.asked == asked);
}

// No completion; the connection stays.
void silent(AuthSession &s, Status at)
{
	CHECK(s.*at == -1);
	CHECK(s.open);
}

void ends(A &p, Status at)
{
	CHECK(p.admin.*at == -1);
	CHECK_FALSE(p.admin.open);
}

void completes(A &p, Status at, int status)
{
	CHECK(p.admin.*at == status);
	CHECK(p.admin.open);
}

void fails(const AuthSession &s, Message at, int reason, std::uint16_t transaction = testTransaction)
{
	auto wanted = dhchapMessage(auth_common, dhchap_failure1, transaction, dhchap_at::values);
	wanted[dhchap_at::reasonCode] = 1;
	wanted[dhchap_at::reason] = static_cast<std::uint8_t>(reason);
	CHECK((s.*at == wanted));
}

// The message differs from a correct one in these bytes and no others before the values.
void differs(const Bytes &message, const Bytes &header, const std::vector<std::size_t> &at,
	     const std::vector<std::uint8_t> &values)
{
	REQUIRE(differences(message, header) == at);
	for (std::size_t i = 0; i < at.size(); i++)
		CHECK(message[at[i]] == values[i]);
}

void challengeHas(A &p, const std::vector<std::size_t> &at, const std::vector<std::uint8_t> &values)
{
	CHECK(p.admin.challenged == st_ok);
	CHECK(p.admin.challenge.size() == dhchap_at::values + 32 + dhchapDhLength(p.auth.group));
	differs(p.admin.challenge, challengeHeader(p.auth), at, values);
	CHECK(p.admin.admitted == rejected);
}

void success1Has(A &p, const std::vector<std::size_t> &at, const std::vector<std::uint8_t> &values)
{
	CHECK(p.admin.succeeded == st_ok);
	CHECK(p.admin.success1.size() == dhchap_at::values + (p.mutual ? 32 : 0));
	differs(p.admin.success1, success1Header(p.auth, p.mutual), at, values);
}

void dhIs(A &p, const Bytes &value)
{
	challengeHas(p, {}, {});
	CHECK(std::ranges::equal(std::span(p.admin.challenge).subspan(dhchap_at::values + 32), value));
}

Bytes primeLess(std::uint8_t less)
{
	auto prime = DhKey(1).prime();
	prime.back() = static_cast<std::uint8_t>(prime.back() - less);
	return prime;
}

Bytes dhOf(std::uint8_t value)
{
	Bytes bytes(256);
	bytes.back() = value;
	return bytes;
}

void challengeSize(A &p, std::size_t size)
{
	CHECK(p.admin.challenged == st_ok);
	CHECK(p.admin.challenge.size() == size);
	auto header = challengeHeader(p.auth);
	header.resize(std::min(size, header.size()));
	CHECK(differences(p.admin.challenge, header).empty());
}

void challengeFilled(A &p, std::uint8_t value)
{
	CHECK(p.admin.challenge == Bytes(dhchap_at::values + 32, value));
}

// Authentication succeeds all the same.
void good(A &p)
{
	CHECK(p.admin.admitted == st_ok);
	CHECK(p.io.admitted == st_ok);
	CHECK(p.io.succeeded == st_ok);
}

void badResponse(A &p, const Bytes &wanted)
{
	success1Has(p, {}, {});
	CHECK_FALSE(p.admin.responseGood);
	CHECK(p.admin.accepted == unsent);
	CHECK(std::ranges::equal(std::span(p.admin.success1).subspan(dhchap_at::values), wanted));
}

struct AuthCheck {
	const char *name;
	void (*run)(A &);
};

// clang-format off
const AuthCheck authChecks[] = {
	{"auth-admin-only", [](A &p) { asks(p, authAsked, 0); }},
	{"auth-io-only", [](A &p) { asks(p, 0, authAsked); }},
	{"auth-io-only-mutual", [](A &p) { asks(p, 0, authAsked); }},
	{"auth-unasked", [](A &p) { asks(p, 0, 0); }},
	{"auth-unasked-mutual", [](A &p) { asks(p, 0, 0); }},
	{"auth-secure-channel", [](A &p) { secure(p, secureAsked); }},
	{"auth-secure-channel-too", [](A &p) { secure(p, secureAsked | authAsked); }},

	{"auth-negotiate-never", [](A &p) { silent(p.admin, negotiated); }},
	{"auth-negotiate-rejected", [](A &p) { completes(p, negotiated, st_invalid_field | st_dnr); }},
	{"auth-negotiate-unknown", [](A &p) { completes(p, negotiated, st_invalid_opcode | st_dnr); }},
	{"auth-negotiate-not-now", [](A &p) { completes(p, negotiated, st_internal); }},
	{"auth-negotiate-close", [](A &p) { ends(p, negotiated); }},
	{"auth-negotiate-rst", [](A &p) { ends(p, negotiated); }},
	{"auth-failure-secret", [](A &p) { fails(p.admin, &AuthSession::challenge, 1); }},
	{"auth-failure-protocol", [](A &p) { fails(p.admin, &AuthSession::challenge, 2); }},
	{"auth-failure-concatenation", [](A &p) { fails(p.admin, &AuthSession::challenge, 3); }},
	{"auth-failure-hash", [](A &p) { fails(p.admin, &AuthSession::challenge, 4); }},
	{"auth-failure-group", [](A &p) { fails(p.admin, &AuthSession::challenge, 5); }},
	{"auth-failure-payload", [](A &p) { fails(p.admin, &AuthSession::challenge, 6); }},
	{"auth-failure-message", [](A &p) { fails(p.admin, &AuthSession::challenge, 7); }},
	{"auth-failure-unknown", [](A &p) { fails(p.admin, &AuthSession::challenge, 255); }},
	{"auth-failure-transaction", [](A &p) { fails(p.admin, &AuthSession::challenge, 6, 0); }},

	{"auth-challenge-never", [](A &p) { silent(p.admin, challenged); }},
	{"auth-challenge-minutes-never", [](A &p) { silent(p.admin, challenged); }},
	{"auth-challenge-late", good},
	{"auth-challenge-rejected", [](A &p) { completes(p, challenged, st_internal | st_dnr); }},
	{"auth-challenge-close", [](A &p) { ends(p, challenged); }},
	{"auth-challenge-rst", [](A &p) { ends(p, challenged); }},
	{"auth-challenge-type", [](A &p) { challengeHas(p, {dhchap_at::type}, {2}); }},
	{"auth-challenge-common", [](A &p) { challengeHas(p, {dhchap_at::type}, {0}); }},
	{"auth-challenge-id", [](A &p) { challengeHas(p, {dhchap_at::id}, {2}); }},
	{"auth-success1-early", [](A &p) { challengeHas(p, {dhchap_at::id}, {3}); }},
	{"auth-challenge-transaction", [](A &p) { challengeHas(p, {dhchap_at::transaction}, {0x35}); }},
	{"auth-challenge-replayed", [](A &p) {
		CHECK(p.admin.admitted == st_ok);
		CHECK((p.io.challenge == p.admin.challenge)); }},
	{"auth-challenge-sequence-zero", [](A &p) {
		good(p);
		CHECK(get<std::uint32_t>(p.admin.challenge, dhchap_at::sequence) == 0); }},
	{"auth-challenge-repeated", [](A &p) {
		good(p);
		CHECK(std::ranges::equal(std::span(p.admin.challenge).subspan(dhchap_at::values), Bytes(32, 7)));
		CHECK(std::ranges::equal(std::span(p.io.challenge).subspan(dhchap_at::values), Bytes(32, 7))); }},
	{"auth-hash-zero", [](A &p) { challengeHas(p, {dhchap_at::hash}, {0}); }},
	{"auth-hash-unknown", [](A &p) { challengeHas(p, {dhchap_at::hash}, {4}); }},
	{"auth-hash-255", [](A &p) { challengeHas(p, {dhchap_at::hash}, {255}); }},
	{"auth-hash-other", [](A &p) { challengeHas(p, {dhchap_at::hash}, {2}); }},
	{"auth-group-unknown", [](A &p) { challengeHas(p, {dhchap_at::group}, {6}); }},
	{"auth-group-255", [](A &p) { challengeHas(p, {dhchap_at::group}, {255}); }},
	{"auth-group-other", [](A &p) { challengeHas(p, {dhchap_at::group}, {1}); }},
	{"auth-group-null", [](A &p) { challengeHas(p, {dhchap_at::group}, {0}); }},
	{"auth-hl-zero", [](A &p) { challengeHas(p, {dhchap_at::hl}, {0}); }},
	{"auth-hl-other", [](A &p) { challengeHas(p, {dhchap_at::hl}, {48}); }},
	{"auth-hl-255", [](A &p) { challengeHas(p, {dhchap_at::hl}, {255}); }},
	{"auth-dhvlen-unasked", [](A &p) { challengeHas(p, {dhchap_at::challengeDhvlen + 1}, {1}); }},
	{"auth-dhvlen-zero", [](A &p) { challengeHas(p, {dhchap_at::challengeDhvlen + 1}, {0}); }},
	{"auth-dhvlen-short", [](A &p) {
		challengeHas(p, {dhchap_at::challengeDhvlen, dhchap_at::challengeDhvlen + 1}, {255, 0}); }},
	{"auth-dhvlen-huge", [](A &p) {
		challengeHas(p, {dhchap_at::challengeDhvlen, dhchap_at::challengeDhvlen + 1}, {255, 255}); }},
	{"auth-dh-zero", [](A &p) { dhIs(p, dhOf(0)); }},
	{"auth-dh-one", [](A &p) { dhIs(p, dhOf(1)); }},
	{"auth-dh-prime-less-one", [](A &p) { dhIs(p, primeLess(1)); }},
	{"auth-dh-prime", [](A &p) { dhIs(p, primeLess(0)); }},
	{"auth-dh-ones", [](A &p) { dhIs(p, Bytes(256, 0xff)); }},
	{"auth-dh-cut", [](A &p) { challengeSize(p, 48); }},
	{"auth-challenge-cut", [](A &p) { challengeSize(p, 16); }},
	{"auth-challenge-half", [](A &p) { challengeSize(p, 8); }},
	{"auth-challenge-empty", [](A &p) { challengeSize(p, 0); }},
	{"auth-challenge-longer", [](A &p) { challengeSize(p, messageRoom); good(p); }},
	{"auth-challenge-too-long", [](A &p) { challengeSize(p, messageRoom + 64); }},
	{"auth-challenge-zeroes", [](A &p) { challengeFilled(p, 0); }},
	{"auth-challenge-ones", [](A &p) { challengeFilled(p, 0xff); }},

	{"auth-reply-never", [](A &p) { silent(p.admin, replied); }},
	{"auth-reply-rejected", [](A &p) { completes(p, replied, st_invalid_field | st_dnr); }},
	{"auth-reply-close", [](A &p) { ends(p, replied); }},
	{"auth-reply-rst", [](A &p) { ends(p, replied); }},

	{"auth-success1-never", [](A &p) { silent(p.admin, succeeded); }},
	{"auth-success1-rejected", [](A &p) { completes(p, succeeded, st_internal | st_dnr); }},
	{"auth-success1-close", [](A &p) { ends(p, succeeded); }},
	{"auth-success1-rst", [](A &p) { ends(p, succeeded); }},
	{"auth-failure-after-reply", [](A &p) { fails(p.admin, &AuthSession::success1, 1); }},
	{"auth-challenge-again", [](A &p) { success1Has(p, {dhchap_at::id}, {1}); }},
	{"auth-success2-instead", [](A &p) { success1Has(p, {dhchap_at::id}, {4}); }},
	{"auth-success1-type", [](A &p) { success1Has(p, {dhchap_at::type}, {0}); }},
	{"auth-success1-transaction", [](A &p) { success1Has(p, {dhchap_at::transaction}, {0x33}); }},
	{"auth-success1-hl-none", [](A &p) { success1Has(p, {dhchap_at::hl}, {0}); }},
	{"auth-success1-hl-zero", [](A &p) { success1Has(p, {dhchap_at::hl}, {0}); }},
	{"auth-success1-hl-255", [](A &p) { success1Has(p, {dhchap_at::hl}, {255}); }},
	{"auth-success1-empty", [](A &p) { CHECK(p.admin.succeeded == st_ok); CHECK(p.admin.success1.empty()); }},
	{"auth-response-unasked", [](A &p) {
		CHECK(p.admin.success1.size() == 48);
		differs(p.admin.success1, success1Header(p.auth, false), {dhchap_at::valid}, {1}); }},
	{"auth-response-none", [](A &p) { success1Has(p, {dhchap_at::valid}, {0}); }},
	{"auth-response-wrong", [](A &p) {
		success1Has(p, {}, {});
		CHECK_FALSE(p.admin.responseGood); }},
	{"auth-response-reflected", [](A &p) { badResponse(p, p.admin.response); }},
	{"auth-response-zeroes", [](A &p) { badResponse(p, Bytes(32)); }},
	{"auth-response-cut", [](A &p) {
		CHECK(p.admin.success1.size() == 32);
		CHECK(differences(p.admin.success1, success1Header(p.auth, true)).empty()); }},
	{"auth-success2-never", [](A &p) { silent(p.admin, accepted); }},
	{"auth-success2-rejected", [](A &p) { completes(p, accepted, st_internal | st_dnr); }},
	{"auth-success2-close", [](A &p) { ends(p, accepted); }},
	{"auth-success2-rst", [](A &p) { ends(p, accepted); }},

	{"auth-io-queues-never", [](A &p) { CHECK(p.admin.admitted == st_ok); silent(p.io, challenged); }},
	{"auth-io-queues-refused", [](A &p) {
		CHECK(p.admin.admitted == st_ok);
		fails(p.io, &AuthSession::success1, 1); }},
	{"auth-second-io-queue-never", [](A &p) { CHECK(p.admin.admitted == st_ok); silent(p.io, challenged); }},
};
// clang-format on

} // namespace

TEST_CASE("each misbehaviour of authentication does what its table line says")
{
	for (auto &m : authMisbehaviours())
		DYNAMIC_SECTION(m.name)
		{
			auto check = std::ranges::find_if(authChecks,
							  [&](auto &c) { return std::string_view(c.name) == m.name; });
			REQUIRE(check != std::end(authChecks));
			AuthPlay play(m);
			check->run(play);
		}
	CHECK(std::size(authChecks) == authMisbehaviours().size());
}

TEST_CASE("misbehaviours of authentication state what the host must do")
{
	for (auto &m : authMisbehaviours()) {
		INFO(m.name);
		CHECK(m.when == When::withSecrets);
		CHECK((m.expect == Expect::refused || m.expect == Expect::harmless));
		CHECK(findMisbehaviour(m.name) == &m);
	}
}
