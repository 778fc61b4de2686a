// SPDX-License-Identifier: LGPL-2.1-or-later
// ANA logs and ANA states of a misbehaving target.
#include "hostile_ports.h"
#include "hostile_stage.h"
#include "support/fio.h"
#include "support/stalled_writes.h"

#include <atomic>
#include <thread>

namespace guest::hostile_ana {

using target::Expect;
using target::Misbehaviour;
using target::When;
using target::acts::always;

TEST_CASE("ANA: inaccessible means wait, persistent loss means error, optimized means go",
	  "[hostile][ana][trap17][trap18]")
{
	target::Config config;
	config.ana = true;
	Stage stage(config);
	auto c = stage.host.connect(stage.options());
	Disk disk(stage.disk());
	REQUIRE(stage.work(disk) == 0);
	auto tell = [&](target::AnaState state) {
		static std::uint64_t change = 10;
		stage.server.setAnaLog(target::makeAnaLog(change++, 1, {{1, state, {1}, 1}}));
		stage.server.sendEvent(target::event_ana_changed);
	};
	auto usable = [&](bool wanted) {
		return eventually([&] {
			auto paths = stage.host.paths();
			return !paths.empty() && paths[0].usable == wanted;
		});
	};
	tell(target::ana_inaccessible);
	REQUIRE(usable(false));
	std::atomic<int> status{1};
	std::thread waiter([&] { status = stage.work(disk); });
	std::this_thread::sleep_for(500ms);
	CHECK(status == 1);
	tell(target::ana_optimized);
	CHECK(usable(true));
	waiter.join();
	CHECK(status == 0);
	tell(target::ana_persistent_loss);
	REQUIRE(usable(false));
	CHECK(stage.work(disk) != 0);
	tell(target::ana_non_optimized);
	CHECK(eventually([&] { return stage.host.paths()[0].anaState == nvmeof::AnaState::nonOptimized; }));
	CHECK(stage.work(disk) == 0);
	tell(target::ana_inaccessible);
	REQUIRE(usable(false));
	stage.server.setAnaLog({}); // usable again, without an event: a reconnect reads the log again
	stage.server.dropConnections();
	CHECK(eventually([&] { return stage.server.counters().adminConnects >= 2; }));
	CHECK(stage.live(c.name));
	CHECK(usable(true));
	CHECK(stage.work(disk) == 0);
}

TEST_CASE("a new namespace in an ANA group missing from the last log becomes usable", "[hostile][paths][ana]")
{
	Ports ports({withAna()});
	auto c = ports.connect(0);
	Disk disk(ports.disk());
	ports.subsystem().stores().add(2, 4 << 20, 9, 3);
	take(ports.host.client().controller(c.name));
	CHECK(ports.host.client().rescan(c.name).ok()); // without an ANA change event
	CHECK(eventually([&] {
		for (auto &p : ports.host.paths())
			if (p.nsid == 2 && p.usable)
				return true;
		return false;
	}));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("ANA logs of every shape from one of two live ports do not disturb the load", "[hostile][paths][ana][trap17]")
{
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 300});
	for (auto &m : target::misbehaviours()) {
		if (std::string_view name = m.name; !name.starts_with("ana-") || name.ends_with("-never"))
			continue;
		INFO(m.name);
		ports[0].script().arm(m, target::Script::forever);
		ports[0].sendEvent(target::event_ana_changed);
		CHECK(ports[0].script().waitStrikes(1, scaled(5s)));
		std::this_thread::sleep_for(100ms);
		CHECK(load.running());
		ports[0].script().disarm();
		CHECK(ports.live(list[0].name)); // the host reconnects after an unusable log
		ports[0].sendEvent(target::event_ana_changed);
		CHECK(eventually([&] {
			auto p = pathOf(ports, list[0].name);
			return p && p->usable && p->anaState == nvmeof::AnaState::optimized;
		}));
	}
	auto result = load.finish(90s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a disk appears when its first path becomes usable, and stays", "[hostile][paths][ana][trap39]")
{
	Ports ports({withAna(), withAna()});
	for (std::size_t i : {0, 1})
		ports[i].setAnaState(1, target::ana_inaccessible);
	auto first = ports.connect(0);
	auto disks = [&] { return take(ports.host.client().namespaces()).size(); };
	auto shown = [] { return run("ls /sys/block | grep -c ^nvmeof").text != "0\n"; };
	CHECK(disks() == 0);
	CHECK_FALSE(shown());
	CHECK(run("nvmeofctl list --json").status == 0);
	SECTION("the connected path becomes usable")
	{
		ports[0].setAnaState(1, target::ana_optimized);
	}
	SECTION("another path becomes usable after it has connected")
	{
		ports.connect(1);
		CHECK(disks() == 0);
		ports[1].setAnaState(1, target::ana_non_optimized);
	}
	SECTION("another path is usable when it connects")
	{
		ports[1].setAnaState(1, target::ana_optimized);
		ports.connect(1);
		CHECK(disks() == 1); // connect waits for the disk
	}
	SECTION("no path becomes usable")
	{
		ports.host.disconnectAll();
		CHECK_FALSE(shown());
		return;
	}
	CHECK(eventually([&] { return disks() == 1; }));
	Disk disk(ports.disk());
	CHECK(ports.work(disk) == 0);
	for (std::size_t i : {0, 1})
		ports[i].setAnaState(1, target::ana_inaccessible);
	CHECK(eventually([&] { return std::ranges::none_of(ports.host.paths(), [](auto &p) { return p.usable; }); }));
	CHECK(disks() == 1);
	ports[0].setAnaState(1, target::ana_optimized);
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("an ANA log larger than a transfer, which changes while it is read", "[hostile][paths][ana][trap17]")
{
	constexpr std::uint32_t groups = 600; // 19 KiB without a single NSID
	auto config = withAna(groups);
	config.mdts = 1; // 8 KiB
	Ports ports({config, config});
	target::AnaStates states;
	for (std::uint32_t g = 1; g <= groups; g++)
		states[g] = g == 1 ? target::ana_non_optimized : target::ana_inaccessible;
	ports[0].setAnaStates(states);
	auto list = ports.connectAll();
	auto stateOf = [&](std::size_t i) {
		auto p = pathOf(ports, list[i].name);
		return p ? p->anaState : nvmeof::AnaState::none;
	};
	CHECK(stateOf(0) == nvmeof::AnaState::nonOptimized);
	CHECK(stateOf(1) == nvmeof::AnaState::optimized);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);

	// The states change between the first and the second Get Log Page command, without another event. A host that
	// combines both pieces gets a state that never existed.
	static const auto tear = always(target::Hook::adminData, [](target::Strike &s) {
		if (!s.log(target::log_ana) || s.cmd->cdw12 != 0 || s.data->size() < 1000)
			return false;
		s.conn.server().setAnaState(1, target::ana_optimized, false);
		return true;
	});
	ports[0].script().arm(tear, 1);
	ports[0].sendEvent(target::event_ana_changed);
	REQUIRE(ports[0].script().waitStrikes(1, scaled(5s)));
	CHECK(eventually([&] { return stateOf(0) == nvmeof::AnaState::optimized; }, 5s));

	// A log that changes at each read: the number of reads is bounded, and I/O goes on.
	static std::atomic<std::uint64_t> reads;
	reads = 0;
	static const auto moving = always(target::Hook::adminData, [](target::Strike &s) {
		if (!s.log(target::log_ana))
			return false;
		reads++;
		s.conn.server().setAnaState(600, target::ana_inaccessible, false);
		return true;
	});
	ports[0].script().arm(moving, target::Script::forever);
	ports[0].sendEvent(target::event_ana_changed);
	CHECK(ports[0].script().waitStrikes(1, scaled(5s)));
	for (int i = 0; i < 10; i++)
		CHECK(ports.work(disk) == 0);
	std::this_thread::sleep_for(1s);
	CHECK(reads < 500);
	ports[0].script().disarm();
	CHECK(ports.live(list[0].name));
	CHECK(eventually([&] { return stateOf(0) == nvmeof::AnaState::optimized; }, 5s));
	CHECK(ports.work(disk) == 0);
}

TEST_CASE("ANA states that change on both ports at random, under load", "[hostile][paths][ana][trap18]")
{
	Ports ports({withAna(), withAna()});
	ports.connectAll();
	FioLoad load({.file = ports.disk(), .size = "4m", .seconds = 8});
	constexpr target::AnaState bad[] = {target::ana_inaccessible, target::ana_change, target::ana_non_optimized};
	for (unsigned i = 0; load.running(); i++) {
		auto &port = ports[i % 2];
		port.setAnaState(1, bad[i / 2 % 3], i % 5 != 0); // sometimes without an event
		std::this_thread::sleep_for(Millis(5 + i * 7 % 60));
		port.setAnaState(1, target::ana_optimized);
		std::this_thread::sleep_for(20ms);
	}
	auto result = load.wait(30s);
	INFO(result.text);
	CHECK(result.good());
	CHECK(ports[0].counters().anaRefusals + ports[1].counters().anaRefusals > 0);
}

TEST_CASE("persistent loss reported by status alone moves I/O to the other path", "[hostile][paths][ana]")
{
	Ports ports({withAna(), withAna()});
	auto list = ports.connectAll();
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	ports[0].setAnaState(1, target::ana_persistent_loss, false);
	for (int i = 0; i < 5; i++)
		CHECK(ports.work(disk) == 0);
	ports[1].setAnaState(1, target::ana_persistent_loss, true);
	Buffer buffer(4096);
	Stopwatch time;
	CHECK(eventually([&] { return disk.read(0, buffer) < 0; }, 5s)); // no path may return
	ports[0].setAnaState(1, target::ana_optimized);
	ports[1].setAnaState(1, target::ana_optimized);
	CHECK(eventually([&] { return ports.work(disk) == 0; }));
}

TEST_CASE("a request that all paths refuse waits even while the path set changes", "[hostile][paths][ana][trap18]")
{
	static const Misbehaviour holdLog{"hold-ana-log",
					  17,
					  target::Hook::command,
					  When::idle,
					  Expect::harmless,
					  target::Needs::ana,
					  [](target::Strike &s) {
						  return target::acts::verdict(s.log(target::log_ana), s,
									       target::Verdict::hold);
					  }};
	Ports ports({withAna(), withAna()});
	auto first = ports.connect(0), second = ports.connect(1);
	Disk disk(ports.disk());
	REQUIRE(ports.work(disk) == 0);
	// The ANA log of the first port is still being read when its state changes again.
	ports[0].script().arm(holdLog);
	ports[0].setAnaState(2, target::ana_inaccessible);
	REQUIRE(ports[0].script().waitStrikes(1, scaled(3s)));
	for (std::size_t i = 0; i < 2; i++)
		ports[i].setAnaState(1, target::ana_inaccessible, false);
	auto refused = [&] { return ports[0].counters().anaRefusals + ports[1].counters().anaRefusals; };
	std::atomic<int> written = 1;
	std::jthread writer([&] {
		Buffer buffer(4096);
		buffer.fill(7);
		written = disk.write(0, buffer);
	});
	REQUIRE(eventually([&] { return refused() >= 2; }));
	auto before = refused();
	nvmeof::ControllerSettings settings;
	for (int i = 1; i <= 12; i++) { // each change publishes a new path set
		settings.reconnectDelay = std::chrono::seconds(i);
		CHECK(ports.host.client().set(second.name, settings).ok());
	}
	CHECK(refused() <= before + 1);
	CHECK(written == 1);
	ports[0].releaseHeld();
	ports[0].setAnaState(1, target::ana_optimized);
	CHECK(eventually([&] { return written != 1; }));
	writer.join();
	CHECK(written == 0);
}

} // namespace guest::hostile_ana
