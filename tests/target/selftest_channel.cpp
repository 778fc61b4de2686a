// SPDX-License-Identifier: LGPL-2.1-or-later
// Secure channel concatenation by the target, with a host of a few lines, and each misbehaviour of its table
#include "auth_client.h"
#include "misbehaviour.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string_view>

using namespace target;

namespace {

Config concatenating(std::uint8_t hash = 1)
{
	Config config;
	config.authentication = Authentication{testHostSecret, testCtrlSecret, hash, 1};
	config.authentication->channel = true;
	return config;
}

// A host: authentication in plain text, then an admin and an I/O queue with TLS
struct ChannelPlay {
	Server server;
	AuthSession first;
	std::unique_ptr<Queue> admin, io;
	AuthSession again; // of the admin queue over TLS, if that asks for it
	std::string failure;

	explicit ChannelPlay(const Misbehaviour *m = nullptr, std::uint8_t hash = 1, bool mutual = true)
		: server(concatenating(hash))
	{
		server.stores().add(1, 1 << 20);
		if (m)
			server.script().arm(*m, Script::forever);
		{
			Queue plain(server);
			first = AuthSession(plain, *server.config().authentication, mutual, testHostSecret,
					    propertyGet(prop_cap), !mutual);
		}
		if (!first.psk)
			return;
		try {
			admin = std::make_unique<Queue>(server, &*first.psk);
			again = authenticated(*admin);
			if (admin->run(propertySet(prop_cc, 1)) == st_ok) {
				io = std::make_unique<Queue>(server, &*first.psk, admin->cntlid());
				authenticated(*io);
			}
		} catch (const std::exception &e) {
			failure = e.what();
		}
	}

	AuthSession authenticated(Queue &q)
	{
		Authentication simple = *server.config().authentication;
		simple.channel = false;
		return {q, simple, true, testHostSecret, command(op_keep_alive)};
	}

	bool works()
	{
		auto read = command(op_read);
		read.nsid = 1;
		read.sgl.length = 512;
		return io && io->run(read) == st_ok && io->data().size() == 512;
	}
};

using C = ChannelPlay;

void failsAt(const Bytes &message, int reason)
{
	REQUIRE(message.size() == dhchap_at::values);
	CHECK(message[dhchap_at::id] == dhchap_failure1);
	CHECK(message[dhchap_at::reason] == reason);
}

void challengeHas(C &p, std::size_t at, std::uint8_t value)
{
	CHECK(differences(p.first.challenge, challengeHeader(*p.server.config().authentication)) ==
	      std::vector<std::size_t>{at});
	CHECK(p.first.challenge[at] == value);
}

void noHandshake(C &p)
{
	CHECK(p.first.psk);
	CHECK_FALSE(p.admin);
	CHECK(p.failure.find("TLS") != std::string::npos);
}

struct ChannelCheck {
	const char *name;
	void (*run)(C &);
};

// clang-format off
const ChannelCheck channelChecks[] = {
	{"channel-unasked", [](C &p) { CHECK(p.first.asked == 0); }},
	{"channel-authentication-only", [](C &p) { CHECK(p.first.asked == authAsked); CHECK(p.works()); }},
	{"channel-ignored", [](C &p) { failsAt(p.first.success1, dhchap_failed); }},
	{"channel-mismatch", [](C &p) { failsAt(p.first.challenge, dhchap_concatenation); }},
	{"channel-group-null", [](C &p) { challengeHas(p, dhchap_at::group, 0); }},
	{"channel-hash-sha512", [](C &p) { challengeHas(p, dhchap_at::hash, 3); }},
	{"channel-proof-none", [](C &p) { CHECK(p.first.success1.at(dhchap_at::valid) == 0); }},
	{"channel-proof-wrong", [](C &p) {
		CHECK(differences(p.first.success1, success1Header(*p.server.config().authentication, true)).empty());
		CHECK_FALSE(p.first.responseGood); }},
	{"channel-success2-rejected", [](C &p) { CHECK(p.first.accepted == (st_internal | st_dnr)); }},
	{"channel-key-forgotten", noHandshake},
	{"channel-key-other", noHandshake},
	{"channel-plain", noHandshake},
	{"channel-tls-closed", noHandshake},
	{"channel-tls-silent", noHandshake},
	{"channel-again", [](C &p) { CHECK(p.again.asked == secureAsked); }},
	{"channel-authentication-again", [](C &p) {
		CHECK(p.again.asked == authAsked);
		CHECK(p.again.responseGood);
		CHECK(p.works()); }},
};
// clang-format on

} // namespace

TEST_CASE("secure channel concatenation: a host connects again with the key that its authentication has generated")
{
	for (std::uint8_t hash : {1, 2}) {
		INFO("hash " << int(hash));
		ChannelPlay play(nullptr, hash);
		CHECK(play.first.asked == secureAsked);
		CHECK(play.first.responseGood);
		CHECK(play.first.accepted == st_ok);
		// nothing else is possible in plain text
		CHECK(play.first.admitted == (st_auth_required | st_dnr));
		REQUIRE(play.first.psk);
		CHECK(play.first.psk->identity.starts_with("NVMe1G0" + std::to_string(hash) + " " + hostNqn + " "));
		CHECK(play.again.asked == 0);
		CHECK(play.works());
		CHECK(play.server.violations().empty());
	}
}

TEST_CASE("secure channel concatenation: a host that demands no proof of the controller gets a key, too")
{
	ChannelPlay play(nullptr, 1, false);
	CHECK(play.first.asked == secureAsked);
	CHECK(play.first.success1.at(dhchap_at::valid) == 0);
	CHECK(play.first.accepted == AuthSession::unsent);
	REQUIRE(play.first.psk);
	CHECK(play.works());
	CHECK(play.server.violations().empty());
}

TEST_CASE("secure channel concatenation: each misbehaviour does what its table line says")
{
	for (auto &m : channelMisbehaviours())
		DYNAMIC_SECTION(m.name)
		{
			CHECK(findMisbehaviour(m.name) == &m);
			auto check = std::ranges::find_if(channelChecks,
							  [&](auto &c) { return std::string_view(c.name) == m.name; });
			REQUIRE(check != std::end(channelChecks));
			ChannelPlay play(&m);
			INFO(play.failure);
			CHECK(play.server.script().strikes() > 0);
			check->run(play);
			for (auto &text : play.server.violations())
				FAIL_CHECK(text);
		}
	CHECK(std::size(channelChecks) == channelMisbehaviours().size());
}

TEST_CASE("secure channel concatenation: a target that is not configured for it refuses it")
{
	Config config = concatenating();
	config.authentication->channel = false;
	Server server(config);
	Queue q(server);
	auto m = negotiateMessage();
	m[dhchap_at::secureChannel] = dhchap_new_tls_psk;
	REQUIRE(authSend(q, m) == st_ok);
	REQUIRE(authReceive(q) == st_ok);
	failsAt(q.data(), dhchap_concatenation);
}

TEST_CASE("secure channel concatenation: a host that cannot generate a key is refused")
{
	// of the group NULL; of SHA-512; a key that replaces one, without TLS
	const auto [hash, group, channel] = GENERATE(table<int, int, int>(
		{{1, 0, dhchap_new_tls_psk}, {3, 1, dhchap_new_tls_psk}, {1, 1, dhchap_replace_tls_psk}, {1, 1, 1}}));
	INFO(hash << " " << group << " " << channel);
	Config config = concatenating(static_cast<std::uint8_t>(hash));
	config.authentication->group = static_cast<std::uint8_t>(group);
	Server server(config);
	Queue q(server);
	auto m = negotiateMessage();
	m[dhchap_at::secureChannel] = static_cast<std::uint8_t>(channel);
	REQUIRE(authSend(q, m) == st_ok);
	REQUIRE(authReceive(q) == st_ok);
	failsAt(q.data(), dhchap_concatenation);
}

TEST_CASE("secure channel concatenation: a host without a challenge of its own gets no key")
{
	Server server(concatenating());
	Queue q(server);
	AuthSession s(q, *server.config().authentication, false);
	failsAt(s.success1, dhchap_failed);
	CHECK_FALSE(s.psk);
}
