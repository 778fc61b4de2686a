// SPDX-License-Identifier: LGPL-2.1-or-later
// A target on a separate machine, over two cables (qemu/run --peer): packet loss, and a target that is frozen or dead.
// RDMA within one machine cannot show any of these.
#include "support/pair.h"
#include "support/transport.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace guest::two {

using nvmeof::ControllerState;

namespace {

struct Silence {
	const char *name;
	void (*cause)(TwoMachines &, unsigned lane);
	bool onlyTcp = false;
};

const Silence silences[] = {
	{"cable pulled, far away", [](TwoMachines &p, unsigned lane) { p.peer.pull(lane + 1); }},
	{"nothing comes from the target", [](TwoMachines &p, unsigned lane) { p.impairToHost(lane, "loss 100%"); }},
	{"nothing gets to the target", [](TwoMachines &p, unsigned lane) { p.deafen(lane); }},
	// rxe's connection manager never retransmits after it has tried while the interface was down
	{"interface down here",
	 [](TwoMachines &, unsigned lane) { must("ip link set " + TwoMachines::card(lane) + " down"); }, true},
};

// Longest read latency until I/O continues on the other path
Millis gapOf(const Silence &silence, TwoMachines &rig, Probe &reads, Probe *writes)
{
	auto lane = rig.busyLane();
	auto lost = rig.name(lane);
	auto before = rig.host.controller(lost).reconnects;
	reads.mark();
	silence.cause(rig, lane);
	CHECK(eventually(
		[&] {
			return rig.host.state(lost) == ControllerState::connecting ||
			       rig.host.controller(lost).reconnects > before;
		},
		5s));
	CHECK(reads.moves());
	auto gap = reads.longest();
	// writes in flight are held until the target has given up: 3 x 2 s of keep-alive
	CHECK((!writes || writes->moves(15s)));
	rig.repair(lane);
	CHECK(rig.host.waitState(lost, ControllerState::live));
	CHECK(rig.waitPaths(2));
	return gap;
}

// Sorted gaps for each kind of silence. bound: allows for an emulator with too few processors
std::vector<Millis> gapsOf(TwoMachines &rig, Probe &reads, Probe *writes, Millis bound)
{
	std::vector<Millis> gaps;
	for (auto &silence : silences) {
		if (silence.onlyTcp && notOverRdma(silence.name))
			continue;
		INFO(silence.name);
		gaps.push_back(gapOf(silence, rig, reads, writes));
		std::printf("gap: %s, %s, %-32s %5ld ms\n", transport().c_str(),
			    writes ? "reads beside writes" : "reads", silence.name,
			    static_cast<long>(gaps.back().count()));
		std::fflush(stdout);
		CHECK(gaps.back() < scaled(bound));
	}
	std::ranges::sort(gaps);
	return gaps;
}

unsigned long endedForReads()
{
	return kernelLogCount("only reads are outstanding, in memory held by the device");
}

std::uint32_t reconnects(TwoMachines &rig)
{
	std::uint32_t sum = 0;
	for (unsigned n = 0; n < rig.lanes(); n++)
		sum += rig.host.controller(rig.name(n)).reconnects;
	return sum;
}

} // namespace

TEST_CASE("one of two links is silent: I/O continues on the other one", "[two][gap]")
{
	TwoMachines rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe writes(rig.disk()), reads(rig.disk(), {.offset = 1 << 20, .writes = false});
	auto ended = endedForReads();
	// over RDMA a connection with a write is kept, and with it the memory of its reads: rxe retries forever, and
	// Keep Alive ends the connection after 2 s
	auto gaps = gapsOf(rig, reads, &writes, overRdma() ? 2500ms : 1500ms);
	CHECK((overRdma() || gaps[gaps.size() / 2] < scaled(600ms)));
	CHECK(endedForReads() == ended);
	expectGood(reads);
	expectGood(writes);
}

TEST_CASE("one of two links is silent: an application that only reads waits for less than half a second", "[two][gap]")
{
	TwoMachines rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe reads(rig.disk(), {.writes = false});
	auto ended = endedForReads();
	auto gaps = gapsOf(rig, reads, nullptr, 600ms);
	CHECK(endedForReads() == ended + (overRdma() ? gaps.size() : 0));
	expectGood(reads);
}

// Not over RDMA: queue pairs of rxe fail when they have to retransmit
TEST_CASE("a link that is silent for less than a second loses no connection that carries writes", "[two][blip][tcp]")
{
	TwoMachines rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	FioLoad load({.file = rig.disk(), .rw = "randwrite", .depth = 4, .size = "8m", .verify = false, .seconds = 60});
	REQUIRE(rig.waitForLoad());
	auto before = reconnects(rig);
	for (auto length : {200ms, 600ms}) {
		INFO(length.count() << " ms");
		auto lane = rig.busyLane();
		rig.lose(lane);
		std::this_thread::sleep_for(length);
		rig.repair(lane);
		CHECK(rig.waitForLoad());
		CHECK(rig.allLive());
		CHECK(rig.waitPaths(2));
	}
	CHECK(reconnects(rig) == before);
	expectGoodUntilNow(load);
}

TEST_CASE("packet loss and delay are not taken for silence", "[two][alarm]")
{
	TwoMachines rig;
	for (unsigned n = 0; n < rig.lanes(); n++) {
		rig.impairToHost(n, "loss 0.5% delay 10ms");
		// rxe repeats memory registrations when it retransmits, which fails: the connection really is lost
		rig.impairToTarget(n, overRdma() ? "delay 5ms" : "loss 0.5% delay 5ms");
	}
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 15, 16));
	expectGood(load);
	CHECK(rig.allLive());
	CHECK(reconnects(rig) == 0);
}

TEST_CASE("a target that is frozen for a while loses no I/O", "[two][freeze]")
{
	TwoMachines rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 120, 8));
	REQUIRE(rig.waitForLoad());
	// shorter than any timeout; longer than silence detection; longer than writes are held
	for (auto time : {100ms, 1500ms, 9000ms}) {
		rig.peer.freeze();
		pause(time);
		rig.peer.thaw();
		CHECK(rig.waitPaths(2, 1, 30s));
		CHECK(rig.waitForLoad());
	}
	expectGoodUntilNow(load);
}

TEST_CASE("a target that is gone holds up no disconnect and no unloading", "[two][kill]")
{
	TwoMachines rig;
	rig.connect(0);
	FioLoad load({.file = rig.disk(), .verify = false, .seconds = 60});
	REQUIRE(rig.waitForLoad());
	rig.peer.kill();
	pause(1s);
	Stopwatch disconnect;
	rig.host.disconnectAll();
	CHECK(disconnect.elapsed() < scaled(3s));
	CHECK(load.wait(10s).error != 0);
	load.stop();
	rig.host.forget();
	Stopwatch unload;
	CHECK(eventually([] { return Host::unload().status == 0; }, 5s));
	CHECK(unload.elapsed() < scaled(3s));
	CHECK_FALSE(Host::loaded());
}

} // namespace guest::two
