// SPDX-License-Identifier: LGPL-2.1-or-later
// DH-HMAC-CHAP as the service executes it, with hosts that follow the protocol, and hosts that do not
#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <functional>

#include "authenticator.h"
#include "dhchap_host.h"
#include "security.h"

using namespace cdc;
using namespace nofctl::wire;
using nofctl::DhKey;
using target::authCommand;
using target::negotiateMessage;
using target::testCtrlSecret;
using target::testHostSecret;
using target::testTransaction;

namespace {

const std::string subsysnqn = wellKnownDiscoveryNqn;
const Peer peer = *Peer::parse("10.0.0.1");
const std::shared_ptr<const nofctl::DhchapSecrets> bothSecrets =
	std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{testHostSecret, testCtrlSecret});
const std::shared_ptr<const nofctl::DhchapSecrets> hostSecret =
	std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{testHostSecret});

// The service's side, with the commands of a host
struct Exchange {
	explicit Exchange(std::shared_ptr<const nofctl::DhchapSecrets> secrets = hostSecret,
			  nofctl::DhchapRules rules = {{1, 2, 3}, {1, 2, 3, 4, 5}})
		: authenticator(Authenticator::begin(limit, counters, {std::move(rules), 10000}, std::move(secrets),
						     {testHostnqn, subsysnqn, peer}, now))
	{
		REQUIRE(authenticator);
	}

	int send(const Bytes &message)
	{
		return authenticator->send(authCommand(fc_auth_send, message.size()), message, now);
	}
	Answer receive(std::uint32_t room = maxDhchapMessage)
	{
		return authenticator->receive(authCommand(fc_auth_receive, room), now);
	}
	// The challenge
	Bytes negotiate(const Bytes &message = negotiateMessage())
	{
		CHECK(send(message) == st_ok);
		return receive().data;
	}
	// The reason in failure1, which is received next; 0: it is another message
	int reason()
	{
		const Answer answer = receive();
		if (answer.status || answer.data.size() != dhchap_at::values ||
		    answer.data[dhchap_at::id] != dhchap_failure1)
			return 0;
		CHECK(authenticator->failed());
		CHECK_FALSE(authenticator->proof());
		CHECK(*authenticator->why());
		return answer.data[dhchap_at::reason];
	}

	AuthenticationLimit limit{{}};
	Counters counters;
	SteadyMs now = 1000;
	std::unique_ptr<Authenticator> authenticator;
};

// Changes a reply before it is sent.
int reasonFor(const std::function<void(Bytes &)> &change, bool mutual = false,
	      const std::string &secret = testHostSecret)
{
	Exchange exchange(bothSecrets);
	Reply reply = replyTo(exchange.negotiate(), mutual, secret);
	change(reply.message);
	CHECK(exchange.send(reply.message) == st_ok);
	return exchange.reason();
}

int reasonForNegotiate(const std::function<void(Bytes &)> &change)
{
	Exchange exchange;
	Bytes message = negotiateMessage();
	change(message);
	CHECK(exchange.send(message) == st_ok);
	return exchange.reason();
}

std::size_t hostDh()
{
	return dhchap_at::values + 2 * nofctl::dhchapHashLength(1);
}

} // namespace

TEST_CASE("a host authenticates itself, by each hash function and group", "[authenticator]")
{
	for (std::uint8_t hash = 1; hash <= dhchapHashes; hash++)
		for (std::uint8_t group = 0; group < dhchapGroups; group++) {
			CAPTURE(int(hash), int(group));
			Exchange exchange(hostSecret, {{hash}, {group}});
			CHECK(exchange.send(replyTo(exchange.negotiate(), false).message) == st_ok);
			CHECK_FALSE(exchange.authenticator->proof()); // it does not know of its success yet
			const Answer answer = exchange.receive();
			CHECK(answer.status == st_ok);
			CHECK(answer.data.at(dhchap_at::id) == dhchap_success1);
			CHECK(answer.data.at(dhchap_at::valid) == 0);
			REQUIRE(exchange.authenticator->proof());
			CHECK(exchange.authenticator->proof()->hash == hash);
			CHECK(exchange.authenticator->proof()->group == group);
			CHECK_FALSE(exchange.authenticator->proof()->mutual);
			CHECK(exchange.limit.taken() == 0);
			CHECK(exchange.counters.authenticated == 1);
		}
}

TEST_CASE("the service proves its identity to a host that asks for it", "[authenticator]")
{
	Exchange exchange(bothSecrets);
	const Reply reply = replyTo(exchange.negotiate(), true);
	CHECK(exchange.send(reply.message) == st_ok);
	const Bytes success1 = exchange.receive().data;
	REQUIRE(success1.size() == dhchap_at::values + 32);
	CHECK(success1[dhchap_at::valid] == 1);
	CHECK(std::ranges::equal(std::span(success1).subspan(dhchap_at::values),
				 nofctl::dhchapResponse({testCtrlSecret, subsysnqn, testHostnqn, "Controller",
							 reply.challenge, challengeNumber},
							1, testTransaction, reply.sessionKey)));
	CHECK_FALSE(exchange.authenticator->proof()); // the host has yet to accept it
	CHECK(exchange.send(success2()) == st_ok);
	REQUIRE(exchange.authenticator->proof());
	CHECK(exchange.authenticator->proof()->mutual);
}

TEST_CASE("the preferred hash function and group that a host offers are used", "[authenticator]")
{
	Exchange exchange(hostSecret, {{3, 2}, {2, 1}});
	const Bytes challenge = exchange.negotiate(negotiateMessage(2, 2)); // SHA-256, SHA-384; NULL, ffdhe2048
	CHECK(challenge.at(dhchap_at::hash) == 2);
	CHECK(challenge.at(dhchap_at::group) == 1);
}

TEST_CASE("large DH groups have to be allowed explicitly", "[authenticator]")
{
	auto offer = [](std::vector<std::uint8_t> groups) {
		Bytes message = negotiateMessage();
		message[dhchap_at::dhlen] = static_cast<std::uint8_t>(groups.size());
		std::ranges::copy(groups, message.begin() + dhchap_at::groups);
		return message;
	};
	const nofctl::DhchapRules usual = SecurityRules().authentication(10000).dhchap;
	Exchange large(hostSecret, usual);
	CHECK(large.send(offer({5, 4})) == st_ok);
	CHECK(large.reason() == dhchap_group_unusable);
	Exchange medium(hostSecret, usual);
	CHECK(medium.negotiate(offer({5, 4, 3})).at(dhchap_at::group) == 3);
	SecurityRules rules;
	rules.groups = {5};
	Exchange allowed(hostSecret, rules.authentication(10000).dhchap);
	CHECK(allowed.negotiate(offer({5, 4})).at(dhchap_at::group) == 5);
}

TEST_CASE("a reply with a DH value costs about as much as the challenge", "[authenticator]")
{
	auto costOf = [](const std::function<void()> &work) { // CPU seconds; the least of several, without disturbances
		double least = 1e9;
		for (int i = 0; i < 5; i++) {
			timespec begin{}, end{};
			::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
			work();
			::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
			least = std::min(least,
					 double(end.tv_sec - begin.tv_sec) + double(end.tv_nsec - begin.tv_nsec) / 1e9);
		}
		return least;
	};
	const DhKey own(3);
	const Bytes peer = DhKey(3).publicValue();
	const double challenge = costOf([] { DhKey key(3); }), reply = costOf([&] { CHECK(own.sharedSecret(peer)); });
	CAPTURE(challenge, reply);
	CHECK(reply < 4 * challenge); // with a check of the order of the value: 10 times
}

TEST_CASE("a negotiation that cannot be accepted is refused with its reason", "[authenticator]")
{
	CHECK(reasonForNegotiate([](Bytes &m) { m.resize(dhchap_at::values); }) == dhchap_payload);
	CHECK(reasonForNegotiate([](Bytes &m) { m.resize(71); }) == dhchap_payload);
	CHECK(reasonForNegotiate([](Bytes &m) { m.resize(5); }) == dhchap_payload);
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::descriptors] = 0; }) == dhchap_protocol_unusable);
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::authid] = 2; }) == dhchap_protocol_unusable);
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::secureChannel] = 1; }) == dhchap_concatenation);
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::halen] = 0; }) == dhchap_hash_unusable);
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::dhlen] = 0; }) == dhchap_group_unusable);
	// only the NULL group, which is not allowed
	CHECK(reasonForNegotiate([](Bytes &m) { m[dhchap_at::dhlen] = 1; }) == dhchap_group_unusable);
	// lists that claim more than fits
	Exchange exchange;
	Bytes message = negotiateMessage();
	message[dhchap_at::halen] = message[dhchap_at::dhlen] = 255;
	CHECK(exchange.negotiate(message).at(dhchap_at::id) == dhchap_challenge);
}

TEST_CASE("a reply that cannot be accepted is refused with its reason", "[authenticator]")
{
	CHECK(reasonFor([](Bytes &) {}, false, testCtrlSecret) == dhchap_failed); // the wrong key
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::values] ^= 1; }) == dhchap_failed);
	CHECK(reasonFor([](Bytes &m) { m.resize(dhchap_at::values); }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { m.pop_back(); }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::hl] = 48; }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::hl] = 0; }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { put<std::uint16_t>(m, dhchap_at::replyDhvlen, 0); }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { put<std::uint16_t>(m, dhchap_at::replyDhvlen, 0xffff); }) == dhchap_payload);
	// DH values for which the shared secret is known: 0, 1, p - 1; and p
	CHECK(reasonFor([](Bytes &m) { std::fill(m.begin() + static_cast<long>(hostDh()), m.end(), 0); }) ==
	      dhchap_payload);
	CHECK(reasonFor([](Bytes &m) {
		      std::fill(m.begin() + static_cast<long>(hostDh()), m.end(), 0);
		      m.back() = 1;
	      }) == dhchap_payload);
	for (const int less : {0, 1})
		CHECK(reasonFor([less](Bytes &m) {
			      Bytes prime = DhKey(1).prime();
			      prime.back() = static_cast<std::uint8_t>(prime.back() - less);
			      std::ranges::copy(prime, m.begin() + static_cast<long>(hostDh()));
		      }) == dhchap_payload);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::transaction] ^= 1; }) == dhchap_wrong_message);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::type] = auth_common; }) == dhchap_wrong_message);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::id] = dhchap_success2; }) == dhchap_wrong_message);
	CHECK(reasonFor([](Bytes &m) { m[dhchap_at::id] = 9; }) == dhchap_wrong_message);
	CHECK(reasonFor([](Bytes &m) { m = negotiateMessage(); }) == dhchap_wrong_message);
}

TEST_CASE("a host that asks a service without a key to prove its identity is refused", "[authenticator]")
{
	Exchange exchange(hostSecret);
	CHECK(exchange.send(replyTo(exchange.negotiate(), true).message) == st_ok);
	CHECK(exchange.reason() == dhchap_failed);
}

TEST_CASE("a reply is of use for one challenge only", "[authenticator]")
{
	Exchange first;
	const Bytes reply = replyTo(first.negotiate(), false).message;
	Exchange second;
	second.negotiate();
	CHECK(second.send(reply) == st_ok);
	CHECK(second.reason() == dhchap_failed);
	// a replay in the same authentication
	CHECK(first.send(reply) == st_ok);
	CHECK(first.send(reply) == st_ok);
	CHECK(first.reason() == dhchap_wrong_message);
}

TEST_CASE("a key of another host or subsystem does not authenticate this one", "[authenticator]")
{
	Exchange exchange;
	const Bytes challenge = exchange.negotiate();
	Bytes message = replyTo(challenge, false).message;
	const auto response = nofctl::dhchapResponse({testHostSecret, "nqn.other", subsysnqn, "HostHost",
						      std::span(challenge).subspan(dhchap_at::values, 32),
						      get<std::uint32_t>(challenge, dhchap_at::sequence)},
						     1, testTransaction, {});
	std::ranges::copy(response, message.begin() + dhchap_at::values);
	CHECK(exchange.send(message) == st_ok);
	CHECK(exchange.reason() == dhchap_failed);
}

TEST_CASE("messages in the wrong order are refused", "[authenticator]")
{
	Exchange exchange;
	CHECK(exchange.receive().status == (st_sequence | st_dnr)); // it is the host's turn
	const Bytes challenge = exchange.negotiate();
	CHECK(exchange.receive().status == (st_sequence | st_dnr));
	SECTION("success2 instead of the reply")
	{
		CHECK(exchange.send(success2()) == st_ok);
		CHECK(exchange.reason() == dhchap_wrong_message);
	}
	SECTION("the reply before the challenge was read")
	{
		Exchange other;
		CHECK(other.send(negotiateMessage()) == st_ok);
		CHECK(other.send(replyTo(challenge, false).message) == st_ok);
		CHECK(other.reason() == dhchap_wrong_message);
	}
	SECTION("success2 that nobody waits for")
	{
		CHECK(exchange.send(replyTo(challenge, false).message) == st_ok);
		exchange.receive();
		REQUIRE(exchange.authenticator->proof());
		CHECK(exchange.send(success2()) == st_ok);
		CHECK(exchange.reason() == dhchap_wrong_message);
	}
	SECTION("failure2 ends it")
	{
		CHECK(exchange.send(nofctl::dhchapMessage(auth_common, dhchap_failure2, testTransaction, 16)) == st_ok);
		CHECK(exchange.authenticator->failed());
		CHECK(exchange.counters.authFailed == 1);
	}
	SECTION("nothing follows a failure")
	{
		CHECK(exchange.send(success2()) == st_ok);
		exchange.reason();
		CHECK(exchange.send(negotiateMessage()) == (st_sequence | st_dnr));
		CHECK(exchange.receive().status == (st_sequence | st_dnr));
	}
}

TEST_CASE("commands of authentication with wrong fields are refused", "[authenticator]")
{
	Exchange exchange;
	const Bytes message = negotiateMessage();
	Command cmd = authCommand(fc_auth_send, message.size());
	cmd.cdw11 = 71; // not the length of the data
	CHECK(exchange.authenticator->send(cmd, message, 0) == (st_invalid_field | st_dnr));
	cmd = authCommand(fc_auth_send, message.size());
	cmd.cdw10 = dhchapProtocol + (1 << 8); // SPSP0
	CHECK(exchange.authenticator->send(cmd, message, 0) == (st_invalid_field | st_dnr));
	cmd = authCommand(fc_auth_receive, 100);
	cmd.cdw10 = 0;
	CHECK(exchange.authenticator->receive(cmd, 0).status == (st_invalid_field | st_dnr));
	CHECK(exchange.send({}) == (st_invalid_field | st_dnr));
	CHECK(exchange.send(Bytes(maxDhchapMessage + 1)) == (st_invalid_field | st_dnr));
	// all of that has not disturbed it; room that is too small for the challenge does
	CHECK(exchange.send(message) == st_ok);
	CHECK(exchange.receive(100).status == (st_invalid_field | st_dnr));
	CHECK(exchange.authenticator->failed());
}

TEST_CASE("an authenticated host may authenticate itself again, with a new key", "[authenticator]")
{
	Exchange exchange;
	exchange.send(replyTo(exchange.negotiate(), false).message);
	exchange.receive();
	REQUIRE(exchange.authenticator->proof());
	exchange.authenticator->renew(std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{testCtrlSecret}));
	exchange.now += 60000;
	CHECK_FALSE(exchange.authenticator->late(exchange.now));
	CHECK(exchange.send(replyTo(exchange.negotiate(), false, testCtrlSecret).message) == st_ok);
	CHECK(exchange.limit.taken() == 1);
	CHECK(exchange.receive().data.at(dhchap_at::id) == dhchap_success1);
	CHECK(exchange.counters.authenticated == 2);
	SECTION("with the previous one it fails")
	{
		CHECK(exchange.send(replyTo(exchange.negotiate(), false).message) == st_ok);
		CHECK(exchange.reason() == dhchap_failed);
	}
	SECTION("an authentication that it does not complete is late")
	{
		exchange.negotiate();
		CHECK(exchange.authenticator->late(exchange.now + 10001));
	}
}

TEST_CASE("silence ends an authentication", "[authenticator]")
{
	Exchange exchange;
	CHECK_FALSE(exchange.authenticator->late(exchange.now + 10000));
	CHECK(exchange.authenticator->late(exchange.now + 10001));
	exchange.negotiate();
	CHECK(exchange.authenticator->late(exchange.now + 10001)); // messages do not extend it
	exchange.authenticator.reset();
	CHECK(exchange.counters.authAbandoned == 1);
}

TEST_CASE("the number of unfinished authentications is limited, per address and in total", "[authenticator]")
{
	AuthenticationLimit limit({8, 2, 1000});
	auto address = [](int i) { return *Peer::parse("10.0.0." + std::to_string(i)); };
	CHECK(limit.admit(address(1), 0));
	CHECK(limit.admit(address(1), 0));
	CHECK_FALSE(limit.admit(address(1), 0));
	limit.succeeded(address(1));
	CHECK(limit.admit(address(1), 0));
	// a failed one keeps its place for a second
	limit.failed(address(1), 0);
	CHECK_FALSE(limit.admit(address(1), 999));
	CHECK(limit.admit(address(1), 1000));
	for (int i = 2; i <= 4; i++) {
		CHECK(limit.admit(address(i), 1000));
		CHECK(limit.admit(address(i), 1000));
	}
	CHECK(limit.taken() == 8);
	CHECK_FALSE(limit.admit(address(5), 1000));
	// hosts of one IPv6 network share a limit
	AuthenticationLimit other({8, 1, 1000});
	CHECK(other.admit(*Peer::parse("fd00::1"), 0));
	CHECK_FALSE(other.admit(*Peer::parse("fd00::2"), 0));
}
