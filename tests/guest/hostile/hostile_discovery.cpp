// SPDX-License-Identifier: LGPL-2.1-or-later
// Discovery services in this process, correct ones and misbehaving ones. Invalid contents of a log never reach the
// kernel: unit_initiator tests the library with them.
#include "hostile_tally.h"
#include "support/reproduce.h"
#include "support/selection.h"
#include "support/host.h"
#include "target/acts.h"
#include "target/connection.h"
#include "target/discovery.h"
#include "target/server.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <set>

namespace guest::hostile_discovery {

using nvmeof::ControllerState;
using nvmeof::DiscoveryEntry;
using nvmeof::DiscoveryLog;
using target::Expect;
using target::Misbehaviour;
using target::Needs;
using target::When;

namespace {

constexpr std::size_t added = 200; // entries: more than fit into one read

std::vector<target::DiscoveryEntry> made(std::size_t count, const std::string &name = "made")
{
	std::vector<target::DiscoveryEntry> list;
	for (std::size_t i = 0; i < count; i++)
		list.push_back(makeEntry(target::sub_nvm, "nqn.2024-01.io.nvmeof:" + name + std::to_string(i),
					 "127.0.0.1", static_cast<std::uint16_t>(5000 + i)));
	return list;
}

// All members of an entry that a host uses
std::string told(const DiscoveryEntry &e)
{
	return std::string(toString(e.kind)) + " " + e.transport + " " + e.addressFamily + " " + e.traddr + " " +
	       e.trsvcid + " " + e.subsysnqn + " " + std::to_string(e.portId) + " " + std::to_string(e.cntlid);
}

std::multiset<std::string> content(const DiscoveryLog &log)
{
	std::multiset<std::string> all;
	for (auto &e : log.entries)
		all.insert(told(e));
	return all;
}

std::size_t unusable(const DiscoveryLog &log)
{
	return static_cast<std::size_t>(std::ranges::count_if(log.entries, [](auto &e) { return !e.defect.empty(); }));
}

struct Stage {
	target::Server server;
	target::Discovery &discovery = server.subsystem().discovery();
	Host host;

	explicit Stage(target::Config config = {}) : server(std::move(config)) { discovery.add(made(added)); }
	~Stage()
	{
		for (auto &text : server.violations())
			FAIL_CHECK("the host broke the protocol: " << text);
	}

	nvmeof::ConnectOptions options(bool persistent = false)
	{
		auto o = Host::options("127.0.0.1", std::to_string(server.port()), nvmeof::discoveryNqn);
		o.connectTimeout = scaled(1500ms);
		o.ctrlLoss = scaled(60s);
		o.reconnectDelay = 200ms;
		o.keepAlive = persistent ? scaled(1500ms) : 0ms;
		return o;
	}

	nvmeof::Result<DiscoveryLog> discover() { return host.client().discover(options(), scaled(4s)); }

	bool alone() { return take(host.client().controllers()).empty(); }
};

// Checks the result of reading the log.
void judge(const Misbehaviour &m, const nvmeof::Result<DiscoveryLog> &log)
{
	INFO((log ? "" : log.error().message));
	if (m.expect == Expect::refused) {
		REQUIRE_FALSE(log.ok());
		CHECK_FALSE(log.error().message.empty());
		return;
	}
	REQUIRE(log.ok());
	INFO(log->entries.size() << " entries, " << unusable(*log) << " of them cannot be used");
	CHECK(unusable(*log) == 0);
}

// Reads the log through a persistent controller after a change.
nvmeof::Result<DiscoveryLog> discoverPersistently(Stage &stage)
{
	auto kept = stage.host.client().connect(stage.options(true), nvmeof::WaitFor::controller, scaled(4s));
	if (!kept)
		return kept.error();
	stage.discovery.add(made(1, "new"));
	auto log = stage.host.client().discover(kept->name, scaled(4s));
	CHECK(stage.host.state(kept->name) == ControllerState::live);
	return log;
}

void play(const Misbehaviour &m)
{
	recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
	Stage stage;
	auto &script = stage.server.script();
	auto good = take(stage.discover());
	REQUIRE(good.entries.size() == added + 2);
	REQUIRE(unusable(good) == 0);
	auto connects = stage.server.counters().discoveryConnects.load();
	script.arm(m, m.when == When::discoveryOnce ? 1 : target::Script::forever);
	Stopwatch time;
	auto log = m.needs == Needs::persistent ? discoverPersistently(stage) : stage.discover();
	CHECK(time.elapsed() < scaled(9s));
	CHECK(script.strikes() > 0);
	tellPlayed(m, script.strikes());
	judge(m, log);
	if (m.expect == Expect::harmless || m.expect == Expect::retried)
		CHECK(stage.server.counters().discoveryConnects - connects == 1);
	script.disarm();
	if (m.expect == Expect::retried || m.expect == Expect::reset)
		CHECK(content(*log) == content(take(stage.discover()))); // the log was consistent
	stage.host.disconnectAll();

	stage.discovery.clear(); // restores the original log
	stage.discovery.setEntryLimit(SIZE_MAX);
	stage.discovery.add(made(added));
	CHECK(content(take(stage.discover())) == content(good));
	CHECK(stage.alone());
}

Misbehaviour silence()
{
	return {"silence",
		22,
		target::Hook::command,
		When::discovery,
		Expect::refused,
		Needs::nothing,
		[](target::Strike &s) { return target::acts::verdict(true, s, target::Verdict::drop); }};
}

} // namespace

TEST_CASE("misbehaviour of a discovery service", "[hostile][table][discovery][tcp]")
{
	for (auto &m : target::discoveryMisbehaviours())
		if (m.hook != target::Hook::discovery && isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
			{
				play(m);
			}
}

TEST_CASE("a discovery log larger than one read is complete", "[hostile][discovery][tcp]")
{
	Stage stage;
	stage.discovery.add(made(1000, "more"));
	auto log = take(stage.discover());
	CHECK(log.entries.size() == added + 1000 + 2);
	CHECK(unusable(log) == 0);
	CHECK(log.generation == stage.discovery.generation());
	CHECK(std::ranges::any_of(log.entries, [&](auto &e) {
		return e.kind == nvmeof::EntryKind::service && e.trsvcid == std::to_string(stage.server.port());
	}));
	CHECK(stage.alone());
}

TEST_CASE("a persistent discovery controller gets an event for each change, and is used", "[hostile][discovery][tcp]")
{
	Stage stage;
	auto kept = stage.host.client().connect(stage.options(true), nvmeof::WaitFor::controller, scaled(10s));
	REQUIRE(kept.ok());
	Watch watch;
	for (std::size_t i = 1; i <= 3; i++) {
		stage.discovery.add(made(1, "change" + std::to_string(i)));
		CHECK(watch.find([&](auto &e) { return e.type == nvmeof::EventType::aen; }, scaled(5s)));
		auto log = take(stage.host.client().discover(kept->name)); // clears the event
		CHECK(log.entries.size() == added + 2 + i);
		CHECK(take(stage.discover()).entries.size() == added + 2 + i); // on its own connection
	}
	CHECK(stage.host.state(kept->name) == ControllerState::live);
	CHECK(stage.server.counters().discoveryConnects == 1 + 3);
	CHECK(stage.host.controller(kept->name).reconnects == 0);
}

TEST_CASE("the rate of events from a controller that never stops sending them is limited", "[hostile][discovery][tcp]")
{
	constexpr unsigned burst = 64; // per second: core/aer.c
	Stage stage;
	stage.server.script().arm(*target::findMisbehaviour("disc-event-storm"), target::Script::forever);
	Watch watch;
	Stopwatch time;
	auto kept = stage.host.client().connect(stage.options(true), nvmeof::WaitFor::controller, scaled(10s));
	REQUIRE(kept.ok());
	auto isEvent = [](const nvmeof::Event &e) { return e.type == nvmeof::EventType::aen; };
	auto events = 0u;
	while (time.elapsed() < 4s || (events <= burst && time.elapsed() < scaled(20s)))
		events += watch.find(isEvent, 100ms).has_value();
	auto seconds = static_cast<unsigned>(time.elapsed() / 1s);
	INFO(events << " events in " << seconds << " s");
	CHECK(events > burst);
	CHECK(events <= burst * (seconds + 2));
	stage.server.script().disarm();
	while (watch.find(isEvent, 1500ms)) // events that were sent before
		continue;
	stage.discovery.add(made(1, "after"));
	CHECK(watch.find(isEvent, scaled(5s)));
	CHECK(stage.host.controller(kept->name).reconnects == 0);
}

TEST_CASE("discovery services share an NQN and nothing else", "[hostile][discovery][tcp]")
{
	target::Config other;
	other.serial = "TARGET0002";
	Stage stage, second(other);
	auto o = stage.options(true), p = second.options(true);
	CHECK(stage.host.connect(o).state == ControllerState::live);
	CHECK(stage.host.connect(p).state == ControllerState::live);
	auto twice = [&](const nvmeof::ConnectOptions &options) {
		auto again = stage.host.client().connect(options);
		return !again && again.error().code == nvmeof::ErrorCode::alreadyConnected;
	};
	CHECK(twice(p));
	CHECK(take(stage.discover()).entries.size() == added + 2);
	CHECK(take(second.discover()).entries.size() == added + 2);
	CHECK(take(stage.host.client().controllers()).size() == 2);
	Stage third;
	auto without = third.options(); // without a keep-alive timeout
	CHECK(third.host.connect(without).state == ControllerState::live);
	CHECK(twice(without));
}

TEST_CASE("discover fails for a service that does not listen, and for a silent one", "[hostile][discovery][tcp]")
{
	const auto silent = silence();
	Stage stage;
	auto o = stage.options();
	o.address.trsvcid = "1";
	auto none = stage.host.client().discover(o, scaled(2s));
	REQUIRE_FALSE(none.ok());
	CHECK(stage.alone());
	stage.server.script().arm(silent, target::Script::forever);
	Stopwatch time;
	auto log = stage.discover();
	REQUIRE_FALSE(log.ok());
	CHECK(log.error().object.none()); // its controller is gone
	CHECK(time.elapsed() < scaled(9s));
	CHECK(stage.alone());
}

TEST_CASE("an interrupted nvmeofctl discover leaves nothing behind", "[hostile][discovery][tcp]")
{
	const auto silent = silence();
	Stage stage;
	stage.server.script().arm(silent, target::Script::forever);
	Background discover("exec nvmeofctl discover -a 127.0.0.1:" + std::to_string(stage.server.port()) +
			    " --timeout 300 --connect-tmo 300");
	REQUIRE(eventually([&] { return !stage.alone(); }, 10s));
	discover.interrupt();
	auto out = discover.wait(scaled(9s));
	INFO(out.text);
	CHECK(out.status != -1);
	CHECK(out.status != 0);
	CHECK(stage.alone());
}

TEST_CASE("concurrent discover commands for one service do not disturb each other", "[hostile][discovery][tcp]")
{
	Stage stage;
	std::string command = "nvmeofctl discover -a 127.0.0.1:1"; // not listening
	for (int i = 0; i < 2; i++)
		command.append(" -a 127.0.0.1:").append(std::to_string(stage.server.port()));
	command += " | grep -c generation";
	std::vector<std::unique_ptr<Background>> some(4);
	for (auto &one : some)
		one = std::make_unique<Background>(command);
	auto kept = stage.host.client().connect(stage.options(true), nvmeof::WaitFor::controller, scaled(10s));
	CHECK(kept.ok());
	for (auto &one : some)
		CHECK(one->wait(scaled(20s)).text.find("2\n") != std::string::npos);
	auto left = take(stage.host.client().controllers());
	REQUIRE(left.size() == 1);
	CHECK(left[0].name == kept->name);
	CHECK(left[0].state == ControllerState::live);
}

TEST_CASE("discover of an I/O controller fails and leaves no disk", "[hostile][discovery][tcp]")
{
	Stage stage;
	stage.server.stores().add(1, 1 << 20);
	auto o = stage.options();
	o.subsysnqn = stage.server.config().nqn;
	auto log = stage.host.client().discover(o, scaled(4s));
	REQUIRE_FALSE(log.ok());
	CHECK(log.error().message == "the controller is not a discovery controller");
	CHECK(stage.alone());
	CHECK(take(stage.host.client().namespaces()).empty());
}

} // namespace guest::hostile_discovery
