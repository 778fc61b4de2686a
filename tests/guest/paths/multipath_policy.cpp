// SPDX-License-Identifier: LGPL-2.1-or-later
// Which paths each policy uses: shares of the load, spilling, degraded paths, full queues.
#include "multipath_setup.h"
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace guest::multipath_policy {

using nvmeof::AnaState;
using nvmeof::EventType;

namespace {

// No verification, so that the paths are the bottleneck.
FioJob traffic(const std::string &disk, unsigned seconds, unsigned depth = 16)
{
	return {.file = disk, .rw = "randrw", .depth = depth, .verify = false, .seconds = seconds};
}

void flow(const std::string &disk, unsigned seconds, unsigned depth = 16)
{
	auto result =
		runFio(traffic(disk, static_cast<unsigned>(scaled(Millis(seconds * 1000)).count() / 1000), depth));
	INFO(result.text);
	CHECK(result.good());
}

// A netem delay that is long compared with the kernel's own latency, on slow kernels as well.
std::string delay(Millis time)
{
	return "delay " + std::to_string(scaled(time).count()) + "ms";
}

} // namespace

TEST_CASE("numa uses one path, round-robin uses all equally", "[multipath][policy]")
{
	Multi rig({.lanes = 4});
	rig.connectAll();
	REQUIRE(rig.waitPaths(4));
	auto disk = rig.disk();
	rig.set("iopolicy=numa");
	auto shares = rig.shares([&] { flow(disk, 1); });
	INFO(percent(shares));
	CHECK(*std::max_element(shares.begin(), shares.end()) > 0.99);
	rig.set("iopolicy=round-robin");
	shares = rig.shares([&] { flow(disk, 1); });
	INFO(percent(shares));
	for (auto share : shares)
		CHECK(share == Approx(0.25).margin(0.05));
}

TEST_CASE("queue-depth and latency prefer the fast path", "[multipath][policy][tcp]")
{
	Multi rig;
	rig.connectAll();
	auto disk = rig.disk();
	for (auto *policy : {"queue-depth", "latency"}) {
		INFO(policy);
		rig.set("iopolicy=" + std::string(policy));
		rig.lane(1).link().impair(delay(20ms));
		auto shares = rig.shares([&] { flow(disk, 2, 8); });
		INFO("one of them slow: " << percent(shares));
		CHECK(shares[0] > 0.7);
		rig.lane(1).link().repair();
		shares = rig.shares([&] { flow(disk, 2, 8); });
		INFO("both fast: " << percent(shares));
		CHECK(shares[1] > 0.25);
		CHECK(shares[1] < 0.75);
	}
}

TEST_CASE("latency: a path that has recovered is back within a second", "[multipath][policy][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=latency");
	rig.lane(1).link().impair(delay(50ms));
	FioLoad load(traffic(rig.disk(), 60, 8));
	REQUIRE(rig.waitForLoad());
	pause(1s);
	auto slow = rig.shares([] { pause(500ms); });
	INFO("while slow: " << percent(slow));
	CHECK(slow[1] < 0.15);
	rig.lane(1).link().repair();
	pause(scaled(1s)); // requests in flight take longer on a slow kernel
	auto fast = rig.shares([] { pause(1s); });
	INFO("after that: " << percent(fast));
	CHECK(fast[1] > 0.2);
	expectGoodUntilNow(load);
}

TEST_CASE("spill: non-optimized paths take the load above the bound, and give it back",
	  "[multipath][policy][spill][tcp]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.stallTimeout = scaled(300ms); }); // the delay is not a stall
	rig.lane(1).setAna(1, "non-optimized");
	REQUIRE(rig.waitAna(1, AnaState::nonOptimized));
	auto disk = rig.disk();
	auto part = [&](unsigned depth) { return rig.shares([&] { flow(disk, 2, depth); })[1]; };
	rig.set("iopolicy=latency");
	SECTION("by expected time")
	{
		rig.lane(0).link().impair(delay(25ms));
		CHECK(part(8) == 0.0); // spilling is off
		rig.set("spill-us=" + std::to_string(scaled(20ms).count() * 1000));
		CHECK(part(8) > 0.3);
		rig.lane(0).link().repair();
		CHECK(eventually([&] { return part(2) < 0.05; }, 20s));
	}
	SECTION("by depth")
	{
		// long enough for commands to be outstanding at the same time
		for (unsigned n : {0, 1})
			rig.lane(n).link().impair(delay(5ms));
		rig.set("spill-depth=4");
		CHECK(part(32) > 0.1);
		CHECK(part(1) < 0.02);
		rig.set("spill-depth=0");
		CHECK(part(32) == 0.0);
	}
}

TEST_CASE("degrade: an outlier is avoided and restored, each with an event", "[multipath][policy][degrade][tcp]")
{
	Multi rig({.lanes = 3});
	connectWith(rig, [](auto &o) { o.stallTimeout = scaled(1s); }); // slow, but not stalled
	REQUIRE(rig.waitPaths(3));
	rig.set("iopolicy=round-robin degrade=on");
	Watch watch;
	FioLoad load(traffic(rig.disk(), 90));
	REQUIRE(rig.waitForLoad());
	pause(1s);
	auto outlier = rig.path(2).name;
	rig.lane(2).link().impair(delay(40ms));
	auto told = [&](EventType type) {
		return watch.find([&](auto &e) { return e.type == type && e.name() == outlier; }, scaled(10s))
			.has_value();
	};
	CHECK(told(EventType::degraded));
	CHECK(rig.path(2).degraded);
	auto shares = rig.shares([] { pause(scaled(1s)); });
	INFO("left out: " << percent(shares));
	CHECK(shares[2] < 0.1);
	CHECK(shares[2] > 0); // probes
	rig.lane(2).link().repair();
	CHECK(told(EventType::restored));
	CHECK_FALSE(rig.path(2).degraded);
	shares = rig.shares([] { pause(scaled(1s)); });
	INFO("back: " << percent(shares));
	CHECK(shares[2] > 0.2);
	expectGoodUntilNow(load);
}

TEST_CASE("degrade: the last good path stays in use, however slow", "[multipath][policy][degrade][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin degrade=on");
	FioLoad load(verifiedJob(rig.disk(), 60));
	REQUIRE(rig.waitForLoad());
	rig.lane(0).link().impair(delay(40ms));
	pause(2s);
	rig.lane(1).close(); // the remaining path is an outlier
	auto shares = rig.shares([] { pause(scaled(1500ms)); });
	INFO(percent(shares));
	CHECK(shares[0] > 0.9);
	rig.lane(1).open();
	expectGoodUntilNow(load);
	CHECK(rig.allLive());
}

TEST_CASE("a full queue does not block requests that another path can take", "[multipath][policy][tcp]")
{
	Multi rig;
	auto narrow = rig.options(1);
	narrow.queueSize = 16;
	narrow.ioQueues = 1;
	rig.connect(0); // the first path sets the number of tags
	rig.host.connect(narrow);
	CHECK(rig.host.client().disconnect(rig.name(0)).ok());
	rig.connect(0);
	for (unsigned n = 0; n < 2; n++)
		rig.lane(n).link().impair(delay(5ms));
	rig.set("iopolicy=numa"); // uses the oldest path until its queue is full
	auto shares = rig.shares([&] { flow(rig.disk(), 2, 4); });
	INFO("few: " << percent(shares));
	CHECK(shares[1] > 0.98);
	shares = rig.shares([&] { flow(rig.disk(), 2, 64); });
	INFO("many: " << percent(shares));
	CHECK(shares[0] > 0.3 / timeScale());
	CHECK(shares[1] > 0.05);
}

} // namespace guest::multipath_policy
