// SPDX-License-Identifier: LGPL-2.1-or-later
// Detection of silent connections of live controllers: what counts as the loss of a path, and what does not.
#include "support/block.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace guest::silence {

using nvmeof::ControllerState;

namespace {

nvmeof::Controller connectWith(Multi &rig, unsigned lane, const std::function<void(nvmeof::ConnectOptions &)> &change)
{
	auto o = rig.options(lane);
	change(o);
	return rig.host.connect(o);
}

// Time until the controller is no longer live
Millis timeToLoss(Multi &rig, const std::string &name, Millis timeout)
{
	Stopwatch watch;
	eventually([&] { return rig.host.state(name) != ControllerState::live; }, timeout);
	return watch.elapsed();
}

// Time until the path gets no new I/O
Millis timeToSuspect(Multi &rig, const std::string &name, Millis timeout)
{
	Stopwatch watch;
	auto leftOut = [&] {
		for (auto &p : rig.host.paths())
			if (p.controller == name)
				return p.degraded;
		return false;
	};
	eventually(leftOut, timeout);
	return watch.elapsed();
}

void silent(Multi &rig, unsigned lane)
{
	rig.lane(lane).link().impair("loss 100%");
}

std::uint32_t reconnects(Multi &rig)
{
	std::uint32_t sum = 0;
	for (unsigned n = 0; n < rig.lanes(); n++)
		sum += rig.host.controller(rig.name(n)).reconnects;
	return sum;
}

void connectWithJumboFrames(Multi &rig)
{
	for (unsigned n = 0; n < 2; n++)
		rig.lane(n).link().setMtu(9000);
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
}

bool onProbation(Multi &rig, const std::string &name)
{
	for (auto &p : rig.host.paths())
		if (p.controller == name)
			return p.probation;
	return false;
}

// Lets the lane go silent until its controller has lost the connection, then repairs it
void lose(Multi &rig, unsigned lane)
{
	auto name = rig.name(lane);
	silent(rig, lane);
	CHECK(timeToLoss(rig, name, 8s) < scaled(8s));
	rig.lane(lane).link().repair();
}

void loseAndReconnect(Multi &rig, unsigned lane)
{
	lose(rig, lane);
	CHECK(rig.host.waitState(rig.name(lane), ControllerState::live, 20s));
}

// Retransmitted TCP segments of this network namespace; targets are in other ones
std::uint64_t retransmissions()
{
	std::istringstream all(readFile("/proc/net/snmp"));
	std::vector<std::string> names;
	for (std::string line; std::getline(all, line);) {
		std::istringstream words(line);
		std::vector<std::string> row{std::istream_iterator<std::string>(words), {}};
		if (row.empty() || row[0] != "Tcp:")
			continue;
		if (names.empty()) {
			names = row;
			continue;
		}
		auto at = std::find(names.begin(), names.end(), "RetransSegs") - names.begin();
		return std::stoull(row.at(static_cast<std::size_t>(at)));
	}
	throw std::runtime_error("no TCP counters");
}

std::uint64_t retransmissionsIn(Millis time)
{
	auto before = retransmissions();
	pause(time);
	return retransmissions() - before;
}

} // namespace

TEST_CASE("reads leave a silent path for another one in less than half a second", "[silence][gap]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe probe(rig.disk(), {.writes = false}); // writes: failover.cpp
	std::vector<Millis> gaps;
	for (int i = 0; i < 6; i++) {
		unsigned lane = rig.busyLane();
		auto name = rig.name(lane);
		pause(Millis(13 * i));
		probe.mark();
		silent(rig, lane);
		CHECK(timeToSuspect(rig, name, 5s) < scaled(1s));
		CHECK(probe.moves());
		gaps.push_back(probe.longest());
		std::printf("silent path: gap %ld ms\n", static_cast<long>(gaps.back().count()));
		CHECK(gaps.back() < scaled(1s)); // emulators with too few processors are slower
		CHECK(kernelLogHas(name + ".*nothing is acknowledged: path is suspect"));
		// the loss comes only after the keep-alive timeout, 2 s with the kernel's target
		CHECK(rig.host.state(name) == ControllerState::live);
		CHECK(timeToLoss(rig, name, 5s) < scaled(3s));
		CHECK(kernelLogHas(name + ".*: path counts as lost"));
		rig.lane(lane).link().repair();
		CHECK(rig.host.waitState(name, ControllerState::live, 20s));
		CHECK(rig.waitPaths(2));
	}
	std::sort(gaps.begin(), gaps.end());
	CHECK(gaps[gaps.size() / 2] < scaled(500ms));
	expectGood(probe);
}

TEST_CASE("a path that loses only long packets is soon on probation, and the log suggests the MTU",
	  "[silence][probation]")
{
	Multi rig;
	connectWithJumboFrames(rig);
	Probe probe(rig.disk(), {.pause = 20ms});
	auto lane = rig.busyLane();
	auto name = rig.name(lane);
	rig.lane(lane).link().swallowToTarget(2048);
	REQUIRE(eventually([&] { return onProbation(rig, name); }, 60s));
	CHECK(kernelLogHas(name + ".*segments of .* bytes are not acknowledged, .*: check the MTU"));
	REQUIRE(rig.host.waitState(name, ControllerState::live, 20s));
	CHECK(must("nvmeofctl show " + rig.disk().substr(5)).find("probation") != std::string::npos);
	// without probation: once in five seconds
	auto before = reconnects(rig);
	std::this_thread::sleep_for(scaled(30s));
	CHECK(reconnects(rig) - before <= 2);
	CHECK(onProbation(rig, name));
	rig.lane(lane).link().repair();
	CHECK(eventually([&] { return !onProbation(rig, name); }, 120s));
	CHECK(kernelLogHas(name + ".*probation ended after 8 completed trial requests"));
	expectGood(probe);
}

TEST_CASE("a controller lost soon after its probation is on probation again at once", "[silence][probation]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 120, 8));
	REQUIRE(rig.waitForLoad());
	auto name = rig.name(0);
	for (int i = 0; i < 2; i++) {
		loseAndReconnect(rig, 0);
		CHECK_FALSE(onProbation(rig, name));
	}
	loseAndReconnect(rig, 0);
	CHECK(onProbation(rig, name));
	CHECK(kernelLogHas(name + ".*connection lost 3 times in .*: on probation while other paths work"));
	CHECK(eventually([&] { return !onProbation(rig, name); }, 60s));
	loseAndReconnect(rig, 0);
	CHECK(onProbation(rig, name));
	CHECK(kernelLogHas(name + ".*connection lost [0-9]* s after the end of probation: on probation again"));
	expectGoodUntilNow(load);
}

TEST_CASE("writes alone try a path on probation, one at a time and without a stall", "[silence][probation]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load({.file = rig.disk(), .depth = 8, .verify = false, .seconds = 120});
	REQUIRE(rig.waitForLoad());
	auto name = rig.name(0);
	loseAndReconnect(rig, 0);
	loseAndReconnect(rig, 0);
	lose(rig, 0);
	auto before = rig.path(0);
	CHECK(rig.host.waitState(name, ControllerState::live, 20s));
	Stopwatch watch;
	std::vector<nvmeof::Path> looks; // the last sample may be from after the probation
	auto elsewhere = rig.path(1).ios;
	do {
		looks.push_back(rig.path(0));
		pause(100ms);
		auto now = rig.path(1).ios;
		CHECK(now > elsewhere);
		elsewhere = now;
	} while (onProbation(rig, name) && watch.elapsed() < scaled(60s));
	CHECK_FALSE(onProbation(rig, name));
	// one trial per second; three trials wait another second for a read
	CHECK(watch.elapsed() > 9s);
	REQUIRE(looks.size() > 1);
	looks.pop_back();
	for (auto &look : looks)
		CHECK(look.inflight <= 1);
	CHECK(looks.back().ios - before.ios >= 7);
	CHECK(looks.back().ios - before.ios <= 8);
	CHECK(looks.back().bytesRead == before.bytesRead);
	auto result = load.finish(20s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a path that loses everything is not reported as an MTU problem", "[silence][mtu]")
{
	Multi rig;
	connectWithJumboFrames(rig);
	// after each pause one write with in-capsule data: a long segment is the first to be lost
	Probe probe(rig.disk(), {.pause = 50ms});
	auto lane = rig.busyLane();
	auto name = rig.name(lane);
	auto &link = rig.lane(lane).link();
	SECTION("in both directions")
	{
		link.impair("loss 100%");
	}
	SECTION("towards the target only")
	{
		link.impairToTarget("loss 100%");
	}
	SECTION("from the target only")
	{
		link.impairToHost("loss 100%");
	}
	CHECK(timeToLoss(rig, name, 8s) < scaled(8s));
	CHECK(kernelLogHas(name + ".*nothing is acknowledged: path is suspect"));
	CHECK_FALSE(kernelLogHas(name + ".*check the MTU"));
	link.repair();
	CHECK(rig.host.waitState(name, ControllerState::live, 20s));
	expectGood(probe);
}

TEST_CASE("stall-tmo applies, and 0 turns the detection off", "[silence]")
{
	Multi rig;
	auto slow = connectWith(rig, 0, [](auto &o) { o.stallTimeout = 1500ms; });
	auto never = connectWith(rig, 1, [](auto &o) {
		o.stallTimeout = 0ms;
		o.keepAlive = scaled(5s);
	});
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60, 4));
	pause(1s);
	Stopwatch watch; // starting the impairment takes time, too
	silent(rig, 0);
	timeToSuspect(rig, slow.name, 6s);
	auto took = watch.elapsed();
	CHECK(took > 1400ms); // default: 300 ms
	CHECK(took < scaled(3s));
	rig.lane(0).link().repair();
	CHECK(rig.host.waitState(slow.name, ControllerState::live, 20s));
	CHECK(rig.waitPaths(2));
	silent(rig, 1);
	pause(1500ms);
	CHECK(rig.host.state(never.name) == ControllerState::live);
	CHECK(!rig.path(1).degraded);
	rig.lane(1).link().repair();
	expectGoodUntilNow(load);
}

TEST_CASE("I/O waits for a silent path without alternative, and continues on the same connection", "[silence]")
{
	Multi rig({.lanes = 1});
	auto c = connectWith(rig, 0, [](auto &o) {
		o.keepAlive = scaled(30s);
		o.connectTimeout = scaled(10s); // TCP_USER_TIMEOUT is the larger of both
	});
	FioLoad load(verifiedJob(rig.disk(), 60, 4));
	pause(1s);
	silent(rig, 0);
	pause(2s);
	CHECK(rig.host.state(c.name) == ControllerState::live);
	rig.lane(0).link().repair();
	expectGoodUntilNow(load);
	CHECK(rig.host.controller(c.name).reconnects == 0);
	CHECK(kernelLogHas("no other path, waiting for keep-alive"));
}

TEST_CASE("a silent peer gets a retransmission every 20 ms for three seconds", "[silence][retransmit]")
{
	Multi rig({.lanes = 1});
	auto c = connectWith(rig, 0, [](auto &o) {
		o.keepAlive = scaled(30s);
		o.connectTimeout = scaled(30s); // TCP_USER_TIMEOUT is the larger of both
	});
	Probe probe(rig.disk(), {.writes = false});
	REQUIRE(probe.moves());
	silent(rig, 0);
	Stopwatch watch;
	pause(1s);
	// of the read and of the Keep Alive that follows it
	auto segments = retransmissionsIn(1s);
	CHECK(segments >= 40);
	CHECK(segments <= 105);
	// allows for delays of this machine
	CHECK(eventually([&] { return retransmissionsIn(400ms) < 10; }, 5s));
	auto end = watch.elapsed();
	CHECK(end > 3s);
	// then with TCP's back-off: from 60 ms on, doubled each time
	auto later = retransmissionsIn(3s);
	CHECK(later <= 10);
	std::printf("silent peer: %lu segments in a second, %lu in three after %ld ms\n", segments, later, end.count());
	CHECK(rig.host.state(c.name) == ControllerState::live);
	rig.lane(0).link().repair();
	CHECK(probe.moves(10s));
	CHECK(rig.host.controller(c.name).reconnects == 0);
	expectGood(probe);
}

TEST_CASE("an idle path is not watched; the first I/O detects the silence", "[silence]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 4096, 1) == 0);
	pause(500ms);
	unsigned lane = rig.shares([&] { disk.verified(0, 4096, 2); })[0] > 0.5 ? 0 : 1;
	silent(rig, lane);
	Stopwatch watch;
	Buffer buffer(4096);
	CHECK(disk.read(0, buffer) == 0); // a write would be held: see fencing.cpp
	CHECK(buffer.holds(2));
	CHECK(watch.elapsed() < scaled(1s));
	rig.lane(lane).link().repair();
	CHECK(rig.waitPaths(2));
}

TEST_CASE("1 % packet loss is not taken for silence", "[silence][alarm][long]")
{
	Multi rig;
	for (unsigned n = 0; n < 2; n++)
		rig.lane(n).link().impair("loss 1%");
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 20, 16));
	expectGood(load);
	CHECK(rig.allLive());
	CHECK(reconnects(rig) == 0);
}

TEST_CASE("a shortage of processors is not taken for silence", "[silence][alarm][long]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	Background busy("for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait");
	auto job = verifiedJob(rig.disk(), 25, 32);
	job.blocks = "128k";
	FioLoad load(job);
	auto result = load.wait(90s);
	busy.stop();
	INFO(result.text);
	CHECK(result.good());
	CHECK(rig.allLive());
	CHECK(reconnects(rig) == 0);
}

// The CPU limit of a container stops its tasks even while they hold a socket lock; acknowledgements wait behind that.
TEST_CASE("a CPU limit of the application is not taken for silence", "[silence][alarm]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	auto job = verifiedJob(rig.disk(), 60, 16);
	job.blocks = "128k";
	FioLoad load(job);
	auto limit = run("mkdir -p /run/cgroup && mount -t cgroup2 none /run/cgroup && "
			 "echo +cpu > /run/cgroup/cgroup.subtree_control && mkdir /run/cgroup/limited && "
			 "echo '4000 100000' > /run/cgroup/limited/cpu.max && "
			 "for p in $(pidof fio); do echo $p > /run/cgroup/limited/cgroup.procs; done");
	INFO(limit.text);
	REQUIRE(limit.status == 0);
	pause(15s);
	CHECK(rig.allLive());
	CHECK(reconnects(rig) == 0);
	run("for p in $(pidof fio); do echo $p > /run/cgroup/cgroup.procs; done; rmdir /run/cgroup/limited; "
	    "umount /run/cgroup");
	expectGoodUntilNow(load);
}

TEST_CASE("a target that acknowledges data but completes no I/O gets no new I/O", "[silence][stall]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	std::string name;
	SECTION("while another path completes I/O")
	{
		rig.set("iopolicy=round-robin");
		FioLoad load(verifiedJob(rig.disk(), 60, 8));
		pause(2s);
		name = rig.name(0);
		rig.lane(0).link().swallow(1024);
		auto took = timeToSuspect(rig, name, 8s);
		std::printf("stall beside a working path: %ld ms\n", static_cast<long>(took.count()));
		CHECK(took < scaled(2s)); // at this depth little I/O is left soon that could complete on the other path
		rig.lane(0).link().repair();
		expectGoodUntilNow(load);
	}
	SECTION("while the other path is idle")
	{
		Probe probe(rig.disk(), {.writes = false});
		unsigned lane = rig.busyLane();
		name = rig.name(lane);
		rig.lane(lane).link().swallow(1024);
		auto took = timeToSuspect(rig, name, 12s);
		std::printf("stall beside an idle path: %ld ms\n", static_cast<long>(took.count()));
		CHECK(took < scaled(4s));
		CHECK(probe.moves());
		rig.lane(lane).link().repair();
		expectGood(probe);
	}
	CHECK(kernelLogHas("no I/O completed for"));
	CHECK(rig.waitPaths(2));
}

} // namespace guest::silence
