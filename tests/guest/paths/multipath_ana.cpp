// SPDX-License-Identifier: LGPL-2.1-or-later
// Asymmetric Namespace Access: which paths each state leaves usable, and what happens to requests that a state refuses.
#include "support/block.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

namespace guest::multipath_ana {

using nvmeof::AnaState;

namespace {

constexpr std::uint64_t mib = 1 << 20;

} // namespace

TEST_CASE("ANA: each state of one path, under verified load", "[multipath][ana][short]")
{
	struct Row {
		const char *state;
		AnaState shown;
		bool usable;
	};
	const Row rows[] = {{"non-optimized", AnaState::nonOptimized, true},
			    {"inaccessible", AnaState::inaccessible, false},
			    {"change", AnaState::change, false},
			    {"persistent-loss", AnaState::persistentLoss, false}};
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	auto disk = rig.disk();
	FioLoad load(verifiedJob(disk, 60));
	REQUIRE(rig.waitForLoad());
	for (auto &row : rows) {
		INFO(row.state);
		rig.lane(0).setAna(1, row.state);
		REQUIRE(rig.waitAna(0, row.shown));
		CHECK(rig.path(0).usable == row.usable);
		pause(200ms); // requests in flight complete
		auto shares = rig.shares([] { pause(500ms); });
		INFO(percent(shares));
		CHECK(shares[0] < 0.02);
		CHECK(shares[1] > 0.98);
		rig.lane(0).setAna(1, "optimized");
		REQUIRE(rig.waitAna(0, AnaState::optimized));
		shares = rig.shares([] { pause(500ms); });
		INFO(percent(shares));
		CHECK(shares[0] > 0.3);
	}
	expectGoodUntilNow(load);
}

TEST_CASE("ANA: non-optimized paths carry the load when no path is optimized", "[multipath][ana]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	Probe probe(rig.disk());
	rig.setAna(1, "non-optimized");
	REQUIRE(rig.waitAna(0, AnaState::nonOptimized));
	REQUIRE(rig.waitAna(1, AnaState::nonOptimized));
	auto shares = rig.shares([] { pause(500ms); });
	INFO(percent(shares));
	CHECK(shares[0] == Approx(0.5).margin(0.15));
	expectGood(probe);
}

TEST_CASE("ANA: no usable path means wait, until the first path is usable again", "[multipath][ana][short]")
{
	Multi rig;
	rig.connectAll();
	Probe probe(rig.disk());
	auto state = GENERATE("inaccessible", "change");
	INFO(state);
	REQUIRE(probe.moves());
	rig.setAna(1, state);
	REQUIRE(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }, 5s));
	auto before = probe.ios();
	pause(1s);
	CHECK(probe.ios() == before);
	rig.lane(1).setAna(1, "non-optimized");
	CHECK(probe.moves(2s));
	CHECK(rig.host.nameSpace(1)->waiting == 0);
	expectGood(probe);
}

TEST_CASE("ANA: persistent loss on every path is an error, at once", "[multipath][ana]")
{
	Multi rig;
	rig.connectAll();
	Disk disk(rig.disk());
	REQUIRE(disk.verified(0, 4096, 1) == 0);
	rig.setAna(1, "persistent-loss");
	REQUIRE(rig.waitAna(1, AnaState::persistentLoss));
	Stopwatch watch;
	Buffer b(4096);
	CHECK(disk.write(0, b) < 0);
	CHECK(watch.elapsed() < scaled(3s));
	rig.lane(0).setAna(1, "optimized");
	REQUIRE(rig.waitPaths(1));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("ANA: I/O does not wait for a change that outlasts ANATT", "[multipath][ana][long]")
{
	Multi rig;
	rig.connectAll();
	Disk disk(rig.disk());
	REQUIRE(disk.verified(0, 4096, 1) == 0);
	rig.setAna(1, "change");
	REQUIRE(rig.waitAna(1, AnaState::change));
	Stopwatch watch;
	Buffer b(4096);
	CHECK(disk.read(0, b) < 0);
	CHECK(watch.elapsed() > 7s); // ANATT of the kernel's target is 10 s
	CHECK(watch.elapsed() < scaled(25s));
	CHECK(kernelLogHas("in ANA state change for longer than ANATT"));
	rig.lane(0).setAna(1, "optimized");
	REQUIRE(rig.waitPaths(1));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("ANA: states that flip under verified load on two namespaces", "[multipath][ana]")
{
	Multi rig({.lanes = 3, .namespaces = {32 * mib, 32 * mib}});
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad one(verifiedJob(rig.disk(1), 60)), two(verifiedJob(rig.disk(2), 60));
	const char *states[] = {"optimized", "inaccessible", "non-optimized", "change"};
	for (unsigned i = 0; i < 40; i++) {
		// Lane 0 stays optimized; on the other lanes groups 1 and 2 have different states.
		rig.lane(1 + i % 2).setAna(1, states[i % 4]);
		rig.lane(1 + i / 2 % 2).setAna(2, states[(i + 2) % 4]);
		pause(100ms);
	}
	expectGoodUntilNow(one);
	expectGoodUntilNow(two);
}

TEST_CASE("ANA: a namespace that moves to another group, under load", "[multipath][ana]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	rig.lane(0).setAna(5, "inaccessible");
	rig.lane(1).setAna(5, "optimized");
	FioLoad load(verifiedJob(rig.disk(), 60));
	REQUIRE(rig.waitForLoad());
	rig.subsystem().moveGroup(1, 5);
	CHECK(eventually([&] { return rig.path(0).anaGroup == 5u && rig.path(1).anaGroup == 5u; }, 5s));
	CHECK(rig.waitAna(0, AnaState::inaccessible));
	CHECK(rig.path(1).usable);
	pause(500ms);
	rig.subsystem().moveGroup(1, 1);
	CHECK(eventually([&] { return rig.path(0).anaGroup == 1u; }, 5s));
	CHECK(rig.waitAna(0, AnaState::optimized));
	expectGoodUntilNow(load);
}

// The worker that reads the log has to wait for a CPU. A refused request must not use up its retries meanwhile.
TEST_CASE("ANA: a request does not use up its retries while the log waits to be read", "[multipath][ana]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load({.file = rig.disk(), .depth = 160, .size = "8m", .seconds = 60});
	REQUIRE(rig.waitForLoad());
	auto retries = [&] { return rig.path(0).retries + rig.path(1).retries; };
	auto before = retries();
	Background busy("for i in {1..12}; do nice -n -5 bash -c 'while :; do :; done' & done; wait");
	for (unsigned turn = 0; turn < 6; turn++) {
		for (auto state : {"inaccessible", "optimized"}) {
			rig.setAna(1, state);
			pause(500ms);
		}
	}
	busy.stop();
	CHECK(retries() > before);
	expectGoodUntilNow(load);
}

} // namespace guest::multipath_ana
