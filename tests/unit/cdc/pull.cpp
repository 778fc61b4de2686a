// SPDX-License-Identifier: LGPL-2.1-or-later
// The service reads other discovery services: targets in this process that appear, disappear and misbehave.
#include <functional>
#include <set>

#include <catch2/catch.hpp>

#include <nvmeof/rendezvous.h>

#include "nvmeof-cdc/pull.h"
#include "tests/unit/runtime/turns.h"
#include "target/discovery_client.h"
#include "target/misbehaviour.h"

using namespace cdc;
using namespace nofctl::wire;
using namespace std::chrono_literals;
using target::Server;

namespace {

const WatchTimes quick{.kato = 2000ms,
		       .poll = 100ms,
		       .check = 10000ms,
		       .debounce = 5ms,
		       .first = 20ms,
		       .max = 60ms,
		       .patience = 400ms};

std::string addressOf(const Server &server)
{
	return "127.0.0.1:" + std::to_string(server.port());
}

PullSource sourceOf(const std::string &address, bool ana = false)
{
	return {*nvmeof::parseAddress(address), {}, ana};
}

// A service whose only records are those that it pulls
struct PullFixture {
	runtime::Loop loop{runtime::Loop::Watchdog::none};
	Model model;
	std::vector<Change> written;
	bool fails = false;
	std::uint64_t generation = 0;
	Pull pull;

	PullFixture()
		: pull(
			  loop, {"nqn.2024-01.io.nvmeof:cdc", {}}, model,
			  [this](std::vector<Change> changes,
				 const std::function<void(const nvmeof::Result<void> &)> &done) {
				  if (fails)
					  return done(nvmeof::errorFromErrno(EIO, "refused by the test"));
				  write(std::move(changes));
				  done({});
			  },
			  quick)
	{
	}

	void write(std::vector<Change> changes)
	{
		written.insert(written.end(), changes.begin(), changes.end());
		CHECK(model.apply({false, std::move(changes), ++generation}).empty());
		pull.modelChanged();
	}
	bool until(const std::function<bool()> &holds, std::chrono::milliseconds limit = 8000ms)
	{
		runtime::Turns turns(loop);
		runtime::Timer over(loop, [&] { turns.stop(); });
		runtime::Timer look(loop, [&] {
			if (holds())
				return turns.stop();
			look.start(2ms);
		});
		over.start(limit);
		look.start(0ms);
		turns.run();
		return holds();
	}
	void rest(std::chrono::milliseconds time)
	{
		until([] { return false; }, time);
	}
	// NQNs of the records with this owner
	std::set<std::string> of(const std::string &owner) const
	{
		std::set<std::string> names;
		for (const auto &[key, port] : model.targets())
			if (port.target.origin.owner == owner)
				names.insert(port.target.nqn);
		return names;
	}
	std::size_t gone() const
	{
		return static_cast<std::size_t>(
			std::ranges::count_if(written, [](const Change &change) { return !change.value; }));
	}
};

const std::string own = "nqn.2024-01.io.nvmeof:target";

} // namespace

TEST_CASE("the entries of a service become records, and changes are followed", "[cdc][pull]")
{
	target::Config config;
	config.persistentDiscovery = GENERATE(true, false);
	Server server(config);
	auto &discovery = server.subsystem().discovery();
	discovery.add(target::made(3));
	PullFixture p;
	const std::string owner = addressOf(server);
	p.pull.setSources({sourceOf(owner)});
	REQUIRE(p.until([&] { return p.of(owner).size() == 4; }));
	CHECK(p.of(owner).contains(own));
	CHECK(p.model.targets().begin()->second.target.origin.source == "pull");
	discovery.add({makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:new", "10.1.2.3", 4420)});
	CHECK(p.until([&] { return p.of(owner).contains("nqn.2024-01.io.nvmeof:new"); }));
	discovery.clear();
	CHECK(p.until([&] { return p.of(owner) == std::set{own}; }));
	const auto writes = p.written.size();
	p.rest(300ms);
	CHECK(p.written.size() == writes);
	const auto states = p.pull.state();
	REQUIRE(states.size() == 1);
	CHECK(states[0].read);
	CHECK(states[0].watched == config.persistentDiscovery);
	CHECK(states[0].entries == 2);
	CHECK(states[0].usable == 1);
	CHECK(states[0].trouble.empty());
	if (config.persistentDiscovery)
		CHECK(server.counters().discoveryConnects == 1);
	CHECK(server.violations().empty());
}

TEST_CASE("the records of a service stay while it cannot be read", "[cdc][pull]")
{
	Server server;
	auto &discovery = server.subsystem().discovery();
	discovery.add(target::made(24));
	PullFixture p;
	const std::string owner = addressOf(server);
	p.pull.setSources({sourceOf(owner)});
	REQUIRE(p.until([&] { return p.of(owner).size() == 25; }));
	const auto troubled = [&] { return !p.pull.state()[0].trouble.empty(); };
	SECTION("the service is down")
	{
		server.stop();
		CHECK(p.until(troubled));
		p.rest(200ms);
		CHECK(p.of(owner).size() == 25);
		discovery.clear();
		server.start();
		CHECK(p.until([&] { return p.of(owner).size() == 1; }));
		CHECK_FALSE(troubled());
		CHECK(p.gone() == 24);
	}
	SECTION("the service does not answer")
	{
		server.silence(true);
		CHECK(p.until(troubled));
		CHECK(p.of(owner).size() == 25);
		server.silence(false);
		CHECK(p.until([&] { return !troubled(); }));
		CHECK(p.gone() == 0);
	}
	SECTION("the service misbehaves")
	{
		for (const char *name : {"disc-moves-always", "disc-offset-ignored", "disc-log-failed",
					 "disc-log-short", "disc-numrec-2^63", "disc-format-unknown", "disc-type-io",
					 "disc-piece-failed", "disc-connect-busy", "disc-log-restart-always"}) {
			INFO(name);
			server.script().arm(*target::findMisbehaviour(name), target::Script::forever);
			server.dropConnections();
			CHECK(p.until(troubled));
			p.rest(50ms);
			CHECK(p.of(owner).size() == 25);
			server.script().disarm();
			CHECK(p.until([&] { return !troubled(); }));
		}
		CHECK(p.gone() == 0);
	}
}

TEST_CASE("of several services with the same entry one owns the record, and the next one takes it over", "[cdc][pull]")
{
	auto both = std::make_shared<target::Discovery>();
	Server a({}, std::make_shared<target::Subsystem>(both)), b({}, std::make_shared<target::Subsystem>(both));
	PullFixture p;
	const std::string first = std::min(addressOf(a), addressOf(b)), second = std::max(addressOf(a), addressOf(b));
	p.pull.setSources({sourceOf(first), sourceOf(second)});
	const auto all = [&] {
		return p.model.targets().size() == 2 &&
		       std::ranges::all_of(p.pull.state(), [](auto &one) { return one.read; });
	};
	REQUIRE(p.until(all));
	p.rest(100ms);
	const auto writes = p.written.size();
	CHECK(writes <= 4);
	p.pull.setSources({sourceOf(second)});
	CHECK(p.until([&] {
		return std::ranges::all_of(p.model.targets(),
					   [&](auto &one) { return one.second.target.origin.owner == second; });
	}));
	CHECK(p.model.targets().size() == 2);
	CHECK(p.gone() == 0);
}

TEST_CASE("referrals are followed, and forgotten when they disappear", "[cdc][pull]")
{
	target::Config other;
	other.nqn = "nqn.2024-01.io.nvmeof:other";
	Server a, b(other);
	a.subsystem().discovery().refer("127.0.0.1", b.port());
	b.subsystem().discovery().refer("127.0.0.1", a.port());
	b.subsystem().discovery().refer("0.0.0.0", 8009);
	PullFixture p;
	const std::string root = addressOf(a), led = addressOf(b) + " via " + root;
	p.pull.setSources({sourceOf(root)});
	REQUIRE(p.until([&] { return p.of(led) == std::set{other.nqn}; }));
	CHECK(p.of(root) == std::set{own});
	CHECK(p.pull.state().size() == 2);
	SECTION("an unreachable referred service keeps its records")
	{
		b.silence(true);
		CHECK(p.until(
			[&] { return !p.pull.state()[0].trouble.empty() || !p.pull.state()[1].trouble.empty(); }));
		CHECK(p.of(led).size() == 1);
		b.silence(false);
	}
	SECTION("records of a removed referral are removed")
	{
		a.subsystem().discovery().clear();
		CHECK(p.until([&] { return p.of(led).empty(); }));
		CHECK(p.pull.state().size() == 1);
	}
	SECTION("a removed source leaves no record")
	{
		p.pull.setSources({});
		CHECK(p.until([&] { return p.model.targets().empty(); }));
	}
	SECTION("after a restart no record is removed before everything has been read")
	{
		b.silence(true);
		PullFixture again;
		for (const auto &[key, port] : p.model.targets())
			again.write({{key, port.target.json().dump()}});
		again.pull.setSources({sourceOf(root)});
		CHECK(again.until([&] { return again.pull.state().size() == 2; }));
		again.rest(100ms);
		CHECK(again.of(led).size() == 1);
		a.subsystem().discovery().clear();
		CHECK(again.until([&] { return again.of(led).empty(); }));
		b.silence(false);
	}
}

TEST_CASE("each source is read by one instance, and moves to another one", "[cdc][pull]")
{
	Server server;
	const std::string owner = addressOf(server);
	const std::vector<std::string> ids{"a", "b", "c"};
	const std::string chosen = ids[nvmeof::rendezvousOrder(owner, ids)[0]];
	PullFixture p;
	p.pull.setInstances(ids, chosen == "a" ? "b" : "a");
	p.pull.setSources({sourceOf(owner)});
	p.rest(100ms);
	CHECK(p.pull.state().empty());
	CHECK(server.counters().connections == 0);
	p.pull.setInstances(ids, chosen);
	CHECK(p.until([&] { return p.of(owner).size() == 1; }));
	p.pull.setInstances(ids, chosen == "a" ? "b" : "a");
	p.rest(100ms);
	CHECK(p.pull.state().empty());
	CHECK(p.of(owner).size() == 1); // removing them is up to the instance that reads the source now
	CHECK(server.counters().open == 0);
}

TEST_CASE("records of other sources stay unchanged, and a failed write is retried", "[cdc][pull]")
{
	Server server;
	server.subsystem().discovery().add({makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:made", "10.0.0.1", 4420)});
	const std::string owner = addressOf(server);
	PullFixture p;
	Target mine;
	mine.nqn = "nqn.2024-01.io.nvmeof:made";
	mine.traddr = "10.0.0.1";
	mine.state = ana_non_optimized;
	p.write({{mine.key(), mine.json().dump()}});
	Target others = mine;
	others.traddr = "10.0.0.2";
	others.origin = {"pull", "10.9.9.9:8009", 0};
	p.write({{others.key(), others.json().dump()}});
	p.fails = true;
	p.pull.setSources({sourceOf(owner), sourceOf("10.9.9.9:8009")});
	CHECK(p.until([&] {
		const auto states = p.pull.state();
		return std::ranges::any_of(states, [&](const PullState &one) {
			return one.owner == owner && one.trouble.find("refused by the test") != std::string::npos;
		});
	}));
	p.fails = false;
	CHECK(p.until([&] { return p.of(owner).size() == 1; }));
	CHECK(p.until([&] {
		const auto states = p.pull.state();
		return std::ranges::any_of(
			states, [&](const PullState &one) { return one.owner == owner && one.trouble.empty(); });
	}));
	CHECK(p.model.targets().at(mine.key()).target == mine);
	CHECK(p.model.targets().contains(others.key())); // its source has not been read yet
	p.write({{mine.key(), std::nullopt}});
	CHECK(p.until([&] { return p.of(owner).size() == 2; }));
}

TEST_CASE("of a source and its referrals with too many targets, some become records", "[cdc][pull]")
{
	Server a, b;
	std::size_t number = 0;
	for (Server *server : {&a, &b}) {
		std::vector<DiscoveryEntry> entries;
		for (std::size_t i = 0; i <= Pull::maxTargets / 2; i++)
			entries.push_back(makeEntry(sub_nvm, "nqn.2024-01.io.nvmeof:t" + std::to_string(number++),
						    "10.1.2.3", 4420));
		server->subsystem().discovery().add(entries);
	}
	a.subsystem().discovery().refer("127.0.0.1", b.port());
	PullFixture p;
	p.pull.setSources({sourceOf(addressOf(a))});
	auto trouble = [&] {
		std::string text;
		for (const PullState &one : p.pull.state())
			text += one.trouble;
		return text;
	};
	REQUIRE(p.until([&] { return p.model.targets().size() == Pull::maxTargets; }, 60000ms));
	CHECK_THAT(trouble(), Catch::Contains("left out"));
	b.subsystem().discovery().clear();
	CHECK(p.until([&] { return p.model.targets().size() < Pull::maxTargets && trouble().empty(); }, 60000ms));
	CHECK(p.model.targets().size() > Pull::maxTargets / 2);
}

TEST_CASE("the states of ports are those of the ANA log", "[cdc][pull]")
{
	target::Config config;
	config.ana = true;
	Server a(config);
	Server b(config, a.shared());
	a.subsystem().stores().add(1, 1 << 20, 9);
	const std::string owner = addressOf(a);
	PullFixture p;
	p.pull.setSources({sourceOf(owner, true)});
	const auto state = [&](const Server &server) {
		for (const auto &[key, port] : p.model.targets())
			if (port.target.trsvcid == std::to_string(server.port()))
				return port.target.state;
		return AnaState{};
	};
	const std::uint32_t group = a.subsystem().stores().find(1)->anaGroup();
	b.setAnaState(group, ana_inaccessible);
	REQUIRE(p.until([&] { return state(a) == ana_optimized && state(b) == ana_inaccessible; }));
	for (AnaState now : {ana_non_optimized, ana_change, ana_persistent_loss, ana_optimized}) {
		a.setAnaState(group, now);
		CHECK(p.until([&] { return state(a) == now; }));
	}
	a.setAnaState(group, ana_non_optimized);
	REQUIRE(p.until([&] { return state(a) == ana_non_optimized; }));
	Bytes nonsense(16);
	nonsense[8] = nonsense[9] = 0xff; // the header counts 65,535 groups, and none follows
	a.setAnaLog(nonsense);
	a.sendEvent(event_ana_changed);
	p.rest(200ms);
	CHECK(state(a) == ana_non_optimized);
	b.setAnaState(group, ana_optimized);
	CHECK(p.until([&] { return state(b) == ana_optimized; }));
	CHECK(a.counters().ioConnects == 0);
	CHECK(a.violations().empty());
}

TEST_CASE("the state of a port is that of its best ANA group with namespaces", "[cdc][pull]")
{
	const auto best = [](std::vector<AnaGroup> groups) { return bestState({1, std::move(groups)}); };
	CHECK(best({}) == ana_optimized);
	CHECK(best({{1, ana_inaccessible, {}, 0}}) == ana_optimized);
	CHECK(best({{1, ana_inaccessible, {1}, 1}, {2, ana_optimized, {}, 0}}) == ana_inaccessible);
	CHECK(best({{1, ana_inaccessible, {1}, 1}, {2, ana_non_optimized, {2}, 1}}) == ana_non_optimized);
	CHECK(best({{1, ana_change, {1}, 1}, {2, ana_persistent_loss, {2}, 1}}) == ana_change);
}
