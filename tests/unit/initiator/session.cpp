// SPDX-License-Identifier: LGPL-2.1-or-later
// The initiator with a conforming target.
#include "visitor.h"

#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "libctl/wire/registration.h"
#include "target/discovery_client.h"

using namespace visiting;

namespace {

bool same(const std::vector<DiscoveryEntry> &a, const std::vector<DiscoveryEntry> &b)
{
	return std::ranges::equal(a, b, target::same);
}

} // namespace

TEST_CASE("a controller is enabled step by step, and its log is read", "[initiator]")
{
	target::Config config;
	config.centralized = true;
	target::Server server(config);
	server.subsystem().discovery().add(target::made(30));
	Runner runner;
	DiscoveryHost host(runner, server);
	REQUIRE(host.visit());
	CHECK((host.steps == std::vector<Step>{Step::tcp, Step::hello, Step::connect, Step::cap, Step::vs, Step::enable,
					       Step::ready, Step::identify, Step::events}));
	const ControllerInfo &told = host.session.info();
	CHECK((told.cap & 0xffff) == 127);
	CHECK(told.vs == 0x10400);
	CHECK(told.cntlid == 1);
	CHECK(told.cntrltype == 2);
	CHECK(told.dctype == dc_centralized);
	CHECK(told.offsets());
	CHECK(told.kas == 10);
	CHECK(told.events == wantDiscoveryChanges);
	CHECK(told.maxTransfer(1 << 20) == 1 << 20);
	CHECK(told.maxTransfer(4 << 20) == 1 << 20); // limited by MDTS
	CHECK(host.reader.generation() == server.subsystem().discovery().generation());
	CHECK(host.reader.count() == 32);
	CHECK(host.headers.size() == 2);
	auto q = target::discover(server);
	CHECK(same(host.log(), target::readLog(q).entries));
	CHECK(host.violations.empty());
	CHECK(server.violations().empty());
}

TEST_CASE("a log is read in pieces of any size, with any digests and any segmentation by the target", "[initiator]")
{
	target::Config config;
	config.c2hBytes = GENERATE(1000u, 32768u, 4u << 20);
	config.successAlways = GENERATE(false, true);
	target::Server server(config);
	const auto wanted = target::made(400);
	server.subsystem().discovery().add(wanted);
	Runner runner;
	DiscoveryHost host(runner, server);
	host.options.digests = {GENERATE(false, true), GENERATE(false, true)};
	host.max = GENERATE(1024u, 5000u, 1u << 20);
	REQUIRE(host.visit());
	const auto log = host.log();
	REQUIRE(log.size() == 402);
	CHECK(std::equal(wanted.begin(), wanted.end(), log.begin() + 2, target::same));
	CHECK(server.counters().discoveryReads ==
	      2 + (402 * 1024 + host.max / 1024 * 1024 - 1) / (host.max / 1024 * 1024));
	CHECK(host.violations.empty());
	CHECK(server.counters().digestErrors == 0);
	CHECK(server.violations().empty());
}

TEST_CASE("an empty log is read", "[initiator]")
{
	target::Server server;
	server.subsystem().discovery().setEntryLimit(0);
	Runner runner;
	DiscoveryHost host(runner, server);
	REQUIRE(host.visit());
	CHECK(host.reader.count() == 0);
	CHECK(host.bytes.empty());
}

TEST_CASE("an event reports a changed log, which is read over the same connection", "[initiator]")
{
	target::Server server;
	auto &discovery = server.subsystem().discovery();
	Runner runner;
	DiscoveryHost host(runner, server);
	host.options.kato = 5000;
	REQUIRE(host.visit());
	for (int i = 1; i <= 3; i++) {
		host.session.arm();
		CHECK(host.session.armed());
		discovery.add(target::made(1));
		runner.run();
		REQUIRE(host.events.size() == static_cast<std::size_t>(i));
		CHECK(host.events.back() == target::changed);
		REQUIRE(host.visit());
		CHECK(host.log().size() == 2 + static_cast<std::size_t>(i));
	}
	CHECK(server.counters().discoveryConnects == 1);
	CHECK(server.violations().empty());
}

TEST_CASE("Keep Alive commands keep an association, and detect its loss", "[initiator]")
{
	target::Config config;
	config.trafficKeepAlive = GENERATE(false, true);
	target::Server server(config);
	Runner runner;
	DiscoveryHost host(runner, server);
	host.options.kato = 400;
	REQUIRE(host.visit());
	runtime::Timer later(runner.loop, [&] { runner.stop(); });
	later.start(1200ms);
	runner.run();
	CHECK(host.session.isLive());
	CHECK(server.counters().keepAlives >= 3);
	CHECK(server.counters().open == 1);
	server.silence(true);
	runner.run();
	CHECK(host.failure.reason == Reason::timedOut);
	CHECK_FALSE(host.session.isOpen());
	server.silence(false);
}

TEST_CASE("a registration of any length is sent", "[initiator]")
{
	target::Config config;
	config.centralized = true;
	config.maxH2cData = 4096;
	config.r2tBytes = 8192;
	target::Server server(config);
	Runner runner;
	DiscoveryHost host(runner, server);
	host.reads = false;
	host.options.digests = {true, true};
	REQUIRE(host.visit());
	Registration registration;
	registration.nqn = host.who.hostnqn;
	registration.name = "visitor";
	for (int i = 0, count = GENERATE(1, 7, 40); i < count; i++)
		registration.interfaces.push_back(
			makeInterface(tr_tcp, registration.nqn, "10.0.0." + std::to_string(i + 1)));
	const Bytes data = encodeRegistration(registration);
	host.session.run(informationManagement(dim_register), 0, data);
	runner.run();
	CHECK(host.status == st_ok);
	REQUIRE(server.subsystem().discovery().registered().size() == 1);
	CHECK(server.subsystem().discovery().registered().front() == registration);
	CHECK((data.size() > 8192) == (server.counters().r2ts > 0));
	CHECK(server.violations().empty());
}

TEST_CASE("a failed connect has the reason and the step", "[initiator]")
{
	target::Server server;
	Runner runner;
	DiscoveryHost host(runner, server);
	host.options.patience = 200ms;
	SECTION("the port is closed")
	{
		server.stop();
		CHECK_FALSE(host.visit());
		CHECK(host.failure.reason == Reason::refused);
		CHECK(host.failure.step == Step::tcp);
		CHECK(describe(host.failure) == "connection refused (tcp)");
	}
	SECTION("the target does not answer")
	{
		server.silence(true);
		CHECK_FALSE(host.visit());
		CHECK(host.failure.reason == Reason::timedOut);
		CHECK(host.failure.step == Step::hello);
		server.silence(false);
	}
	SECTION("the address is invalid or unreachable")
	{
		CHECK_FALSE(Endpoint::of({"target.example", "4420"}));
		CHECK_FALSE(Endpoint::of({"127.0.0.1", "http"}));
		CHECK(Endpoint::of({"::1", "8009"})->family() == AF_INET6);
		host.session.open(*Endpoint::of({"255.255.255.255", "4420"}), host.who, host.options);
		runner.run();
		CHECK((host.failure.reason == Reason::local || host.failure.reason == Reason::unreachable));
	}
	SECTION("an established connection is closed")
	{
		REQUIRE(host.visit());
		server.dropConnections(GENERATE(false, true));
		runner.run();
		CHECK((host.failure.reason == Reason::closed || host.failure.reason == Reason::reset));
		CHECK(host.failure.step == Step::live);
	}
	SECTION("the target refuses the host")
	{
		host.who.hostnqn.clear();
		CHECK_FALSE(host.visit());
		CHECK(host.failure.reason == Reason::status);
		CHECK(host.failure.step == Step::connect);
		CHECK(describe(host.failure) == "refused: Connect Invalid Parameters (status 0x182) (connect)");
	}
	SECTION("an I/O controller is not a discovery controller")
	{
		host.options.subsysnqn = server.config().nqn;
		CHECK_FALSE(host.visit());
		CHECK(host.failure.reason == Reason::unusable);
		CHECK(host.failure.step == Step::identify);
	}
	CHECK(server.violations().empty());
}

namespace {

struct Leaver : DiscoveryHost {
	using DiscoveryHost::DiscoveryHost;
	std::size_t after = 0;
	Runner *loop = nullptr;
	void passed(Step s) override
	{
		DiscoveryHost::passed(s);
		if (steps.size() == after)
			loop->stop();
	}
};

} // namespace

TEST_CASE("a host that disconnects in any step leaves nothing behind", "[initiator]")
{
	target::Server server;
	server.subsystem().discovery().add(target::made(100));
	for (int step = 0; step < 9; step++) {
		Runner runner;
		Leaver host(runner, server);
		host.after = static_cast<std::size_t>(step) + 1;
		host.loop = &runner;
		host.open();
		runner.run();
	}
	CHECK(server.violations().empty());
}

namespace {

struct One : DiscoveryHost {
	using DiscoveryHost::DiscoveryHost;
	int *rest = nullptr;
	Runner *loop = nullptr;
	void done(const Completion &completion) override
	{
		const auto now = reader.done(completion);
		REQUIRE(now != DiscoveryReader::Outcome::failed);
		if (now != DiscoveryReader::Outcome::going && --*rest == 0)
			loop->stop();
	}
};

} // namespace

TEST_CASE("200 hosts run in one thread", "[initiator]")
{
	target::Server server;
	const auto wanted = target::made(16);
	server.subsystem().discovery().add(wanted);
	Runner runner;
	int left = 200;
	std::vector<std::unique_ptr<One>> hosts;
	for (int i = 0; i < left; i++) {
		hosts.push_back(std::make_unique<One>(runner, server));
		hosts.back()->rest = &left;
		hosts.back()->loop = &runner;
		hosts.back()->open();
	}
	runner.run();
	for (auto &host : hosts)
		CHECK(host->log().size() == 18);
	CHECK(server.counters().discoveryConnects == 200);
	CHECK(server.violations().empty());
}
