// SPDX-License-Identifier: LGPL-2.1-or-later
// Loses a path in several ways and measures the cost for an application that has a second one. A path that is merely
// slow must not be taken for a lost one.
#include "namespaces/formats.h"
#include "support/block.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

namespace guest::failover {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

struct Loss {
	const char *name;
	void (*cause)(Multi &, Lane &);
	Millis bound; // asserted; well above the goal, because of the emulator
	// told: the target ends the connection. Otherwise outstanding writes wait for the keep-alive timeout, or an
	// answer.
	enum { told, silent, stalled } kind = told;
	const char *only = nullptr; // only with this transport
};

// The keep-alive timeout, 2 s with nvmet, and the time to detect the loss. The in-tree host retries at the end of its
// own timeout.
constexpr Millis held = 3000ms;

// Closes the sockets of the target, so that the host receives a reset.
void resetConnections(Multi &, Lane &lane)
{
	lane.run("ss -K sport = :4420");
}

const Loss losses[] = {
	{"connection reset", resetConnections, 1000ms, Loss::told, "tcp"},
	{"subsystem unlinked from its port", [](Multi &, Lane &l) { l.unlink(); }, 1000ms},
	{"port removed", [](Multi &, Lane &l) { l.close(); }, 1000ms},
	{"device removed", [](Multi &, Lane &l) { l.nic().remove(); }, 1000ms, Loss::told, "rdma"},
	{"silence both ways", [](Multi &, Lane &l) { l.link().impair("loss 100%"); }, 1500ms, Loss::silent, "tcp"},
	{"silence towards the target", [](Multi &, Lane &l) { l.link().impairToTarget("loss 100%"); }, 1500ms,
	 Loss::silent, "tcp"},
	{"silence towards the host", [](Multi &, Lane &l) { l.link().impairToHost("loss 100%"); }, 1500ms, Loss::silent,
	 "tcp"},
	{"interface down here", [](Multi &, Lane &l) { l.link().hostDown(); }, 1500ms, Loss::silent, "tcp"},
	{"interface down there", [](Multi &, Lane &l) { l.link().targetDown(); }, 1500ms, Loss::silent, "tcp"},
	{"TCP acknowledges, nothing is answered", [](Multi &, Lane &l) { l.link().swallow(64); }, 1000ms, Loss::silent,
	 "tcp"},
	{"keep-alives are answered, reads are not", [](Multi &, Lane &l) { l.link().swallow(1024); }, 2500ms,
	 Loss::stalled, "tcp"},
};

// The losses that are possible over the transport of the tests; the others are printed.
std::vector<Loss> possibleLosses()
{
	std::vector<Loss> list;
	for (auto &loss : losses) {
		if (!loss.only || loss.only == transport())
			list.push_back(loss);
		else if (overRdma())
			notOverRdma(loss.name);
	}
	return list;
}

void heal(Lane &lane)
{
	lane.repair();
	lane.close();
	lane.open();
}

// True if the controller is lost, or its path is avoided because it does not answer.
bool left(Multi &rig, const std::string &name, std::uint32_t reconnects, Loss const &loss)
{
	if (loss.kind == Loss::stalled)
		return std::ranges::any_of(rig.host.paths(),
					   [&](auto &p) { return p.controller == name && p.degraded; });
	// It may have reconnected already.
	return rig.host.state(name) == ControllerState::connecting || rig.host.controller(name).reconnects > reconnects;
}

struct Gaps {
	Millis reads, writes;
};

// The time until the application continues on the other path
Gaps gapsOf(const Loss &loss, Multi &rig, Probe &reads, Probe &writes)
{
	auto busy = rig.busyLane();
	auto &lane = rig.lane(busy);
	auto lost = rig.name(busy);
	auto before = rig.host.controller(lost).reconnects;
	reads.mark();
	writes.mark();
	loss.cause(rig, lane);
	CHECK(eventually([&] { return left(rig, lost, before, loss); }, 8s));
	CHECK(reads.moves());
	auto readGap = reads.longest();
	if (loss.kind == Loss::stalled)
		heal(lane); // ends the outstanding write
	CHECK(writes.moves(15s));
	Gaps gaps{readGap, writes.longest()};
	if (loss.kind != Loss::stalled)
		heal(lane);
	CHECK(rig.host.waitState(lost, ControllerState::live, 20s));
	CHECK(rig.waitPaths(2));
	return gaps;
}

} // namespace

TEST_CASE("the gap that each kind of loss costs", "[failover][gap][short]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe writes(rig.disk()), reads(rig.disk(), {.offset = 1 << 20, .writes = false});
	for (auto &loss : possibleLosses()) {
		INFO(loss.name);
		auto gaps = gapsOf(loss, rig, reads, writes);
		std::printf("gap: %-42s reads %5ld ms, writes %5ld ms\n", loss.name,
			    static_cast<long>(gaps.reads.count()), static_cast<long>(gaps.writes.count()));
		std::fflush(stdout);
		CHECK(gaps.reads < scaled(loss.bound));
		if (loss.kind != Loss::stalled)
			CHECK(gaps.writes < scaled(loss.kind == Loss::silent ? held : loss.bound));
		CHECK(reads.error() == 0);
		CHECK(writes.error() == 0);
	}
	expectGood(reads);
	expectGood(writes);
}

TEST_CASE("a short outage of one path costs the retransmission time of TCP, and the connection stays",
	  "[failover][blip][tcp][short]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe writes(rig.disk()), reads(rig.disk(), {.offset = 8 << 20, .writes = false});
	for (auto nominal : {200ms, 600ms, 1500ms}) {
		INFO("outage of " << nominal.count() << " ms");
		auto lane = rig.busyLane();
		auto before = rig.host.controller(rig.name(lane)).reconnects;
		writes.mark();
		reads.mark();
		Stopwatch watch; // includes the time to set up the outage
		rig.lane(lane).link().loseFor(nominal);
		Millis outage = watch.elapsed();
		pause(4s);
		std::printf("outage of %4ld ms: reads %4ld ms, writes %4ld ms\n", static_cast<long>(outage.count()),
			    static_cast<long>(reads.longest().count()), static_cast<long>(writes.longest().count()));
		std::fflush(stdout);
		CHECK(writes.longest() < scaled(outage + 150ms)); // one segment is retransmitted every 20 ms
		// A response that is lost after its command was acknowledged waits for the target's own doubled
		// timeout: nothing that the host has sent is outstanding. Seen with the target of 7.3 only.
		CHECK(reads.longest() < scaled(formats::kernelFrom(6, 13) ? 1000ms : 450ms));
		if (outage < 1900ms) // after 2 s it is lost
			CHECK(rig.host.controller(rig.name(lane)).reconnects == before);
		// The path is used again after a delay that grows from one outage to the next.
		CHECK(eventually([&] { return rig.path(lane).usable && !rig.path(lane).degraded; }, 10s));
	}
	CHECK(kernelLogHas("responds again: path used again"));
	expectGood(writes);
	expectGood(reads);
}

TEST_CASE("a silent path that is reset by request keeps its writes until the keep-alive timeout", "[failover][tcp]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe probe(rig.disk());
	auto busy = rig.busyLane();
	auto name = rig.name(busy);
	bool writing = false;
	for (int round = 0; !writing && round < 8; round++) {
		probe.mark();
		rig.lane(busy).link().impair("loss 100%");
		pause(600ms);
		writing = probe.longest() > 550ms; // a write is outstanding: a read would have failed over
		if (writing)
			CHECK(rig.host.client().reset(name).ok());
		pause(600ms);
		if (writing)
			CHECK(probe.longest() > 1100ms);
		rig.lane(busy).link().repair();
		CHECK(probe.moves(5s));
		if (writing)
			CHECK(probe.longest() < scaled(held));
		CHECK(rig.host.waitState(name, ControllerState::live, 20s));
		CHECK(eventually([&] { return !rig.path(busy).degraded; }, 20s));
		CHECK(rig.waitPaths(2));
	}
	CHECK(writing);
	expectGood(probe);
}

TEST_CASE("fencing=immediate: a suspect path is given up at once", "[failover][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("fencing=immediate");
	REQUIRE(rig.waitPaths(2));
	Probe probe(rig.disk());
	auto busy = rig.busyLane();
	auto name = rig.name(busy);
	probe.mark();
	rig.lane(busy).link().impair("loss 100%");
	CHECK(rig.host.waitState(name, ControllerState::connecting, 5s));
	CHECK(probe.moves());
	CHECK(probe.longest() < scaled(800ms));
	rig.lane(busy).link().repair();
	CHECK(rig.host.waitState(name, ControllerState::live, 20s));
	expectGood(probe);
}

TEST_CASE("verified load at depth survives each kind of loss", "[failover]")
{
	Multi rig({.lanes = 3});
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 120, 16));
	REQUIRE(rig.waitForLoad());
	unsigned turn = 0;
	for (auto &loss : possibleLosses()) {
		INFO(loss.name);
		auto &lane = rig.lane(turn % 3);
		auto name = rig.name(turn % 3);
		turn++;
		auto before = rig.host.controller(name).reconnects;
		loss.cause(rig, lane);
		CHECK(eventually([&] { return left(rig, name, before, loss); }, 8s));
		heal(lane);
	}
	CHECK(rig.allLive());
	expectGoodUntilNow(load);
}

TEST_CASE("all paths silent, and back", "[failover][tcp]")
{
	Multi rig;
	rig.connectAll();
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	REQUIRE(rig.waitForLoad());
	for (unsigned n = 0; n < 2; n++)
		rig.lane(n).link().impair("loss 100%");
	// Requests of the first lost path wait; those of the last one have no other path.
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting + rig.host.nameSpace(1)->held > 0; }, 5s));
	pause(1s);
	rig.lane(1).link().repair();
	CHECK(rig.waitPaths(1));
	rig.lane(0).link().repair();
	CHECK(rig.waitPaths(2));
	expectGoodUntilNow(load);
}

TEST_CASE("load survives an outage of the whole target", "[failover]")
{
	Multi rig;
	rig.connectAll();
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	REQUIRE(rig.waitForLoad());
	rig.lane(0).close();
	rig.lane(1).close();
	// Requests of the first lost path wait; those of the last one have no other path.
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting + rig.host.nameSpace(1)->held > 0; }, 5s));
	pause(1s);
	rig.lane(1).open();
	rig.lane(0).open();
	CHECK(rig.waitPaths(2));
	expectGoodUntilNow(load);
}

TEST_CASE("a slow and lossy path is not taken for a lost one", "[failover][alarm][long][tcp]")
{
	Multi rig;
	rig.lane(0).link().impairToTarget("delay 100ms loss 1%");
	rig.lane(0).link().impairToHost("loss 1%");
	rig.lane(1).link().impair("delay 50ms loss 1%");
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 32, 16));
	expectGood(load);
	for (unsigned n = 0; n < 2; n++) {
		auto c = rig.host.controller(rig.name(n));
		INFO(c.name << ": " << c.lastError);
		CHECK(c.state == ControllerState::live);
		CHECK(c.reconnects == 0);
		CHECK(rig.path(n).ios > 0);
	}
}

TEST_CASE("a delay that begins under load is not taken for a loss", "[failover][alarm][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60, 8));
	for (int i = 0; i < 5; i++) {
		pause(400ms);
		rig.lane(0).link().impair("delay 50ms");
		pause(400ms);
		rig.lane(0).link().repair();
	}
	expectGoodUntilNow(load);
	CHECK(rig.host.controller(rig.name(0)).reconnects == 0);
	CHECK(rig.host.controller(rig.name(1)).reconnects == 0);
}

TEST_CASE("busy CPUs are not taken for a loss", "[failover][alarm]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	Background one("while :; do :; done"), two("while :; do :; done");
	FioLoad load(verifiedJob(rig.disk(), 8, 32));
	expectGood(load);
	CHECK(rig.host.controller(rig.name(0)).reconnects == 0);
	CHECK(rig.host.controller(rig.name(1)).reconnects == 0);
}

TEST_CASE("an idle path that goes silent is detected before it is needed", "[failover][tcp]")
{
	Multi rig;
	for (unsigned n = 0; n < 2; n++) {
		auto o = rig.options(n);
		o.keepAlive = scaled(2s);
		rig.host.connect(o);
	}
	auto name = rig.name(1);
	rig.lane(1).link().impair("loss 100%");
	CHECK(rig.host.waitState(name, ControllerState::connecting, 6s));
	rig.lane(1).link().repair();
	CHECK(rig.host.waitState(name, ControllerState::live));
}

TEST_CASE("reconnects of a flapping controller are delayed, those of a steady one are not", "[failover][flap][long]")
{
	Multi rig;
	rig.connect(1);
	auto o = rig.options(0);
	o.reconnectDelay = 8s;
	auto name = rig.host.connect(o).name;
	Probe probe(rig.disk());
	auto outage = [&] {
		rig.lane(0).unlink();
		Stopwatch watch;
		CHECK(rig.host.waitState(name, ControllerState::connecting, 5s));
		rig.lane(0).relink();
		CHECK(rig.host.waitState(name, ControllerState::live, 20s));
		return watch.elapsed();
	};
	std::vector<Millis> times;
	for (int i = 0; i < 6; i++)
		times.push_back(outage());
	for (auto t : times)
		std::printf("flap: back after %ld ms\n", static_cast<long>(t.count()));
	CHECK(times[0] < scaled(1500ms));
	CHECK(times[4] + times[5] > 1500ms); // each attempt doubles the delay of the next
	CHECK(times[4] + times[5] > times[0] + times[1]);
	pause(11s);
	CHECK(outage() < (times[4] + times[5]) / 2);
	CHECK(kernelLogHas("in a row: reconnect delay extended"));
	expectGood(probe);
}

TEST_CASE("a failover event reports how many requests moved and how long it took", "[failover][event][short][tcp]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe probe(rig.disk());
	REQUIRE(probe.moves());
	auto busy = rig.busyLane();
	auto left = rig.path(busy).name;
	Watch watch;
	probe.mark();
	rig.lane(busy).link().impair("loss 100%");
	auto event = watch.find([](auto &e) { return e.type == EventType::failover; }, 10s);
	auto gap = probe.longest();
	REQUIRE(event);
	CHECK(event->name() == rig.host.nameSpace(1)->name);
	REQUIRE(event->failover);
	CHECK(event->failover->path == left);
	CHECK(event->failover->ios == 1);
	CHECK(event->failover->duration > 10ms);
	CHECK(event->failover->duration <= gap + 10ms);
	CHECK(rig.path(busy).failoversFrom >= 1);
	CHECK(rig.path(1 - busy).failoversTo >= 1);
	rig.lane(busy).link().repair();
	CHECK(rig.allLive());
	expectGood(probe);
}

TEST_CASE("a requested reset moves the I/O without an error", "[failover]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	for (unsigned i = 0; i < 6; i++) {
		pause(500ms);
		REQUIRE(rig.allLive());
		CHECK(rig.host.client().reset(rig.name(i % 2)).ok());
	}
	CHECK(rig.allLive());
	expectGoodUntilNow(load);
}

} // namespace guest::failover
