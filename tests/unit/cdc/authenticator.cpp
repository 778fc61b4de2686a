// SPDX-License-Identifier: LGPL-2.1-or-later
// DH-HMAC-CHAP as the service executes it, with hosts that follow the protocol, and hosts that do not
#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <functional>
#include <future>
#include <thread>

#include "authenticator.h"
#include "client.h"
#include "tests/unit/scratch.h"
#include "target/auth_client.h"

using namespace cdc;
using namespace nofctl::wire;
using nofctl::DhKey;
using target::authCommand;
using target::negotiateMessage;
using target::testCtrlSecret;
using target::testHostSecret;
using target::testTransaction;

namespace {

const std::string hostnqn = "nqn.host", subsysnqn = wellKnownDiscoveryNqn;
const Peer peer = *Peer::parse("10.0.0.1");
const std::shared_ptr<const nofctl::DhchapSecrets> bothSecrets =
	std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{testHostSecret, testCtrlSecret});
const std::shared_ptr<const nofctl::DhchapSecrets> hostSecret =
	std::make_shared<nofctl::DhchapSecrets>(nofctl::DhchapSecrets{testHostSecret});
constexpr std::uint32_t challengeNumber = 77;

// A host's answer to a challenge
struct Reply {
	Bytes message, sessionKey, challenge;
};

Reply replyTo(const Bytes &challenge, bool mutual, const std::string &secret = testHostSecret)
{
	const std::uint8_t hash = challenge.at(dhchap_at::hash), group = challenge.at(dhchap_at::group);
	const std::size_t hl = nofctl::dhchapHashLength(hash), dhvlen = nofctl::dhchapDhLength(group);
	REQUIRE(challenge.size() == dhchap_at::values + hl + dhvlen);
	Reply reply;
	Bytes own;
	if (dhvlen) {
		const DhKey key(group);
		const auto shared = key.sharedSecret(std::span(challenge).subspan(dhchap_at::values + hl));
		REQUIRE(shared);
		reply.sessionKey = nofctl::dhchapDigest(hash, shared->bytes());
		own = key.publicValue();
	}
	reply.challenge = Bytes(hl, 0x5a);
	reply.message = nofctl::dhchapMessage(auth_dhchap, dhchap_reply, testTransaction, dhchap_at::values);
	reply.message[dhchap_at::hl] = static_cast<std::uint8_t>(hl);
	reply.message[dhchap_at::valid] = mutual;
	put<std::uint16_t>(reply.message, dhchap_at::replyDhvlen, static_cast<std::uint16_t>(dhvlen));
	put<std::uint32_t>(reply.message, dhchap_at::sequence, mutual ? challengeNumber : 0);
	append(reply.message, nofctl::dhchapResponse({secret, hostnqn, subsysnqn, "HostHost",
						      std::span(challenge).subspan(dhchap_at::values, hl),
						      get<std::uint32_t>(challenge, dhchap_at::sequence)},
						     hash, testTransaction, reply.sessionKey));
	append(reply.message, mutual ? reply.challenge : Bytes(hl));
	append(reply.message, own);
	return reply;
}

Bytes success2()
{
	return nofctl::dhchapMessage(auth_dhchap, dhchap_success2, testTransaction, dhchap_at::values);
}

// The service's side, with the commands of a host
struct Exchange {
	explicit Exchange(std::shared_ptr<const nofctl::DhchapSecrets> secrets = hostSecret,
			  nofctl::DhchapRules rules = {{1, 2, 3}, {1, 2, 3, 4, 5}})
		: authenticator(Authenticator::begin(limit, counters, {std::move(rules), 10000}, std::move(secrets),
						     {hostnqn, subsysnqn, peer}, now))
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
				 nofctl::dhchapResponse({testCtrlSecret, subsysnqn, hostnqn, "Controller",
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

// ---- over TCP

namespace {

// Keys in a directory, and a service whose hosts have to authenticate themselves
class Guarded {
public:
	explicit Guarded(SecurityRules rules = {}, FrontRules front = {}) : front(3, front)
	{
		dir.write("nqn.host.dhchap", testHostSecret + "\n");
		rules.keys = dir.path();
		load(rules);
	}
	void load(SecurityRules rules)
	{
		for (const auto &file : std::filesystem::directory_iterator(dir.path()))
			std::filesystem::permissions(file, std::filesystem::perms::owner_read);
		rules.keys = dir.path();
		auto loaded = front.context.security.load(rules);
		REQUIRE(loaded);
		front.context.security.use(*std::move(loaded));
	}
	const Counters &counters() const { return front.context.counters; }

	Scratch dir;
	Front front;
};

int authSend(Client &client, const Bytes &message)
{
	return client.run(authCommand(fc_auth_send, message.size()), message);
}

int authReceive(Client &client)
{
	return client.run(authCommand(fc_auth_receive, maxDhchapMessage));
}

std::uint64_t authreq(const Client &client)
{
	return client.cqe.result & ~std::uint64_t(0xffff);
}

bool authenticate(Client &client, const std::string &secret = testHostSecret)
{
	REQUIRE(authSend(client, negotiateMessage()) == st_ok);
	REQUIRE(authReceive(client) == st_ok);
	REQUIRE(authSend(client, replyTo(client.data, false, secret).message) == st_ok);
	REQUIRE(authReceive(client) == st_ok);
	return client.data.at(dhchap_at::id) == dhchap_success1;
}

std::vector<HostSession> sessionsOf(Front &front)
{
	std::promise<std::vector<HostSession>> done;
	front.worker->listSessions([&](std::vector<HostSession> sessions) { done.set_value(std::move(sessions)); });
	return done.get_future().get();
}

} // namespace

TEST_CASE("a host with a key is served after it has authenticated itself", "[authenticator][front]")
{
	Guarded guarded;
	Client client(guarded.front);
	REQUIRE(client.hello().connect() == st_ok);
	CHECK(authreq(client) == authreqAuthentication);
	const int required = st_auth_required | st_dnr;
	SECTION("and not before: it is no session, reads nothing and registers nothing")
	{
		CHECK(client.run(propertySet(prop_cc, 1)) == required);
		CHECK(client.run(propertyGet(prop_cap)) == required);
		CHECK(client.readLog(1024) == required);
		CHECK(client.run(dim(1024)) == required);
		CHECK(guarded.counters().unauthenticated == 4);
		CHECK(guarded.front.registrations == 0);
		CHECK(sessionsOf(guarded.front).empty());
	}
	CHECK(authenticate(client));
	CHECK(client.run(propertySet(prop_cc, 1)) == st_ok);
	CHECK(client.readLog(1024) == st_ok);
	const auto sessions = sessionsOf(guarded.front);
	REQUIRE(sessions.size() == 1);
	REQUIRE(sessions[0].proof);
	CHECK(sessions[0].proof->hash == 1);
	CHECK(sessions[0].proof->group == 1);
}

TEST_CASE("a host with a wrong key learns that, and its connection ends", "[authenticator][front]")
{
	Guarded guarded;
	Client client(guarded.front);
	REQUIRE(client.hello().connect() == st_ok);
	CHECK_FALSE(authenticate(client, testCtrlSecret));
	CHECK(client.data.at(dhchap_at::reason) == dhchap_failed);
	CHECK(client.ended());
	CHECK(guarded.counters().authFailed == 1);
}

TEST_CASE("messages of authentication are accepted after an R2T, too", "[authenticator][front]")
{
	Guarded guarded;
	Client client(guarded.front);
	REQUIRE(client.hello().connect() == st_ok);
	const Bytes message = negotiateMessage();
	Command cmd = authCommand(fc_auth_send, message.size());
	cmd.sgl.type = sgl_transport;
	cmd.sgl.length = static_cast<std::uint32_t>(message.size());
	CHECK(client.run(cmd) == -2);
	client.send(h2cData(client, 0, message.size(), true), message);
	CHECK(client.completion() == st_ok);
	CHECK(authReceive(client) == st_ok);
	CHECK(client.data.at(dhchap_at::id) == dhchap_challenge);
	cmd.sgl.length = maxDhchapMessage + 1;
	CHECK(client.run(cmd) == (0x00f | st_dnr)); // Data SGL Length Invalid
}

TEST_CASE("a connection on which nobody authenticates itself ends, whatever it sends", "[authenticator][front]")
{
	FrontRules rules;
	rules.stepMs = 150;
	Guarded guarded({}, rules);
	Client client(guarded.front);
	REQUIRE(client.hello().connect() == st_ok);
	const auto begun = std::chrono::steady_clock::now();
	while (client.run(propertyGet(prop_cap)) == (st_auth_required | st_dnr))
		std::this_thread::sleep_for(std::chrono::milliseconds(5));
	CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
	CHECK(guarded.counters().late == 1);
}

TEST_CASE("a flood of unfinished authentications is answered with busy", "[authenticator][front]")
{
	FrontRules rules;
	rules.authentications = {100, 3, 60000};
	Guarded guarded({}, rules);
	std::vector<std::unique_ptr<Client>> clients;
	for (int i = 0; i < 3; i++) {
		clients.push_back(std::make_unique<Client>(guarded.front));
		CHECK(clients.back()->hello().connect() == st_ok);
	}
	Client one(guarded.front);
	CHECK(one.hello().connect() == (st_connect_busy | st_crd1));
	CHECK(guarded.counters().authBusy == 1);
	CHECK(authenticate(*clients[0])); // which makes room
	CHECK(one.connect() == st_ok);
	// other hosts, which have no key, are not concerned
	Client other(guarded.front);
	CHECK(other.hello().connect("nqn.other") == st_ok);
	CHECK(authreq(other) == 0);
}

TEST_CASE("rules of the configuration and of zones decide who has to authenticate itself", "[authenticator][front]")
{
	Guarded guarded;
	auto connect = [&](const std::string &nqn) {
		Client client(guarded.front);
		const int status = client.hello().connect(nqn);
		return status == st_ok                        ? (authreq(client) ? "asked" : "served")
		       : status == (st_connect_host | st_dnr) ? "refused"
							      : "?";
	};
	auto zone = [&](std::optional<Demand> one, std::optional<Demand> two) {
		Zone a = someZone("a", {"nqn.host", "nqn.other"}, {}), b = someZone("b", {"nqn.host"}, {});
		a.auth = one;
		b.auth = two;
		guarded.front.sample.tell({putOf(a), putOf(b)});
		guarded.front.worker->publish(guarded.front.sample.views);
		sessionsOf(guarded.front); // waits until the worker has them
	};
	using std::string;
	CHECK(connect("nqn.host") == string("asked"));
	CHECK(connect("nqn.other") == string("served"));
	SecurityRules rules;
	rules.auth = Demand::required;
	guarded.load(rules);
	CHECK(connect("nqn.host") == string("asked"));
	CHECK(connect("nqn.other") == string("refused"));
	CHECK(guarded.counters().refusedNoKey == 1);
	rules.auth = Demand::off;
	guarded.load(rules);
	CHECK(connect("nqn.host") == string("served"));
	zone(Demand::required, Demand::off); // the strictest of its zones
	CHECK(connect("nqn.host") == string("asked"));
	CHECK(connect("nqn.other") == string("refused"));
	zone(Demand::off, Demand::preferred);
	CHECK(connect("nqn.host") == string("asked"));
	CHECK(connect("nqn.other") == string("served"));
	rules.auth = Demand::required;
	guarded.load(rules);
	zone(Demand::off, {}); // the configuration counts for zone b, which only one of them is in
	CHECK(connect("nqn.host") == string("asked"));
	CHECK(connect("nqn.other") == string("served"));
	zone(Demand::off, Demand::off); // zones override the configuration
	CHECK(connect("nqn.host") == string("served"));
}

TEST_CASE("a reload changes keys without ending sessions", "[authenticator][front]")
{
	Guarded guarded;
	Client client(guarded.front);
	REQUIRE(client.hello().connect() == st_ok);
	REQUIRE(authenticate(client));
	REQUIRE(client.run(propertySet(prop_cc, 1)) == st_ok);
	std::filesystem::remove(guarded.dir.path() / "nqn.host.dhchap");
	guarded.dir.write("nqn.host.dhchap", testCtrlSecret);
	guarded.load({});
	CHECK(client.readLog(1024) == st_ok);
	CHECK(authenticate(client, testCtrlSecret)); // again, with the new key
	Client old(guarded.front);
	REQUIRE(old.hello().connect() == st_ok);
	CHECK_FALSE(authenticate(old));
}

TEST_CASE("a removed key is refused at another authentication of its session", "[authenticator][front]")
{
	for (const Demand demand : {Demand::preferred, Demand::required, Demand::off}) {
		CAPTURE(demandName(demand));
		Guarded guarded;
		Client client(guarded.front);
		REQUIRE(client.hello().connect() == st_ok);
		REQUIRE(authenticate(client));
		REQUIRE(authenticate(client)); // again, as long as there is the key
		std::filesystem::remove(guarded.dir.path() / "nqn.host.dhchap");
		SecurityRules rules;
		rules.auth = demand;
		guarded.load(rules);
		CHECK(authSend(client, negotiateMessage()) == (st_connect_host | st_dnr));
		CHECK(client.ended());
	}
}

namespace {

FrontRules reviewedWithin(SteadyMs ms)
{
	FrontRules rules;
	rules.reviewMs = ms;
	return rules;
}

bool isServed(Client &client)
{
	return client.run(propertyGet(prop_cap)) == st_ok;
}

// Until the sessions were reviewed, and have ended if they had to
void waitForReview()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(1200));
}

} // namespace

TEST_CASE("sessions end that changed rules or keys do not allow", "[authenticator][front]")
{
	Guarded guarded({}, reviewedWithin(400));
	Client host(guarded.front), other(guarded.front);
	REQUIRE(host.hello().connect() == st_ok);
	REQUIRE(authenticate(host));
	REQUIRE(other.hello().connect("nqn.other") == st_ok);
	SecurityRules rules;
	SECTION("one without a key, where one is required now")
	{
		rules.auth = Demand::required;
		guarded.load(rules);
		CHECK(other.ended());
		CHECK(guarded.counters().revoked == 1);
		CHECK(isServed(host));
	}
	SECTION("one without authentication, whose host has a key now")
	{
		guarded.dir.write("nqn.other.dhchap", testHostSecret);
		guarded.load(rules);
		CHECK(other.ended());
		CHECK(isServed(host));
	}
	SECTION("one without TLS, where that is required now")
	{
		rules.tls = Demand::required;
		guarded.load(rules);
		CHECK(other.ended());
		CHECK(host.ended());
		CHECK(guarded.counters().revoked == 2);
	}
	SECTION("one whose key was removed")
	{
		std::filesystem::remove(guarded.dir.path() / "nqn.host.dhchap");
		guarded.load(rules);
		CHECK(host.ended());
		CHECK(isServed(other));
	}
	SECTION("one whose zone demands more")
	{
		Zone zone = someZone("a", {"nqn.other"}, {});
		zone.auth = Demand::required;
		guarded.front.sample.tell({putOf(zone)});
		guarded.front.worker->publish(guarded.front.sample.views);
		CHECK(other.ended());
		CHECK(isServed(host));
	}
	SECTION("but not one whose key was replaced, or cannot be read, or need not be proved any more")
	{
		guarded.dir.write("nqn.host.dhchap", testCtrlSecret);
		guarded.load(rules);
		waitForReview();
		CHECK(isServed(host));
		guarded.dir.write("nqn.host.dhchap", "DHHC-1:00:AAAA:");
		guarded.load(rules);
		waitForReview();
		CHECK(isServed(host));
		std::filesystem::remove(guarded.dir.path() / "nqn.host.dhchap");
		rules.auth = Demand::off;
		guarded.load(rules);
		waitForReview();
		CHECK(isServed(host));
		CHECK(guarded.counters().revoked == 0);
	}
}

TEST_CASE("a new key does not keep the session of the one that was removed", "[authenticator][front]")
{
	Guarded guarded({}, reviewedWithin(2000));
	Client host(guarded.front);
	REQUIRE(host.hello().connect() == st_ok);
	REQUIRE(authenticate(host));
	std::filesystem::remove(guarded.dir.path() / "nqn.host.dhchap");
	guarded.load({});
	std::this_thread::sleep_for(std::chrono::milliseconds(500)); // it was reviewed, and ends in 1 to 2 s
	CHECK(isServed(host));
	guarded.dir.write("nqn.host.dhchap", testCtrlSecret);
	guarded.load({});
	CHECK(host.ended());
	CHECK(guarded.counters().revoked == 1);
}

TEST_CASE("a session stays if the rules allow it again before it has ended", "[authenticator][front]")
{
	Guarded guarded({}, reviewedWithin(2000));
	Client other(guarded.front);
	REQUIRE(other.hello().connect("nqn.other") == st_ok);
	SecurityRules rules;
	rules.auth = Demand::required;
	guarded.load(rules);
	std::this_thread::sleep_for(std::chrono::milliseconds(500)); // it was reviewed, and ends in 1 to 2 s
	CHECK(isServed(other));
	guarded.load({});
	std::this_thread::sleep_for(std::chrono::milliseconds(2500));
	CHECK(isServed(other));
}

TEST_CASE("a registration says whether its sender has proved its NQN", "[authenticator][front]")
{
	Guarded guarded;
	std::promise<Registrant> seen;
	guarded.front.context.registration = [&](Worker &its, const RegistrationRequest &request) {
		seen.set_value(request.who);
		its.registered(request.connection, request.cid, st_ok);
	};
	auto whoRegisters = [&](Client &client, const std::string &nqn) {
		seen = {};
		auto who = seen.get_future();
		REQUIRE(client.run(propertySet(prop_cc, 1)) == st_ok);
		Registration registration = someRegistration(1);
		registration.nqn = nqn;
		CHECK(client.run(dim(0), encodeRegistration(registration)) == st_ok);
		return who.get();
	};
	Client host(guarded.front), other(guarded.front);
	REQUIRE(host.hello().connect() == st_ok);
	REQUIRE(authenticate(host));
	const Registrant proved = whoRegisters(host, "nqn.host");
	CHECK(proved.proved);
	CHECK(proved.hostnqn == "nqn.host");
	REQUIRE(other.hello().connect("nqn.other") == st_ok);
	const Registrant claimed = whoRegisters(other, "nqn.other");
	CHECK_FALSE(claimed.proved);
	CHECK(claimed.hostnqn == "nqn.other");
}

TEST_CASE("a key that cannot be used keeps its host out, and is reported", "[authenticator][front]")
{
	Guarded guarded;
	Client session(guarded.front);
	REQUIRE(session.hello().connect("nqn.other") == st_ok);
	guarded.dir.write("nqn.other.dhchap", "DHHC-1:00:AAAA:");
	guarded.load({});
	Client client(guarded.front);
	CHECK(client.hello().connect("nqn.other") == (st_connect_host | st_dnr));
	CHECK(guarded.counters().refusedBadKey == 1);
	CHECK(session.run(propertySet(prop_cc, 1)) == st_ok); // that was connected before
}

// ---- keys

namespace {

struct Keys {
	HostKeys::Reading read()
	{
		auto reading = HostKeys::read(dir.path());
		REQUIRE(reading);
		return *reading;
	}
	void add(const std::string &name, const std::string &text, unsigned mode = 0600)
	{
		dir.write(name, text);
		std::filesystem::permissions(dir.path() / name, std::filesystem::perms(mode));
	}

	Scratch dir;
};

} // namespace

TEST_CASE("keys of hosts are read from a directory", "[authenticator]")
{
	Keys keys;
	keys.add("nqn.2014-08.org.example:a.dhchap", testHostSecret + "\n");
	keys.add("nqn.2014-08.org.example:a.dhchap-ctrl", testCtrlSecret);
	keys.add("nqn.2014-08.org.example%3Ab%2fc.dhchap", testHostSecret);
	keys.add("nqn.2014-08.org.example:a.tls",
		 std::string(nofctl::TlsPsk::generate(nofctl::KeyHash::sha256)->format().text()));
	keys.add(".hidden", "");
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.problems.empty());
	const HostKeys::Key *key = reading.keys->of("nqn.2014-08.org.example:a");
	REQUIRE(key);
	CHECK(key->dhchap.host == testHostSecret);
	CHECK(key->dhchap.ctrl == testCtrlSecret);
	CHECK(key->tls.starts_with("NVMeTLSkey-1:01:"));
	REQUIRE(reading.keys->of("nqn.2014-08.org.example:b/c"));
	CHECK_FALSE(reading.keys->of("nqn.2014-08.org.example:c"));
}

TEST_CASE("files that others can read or change are refused", "[authenticator]")
{
	Keys keys;
	keys.add("nqn.a.dhchap", testHostSecret, 0640);
	keys.add("nqn.b.dhchap", "not a key: " + testHostSecret);
	keys.add("nqn.c.dhchap-ctrl", testCtrlSecret);
	keys.add("nqn.d.tls", testHostSecret);
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.problems.size() == 4);
	for (const std::string &problem : reading.problems) {
		CAPTURE(problem);
		CHECK(problem.find("AAECAwQ") == problem.npos); // of the key
	}
	for (const char *nqn : {"nqn.a", "nqn.b", "nqn.c", "nqn.d"}) {
		REQUIRE(reading.keys->of(nqn));
		CHECK(reading.keys->of(nqn)->unusable);
	}
	std::filesystem::permissions(keys.dir.path(), std::filesystem::perms(0770));
	CHECK_FALSE(HostKeys::read(keys.dir.path()));
	std::filesystem::permissions(keys.dir.path(), std::filesystem::perms(0700));
	CHECK_FALSE(HostKeys::read(keys.dir.path() / "missing"));
	CHECK(HostKeys::read(""));
}

TEST_CASE("a file that is not clearly the key of a host is an error, and the keys in use stay", "[authenticator]")
{
	Guarded guarded;
	std::filesystem::create_directory(guarded.dir.path() / "a folder"); // is no key
	const auto before = guarded.front.context.security.current();
	auto refuses = [&](const std::string &name, const std::string &words) {
		CAPTURE(name);
		guarded.dir.write(name, testHostSecret);
		std::filesystem::permissions(guarded.dir.path() / name, std::filesystem::perms::owner_read);
		const auto loaded = guarded.front.context.security.load(before->rules);
		REQUIRE_FALSE(loaded);
		CHECK(loaded.error().message.find((guarded.dir.path() / name).string()) != std::string::npos);
		CHECK(loaded.error().message.find(words) != std::string::npos);
		CHECK(loaded.error().message.find("AAECAwQ") == std::string::npos); // of the key
		std::filesystem::remove(guarded.dir.path() / name);
		CHECK(guarded.front.context.security.load(before->rules));
	};
	for (const char *name : {"nqn.e", "nqn.e.dhcap", "nqn%4.dhchap", "nqn%zz.dhchap", "nqn.e.dhchap~"})
		refuses(name, "its name is not HOSTNQN.dhchap");
	refuses("nqn%2Ehost.dhchap", "the same key of host nqn.host");
	for (const char *name : {"nqn.e", "nqn.f"})
		guarded.dir.write(name, "");
	CHECK(guarded.front.context.security.load(before->rules)
		      .error()
		      .message.ends_with("; 1 more of these files are faulty"));
	CHECK(guarded.front.context.security.current() == before);
}

TEST_CASE("keys of hosts are read from the credentials of the unit", "[authenticator]")
{
	Keys keys;
	keys.add("hosts_nqn.2014-08.org.example%3Aa.dhchap", testHostSecret, 0440);
	keys.add("other_nqn.b.dhchap", testHostSecret);
	::unsetenv("CREDENTIALS_DIRECTORY");
	CHECK_FALSE(HostKeys::read("credential:hosts"));
	::setenv("CREDENTIALS_DIRECTORY", keys.dir.path().c_str(), 1);
	const auto reading = HostKeys::read("credential:hosts");
	::unsetenv("CREDENTIALS_DIRECTORY");
	REQUIRE(reading);
	CHECK(reading->problems.empty());
	CHECK(reading->keys->size() == 1);
	CHECK(reading->keys->of("nqn.2014-08.org.example:a"));
}

TEST_CASE("thousands of keys take few mappings", "[authenticator]")
{
	Keys keys;
	for (int i = 0; i < 3000; i++)
		keys.add("nqn.h" + std::to_string(i) + ".dhchap", testHostSecret);
	const HostKeys::Reading reading = keys.read();
	CHECK(reading.keys->size() == 3000);
	CHECK(reading.keys->of("nqn.h2999")->dhchap.host == testHostSecret);
	CHECK(reading.keys->of("nqn.h0")->dhchap.host == testHostSecret);
}
