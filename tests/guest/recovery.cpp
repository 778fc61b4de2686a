// SPDX-License-Identifier: LGPL-2.1-or-later
// Connections that break, targets that go and come, deletion and unloading at bad moments.
#include "support/block.h"
#include "support/fio.h"
#include "support/netns.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <thread>

using namespace guest;
using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

FioJob steady(const std::string &disk, unsigned seconds)
{
	return {.file = disk, .blocks = "16k", .depth = 8, .size = "8m", .seconds = seconds};
}

void pause(Millis time)
{
	std::this_thread::sleep_for(time);
}

void expectGood(FioLoad &load)
{
	auto result = load.wait(60s);
	INFO(result.text);
	CHECK(result.good());
	CHECK(result.written > 0);
}

} // namespace

TEST_CASE("a target that goes and comes back under verified load causes no error", "[recovery][reconnect]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load(steady(rig.disk(), 8));
	for (int i = 0; i < 2; i++) {
		pause(1s);
		rig.port.unlink(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
		pause(1s);
		rig.port.link(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::live));
	}
	expectGood(load);
	auto now = rig.host.controller(c.name);
	CHECK(now.reconnects >= 2);
	CHECK(now.attempts == 0);
}

TEST_CASE("reconnect backs off, up to its bound", "[recovery][reconnect]")
{
	Rig rig;
	auto o = rig.options();
	o.reconnectDelay = 1s;
	auto c = rig.host.connect(o);
	Watch watch;
	rig.port.unlink(rig.subsystem);
	pause(slowly(6s));
	std::vector<std::chrono::nanoseconds> times;
	for (auto &e : watch.drain(50ms))
		if (e.type == EventType::connectFailed)
			times.push_back(e.time);
	REQUIRE(times.size() >= 4);
	CHECK(times.size() <= 40 * slow());
	CHECK(times[1] - times[0] < slowly(1s)); // soon at first
	CHECK(times.back() - times[times.size() - 2] < slowly(2s));
	CHECK(rig.host.controller(c.name).attempts >= 4);
	CHECK_FALSE(rig.host.controller(c.name).lastError.empty());
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("ctrl-loss-tmo 0: the first loss ends the controller", "[recovery][loss]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 0ms;
	auto c = rig.host.connect(o);
	Disk disk(rig.disk());
	rig.port.unlink(rig.subsystem);
	CHECK(rig.host.waitGone(c.name, 5s));
	Buffer b(4096);
	CHECK(disk.read(0, b) < 0);
}

TEST_CASE("ctrl-loss-tmo bounds the wait, and what waits fails then", "[recovery][loss][short]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 3s;
	auto c = rig.host.connect(o);
	Disk disk(rig.disk());
	rig.port.unlink(rig.subsystem);
	Stopwatch watch;
	Buffer b(4096);
	CHECK(disk.write(0, b) < 0);
	CHECK(watch.elapsed() > 2s);
	CHECK(watch.elapsed() < slowly(8s));
	CHECK(rig.host.waitGone(c.name, 5s));
}

TEST_CASE("ctrl-loss-tmo -1 goes on, and deletion still works at once", "[recovery][loss]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = -1ms;
	auto c = rig.host.connect(o);
	CHECK(c.ctrlLoss < 0ms);
	rig.port.unlink(rig.subsystem);
	pause(3s);
	CHECK(rig.host.state(c.name) == ControllerState::connecting);
	Stopwatch watch;
	CHECK(rig.host.client().disconnect(c.name).ok());
	CHECK(watch.elapsed() < slowly(1s));
}

TEST_CASE("fast-io-fail-tmo fails what waits, and the controller goes on", "[recovery][loss][trap18][short]")
{
	Rig rig;
	auto o = rig.options();
	o.fastIoFail = 1s;
	auto c = rig.host.connect(o);
	Disk disk(rig.disk());
	rig.port.unlink(rig.subsystem);
	Stopwatch watch;
	Buffer b(4096);
	CHECK(disk.read(0, b) < 0);
	CHECK(watch.elapsed() > 500ms);
	CHECK(watch.elapsed() < slowly(6s));
	CHECK(rig.host.state(c.name) == ControllerState::connecting);
	rig.port.link(rig.subsystem);
	// nothing that is told "live" may be refused any more: without a pause
	const auto file = "/sys/class/nvmeof/" + c.name + "/state";
	Stopwatch waiting;
	while (readFile(file) != "live" && waiting.elapsed() < slowly(20s))
		;
	CHECK(disk.verified(0, 65536, 4) == 0);
	REQUIRE(rig.host.waitState(c.name, ControllerState::live));
}

TEST_CASE("reset under verified load causes no error", "[recovery][reset][short]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load(steady(rig.disk(), 8));
	pause(500ms);
	for (int i = 0; i < 5; i++) {
		pause(500ms);
		REQUIRE(rig.host.waitState(c.name, ControllerState::live));
		CHECK(rig.host.client().reset(c.name).ok());
	}
	expectGood(load);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
	CHECK(rig.host.controller(c.name).reconnects >= 4);
}

TEST_CASE("disconnect under load ends the load, and does not wait for it", "[recovery][delete]")
{
	Rig rig;
	rig.connect();
	FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
	pause(1s);
	Stopwatch watch;
	rig.host.disconnectAll();
	CHECK(watch.elapsed() < slowly(5s));
	auto result = load.wait(20s);
	CHECK(result.status > 0);
}

TEST_CASE("a dead path is noticed, and heals", "[recovery][path]")
{
	Netns netns("tgt");
	Link link(netns, "v", 6);
	Rig rig({.address = link.targetAddress(), .netns = "tgt"});
	auto o = rig.options();
	o.keepAlive = slowly(2s);
	auto c = rig.host.connect(o);
	FioLoad load(steady(rig.disk(), 14));
	pause(1s);
	link.impair("loss 100%");
	CHECK(rig.host.waitState(c.name, ControllerState::connecting, 12s));
	link.repair();
	CHECK(rig.host.waitState(c.name, ControllerState::live, 20s));
	expectGood(load);
}

TEST_CASE("deletion during connect returns at once", "[recovery][delete][trap22]")
{
	Netns netns("tgt");
	Link link(netns, "v", 7);
	Host host;
	std::string address;
	SECTION("blackhole")
	{
		link.impair("loss 100%");
		address = link.targetAddress();
	}
	SECTION("nobody has the address")
	{
		address = "10.7.0.99";
	}
	SECTION("no route")
	{
		address = "203.0.113.1";
	}
	auto c = host.client().start(Host::options(address, "4420"));
	REQUIRE(c.ok()); // that nobody answers is found out later
	pause(300ms);
	Stopwatch watch;
	(void)host.client().disconnect(c->name);
	CHECK(watch.elapsed() < slowly(3s)); // connect-tmo is 10 s
	CHECK(host.state(c->name) == ControllerState::dead);
	link.repair();
}

TEST_CASE("deletion at any moment of a connect", "[recovery][delete]")
{
	Rig rig;
	for (int i = 0; i < 20; i++) {
		auto c = take(rig.host.client().start(rig.options()));
		pause(Millis(i * 7));
		Stopwatch watch;
		(void)rig.host.client().disconnect(c.name);
		CHECK(watch.elapsed() < slowly(4s));
		CHECK(rig.host.state(c.name) == ControllerState::dead);
	}
	rig.connect();
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 4096, 1) == 0);
}

TEST_CASE("deletion while all the I/O waits for a path", "[recovery][delete][trap19][short]")
{
	Rig rig;
	auto c = rig.connect();
	FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
	pause(1s);
	rig.port.unlink(rig.subsystem);
	REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	Stopwatch watch;
	rig.host.disconnectAll();
	CHECK(watch.elapsed() < slowly(2s));
	CHECK(load.wait(20s).status > 0);
}

TEST_CASE("unloading", "[recovery][unload][trap24][short]")
{
	Rig rig;
	SECTION("of the transport takes its controllers with it, under load; the core alone is refused")
	{
		rig.connect();
		auto disk = rig.disk();
		rig.host.forget();
		CHECK(run("rmmod nvmeof").status != 0);
		FioLoad load({.file = disk, .verify = false, .seconds = 30});
		pause(1s);
		CHECK(load.running());
		if (exists("/proc/lockdep"))
			CHECK(run("rmmod nvmeof_tcp").status != 0);
		rig.host.letSocketsGo();
		Stopwatch watch;
		auto gone = run("rmmod nvmeof_tcp");
		INFO(gone.text);
		CHECK(gone.status == 0);
		CHECK(watch.elapsed() < slowly(10s));
		CHECK(load.wait(20s).status > 0);
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("under load, after disconnect")
	{
		rig.connect();
		FioLoad load({.file = rig.disk(), .verify = false, .seconds = 30});
		pause(1s);
		rig.host.disconnectAll();
		rig.host.forget();
		load.wait(20s);
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("with a connect in flight, after disconnect")
	{
		Netns netns("tgt");
		Link link(netns, "v", 8);
		link.impair("loss 100%");
		take(rig.host.client().start(Host::options(link.targetAddress(), "4420")));
		pause(200ms);
		rig.host.disconnectAll();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("during reconnect, after disconnect")
	{
		auto c = rig.connect();
		rig.port.unlink(rig.subsystem);
		REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
		rig.host.disconnectAll();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	SECTION("with an open disk of a controller that is gone: refused until it is closed")
	{
		rig.connect();
		{
			Disk open(rig.disk());
			rig.host.disconnectAll();
			rig.host.forget();
			CHECK(Host::unload().status != 0);
		}
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
	}
	Host::load();
	rig.host.reopen();
}
