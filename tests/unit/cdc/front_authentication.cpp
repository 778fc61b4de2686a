// SPDX-License-Identifier: LGPL-2.1-or-later
// Authentication of hosts over TCP: who has to authenticate itself, what is refused before, and sessions whose keys or
// rules change
#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include "client.h"
#include "dhchap_host.h"
#include "tests/unit/scratch.h"

using namespace cdc;
using namespace nofctl::wire;
using target::authCommand;
using target::negotiateMessage;
using target::testCtrlSecret;
using target::testHostSecret;

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

TEST_CASE("messages about refused hosts do not hide those about others", "[authenticator][front]")
{
	SecurityRules rules;
	rules.auth = Demand::required;
	Guarded guarded(rules);
	Client client(guarded.front);
	client.hello();
	for (int i = 0; i < 10; i++)
		CHECK(client.connect("nqn.other") == (st_connect_host | st_dnr));
	auto &refusals = guarded.front.context.refusals;
	CHECK(refusals.connect(Refusal::noKey).full());
	CHECK_FALSE(refusals.connect(Refusal::badKey).full());
	CHECK_FALSE(refusals.authentications.full());
	CHECK_FALSE(refusals.handshakes.full());
	CHECK_FALSE(refusals.sessions.full());
}

TEST_CASE("the zones of a host are cached only once it may connect", "[authenticator][front]")
{
	SecurityRules rules;
	rules.auth = Demand::required;
	Guarded guarded(rules);
	Client client(guarded.front);
	client.hello();
	for (int i = 0; i < 5; i++)
		CHECK(client.connect("nqn.invented" + std::to_string(i)) == (st_connect_host | st_dnr));
	CHECK(guarded.front.sample.views->zoneTable().hosts().empty());
	REQUIRE(client.connect() == st_ok);
	CHECK(guarded.front.sample.views->zoneTable().hosts() == std::vector<std::string>{"nqn.host"});
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
