// SPDX-License-Identifier: LGPL-2.1-or-later
// Resources that disks share: the tags of their subsystem, and the slots in the queues of their paths.
#include "support/multi.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace guest::multipath_tags {

using nvmeof::EventType;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned tags = 64, load = 160;

// Two disks, with one queue for each path
struct Shared : Multi {
	explicit Shared(unsigned lanes, nvmeof::ConnectOptions change = {})
		: Multi({.lanes = lanes, .namespaces = {16 * mib, 16 * mib}})
	{
		for (unsigned n = 0; n < lanes; n++) {
			auto o = options(n);
			o.ioQueues = 1;
			o.tags = tags;
			o.queueSize = change.queueSize;
			o.fastIoFail = change.fastIoFail;
			host.connect(o);
		}
		REQUIRE(waitPaths(lanes, 1));
		REQUIRE(waitPaths(lanes, 2));
	}

	unsigned waiting() { return host.nameSpace(1)->waiting; }
	// Less than load, because adjacent bios are merged
	bool allWait() { return waiting() >= load - 16; }

	// Requests of disk 1 as the block layer counts them: completed, or in flight
	std::uint64_t countedByDisk(bool inFlight = false)
	{
		std::istringstream stat(readFile("/sys/block/" + disk(1).substr(5) + "/stat"));
		std::uint64_t f[17] = {};
		for (auto &value : f)
			stat >> value;
		return inFlight ? f[8] : f[0] + f[4] + f[11] + f[15];
	}
	// Requests of disk 1 that its paths count as completed
	std::uint64_t countedByPaths()
	{
		std::uint64_t sum = 0;
		for (auto &p : host.paths())
			sum += p.nsid == 1 ? p.ios : 0;
		return sum;
	}

	// Takes all paths from disk 1, with more requests waiting than there are tags.
	std::unique_ptr<FioLoad> starve()
	{
		return starve({.file = disk(1), .depth = load, .size = "8m", .seconds = 60});
	}
	std::unique_ptr<FioLoad> starve(FioJob job)
	{
		auto dead = std::make_unique<FioLoad>(job);
		REQUIRE(waitForLoad(1));
		setAna(1, "inaccessible");
		REQUIRE(eventually([this] { return allWait(); }, scaled(10s)));
		return dead;
	}
};

} // namespace

TEST_CASE("a disk without a path leaves tags to the other disk", "[multipath][tags][trap18]")
{
	Shared rig(2);
	auto apart = rig.countedByDisk() - rig.countedByPaths();
	auto dead = rig.starve();
	for (auto engine : {"libaio", "io_uring"}) {
		auto result = runFio({.file = rig.disk(2), .depth = 32, .size = "4m", .engine = engine});
		INFO(result.text);
		CHECK(result.good());
	}
	CHECK(rig.allWait());
	rig.setAna(1, "optimized");
	CHECK(eventually([&] { return rig.waiting() == 0; }, 10s));
	expectGoodUntilNow(*dead);
	CHECK(rig.waiting() == 0);
	// Each request is counted once, as iostat shows.
	CHECK(rig.countedByDisk() - rig.countedByPaths() == apart);
	CHECK(rig.countedByDisk(true) == 0);
}

// The bios of the pieces are chained, and a chained bio is completed by the block layer alone.
TEST_CASE("pieces of large requests wait without a tag, and complete", "[multipath][tags][split]")
{
	Shared rig(2);
	writeFile("/sys/block/" + rig.disk(1).substr(5) + "/queue/max_sectors_kb", "4");
	const FioJob large{.file = rig.disk(1), .blocks = "64k", .depth = load / 16, .size = "8m", .seconds = 60};
	auto dead = rig.starve(large);
	SECTION("when a path is back")
	{
		rig.setAna(1, "optimized");
		CHECK(eventually([&] { return rig.waiting() == 0; }, scaled(10s)));
		expectGoodUntilNow(*dead);
	}
	SECTION("when the disk is removed")
	{
		rig.host.disconnectAll();
		CHECK_FALSE(dead->wait(scaled(20s)).good());
	}
}

TEST_CASE("requests that have given up their tags count as moved until they complete", "[multipath][tags][tcp]")
{
	Shared rig(2);
	for (unsigned n : {0, 1})
		rig.lane(n).link().impair("delay 5ms"); // requests are in flight when the connections are lost
	FioLoad dead({.file = rig.disk(1), .depth = load, .size = "8m", .seconds = 60});
	REQUIRE(rig.waitForLoad(1));
	Watch events;
	for (unsigned n : {0, 1})
		rig.lane(n).close();
	REQUIRE(eventually([&] { return rig.allWait(); }, 10s));
	for (unsigned n : {0, 1})
		rig.lane(n).open();
	auto told = events.find([](const nvmeof::Event &e) { return e.type == EventType::failover; }, scaled(10s));
	CHECK(told);
	expectGoodUntilNow(dead);
}

TEST_CASE("requests without a tag fail when fast_io_fail_tmo ends the wait for a path",
	  "[multipath][tags][fast-io-fail]")
{
	nvmeof::ConnectOptions change;
	change.fastIoFail = 3s;
	Shared rig(1, change);
	auto dead = rig.starve();
	auto result = dead->wait(scaled(20s));
	INFO(result.text);
	CHECK(result.error == ENOLINK);
	CHECK(rig.waiting() == 0);
}

TEST_CASE("requests without a tag fail when their disk is removed", "[multipath][tags][removal][unload]")
{
	Shared rig(2);
	auto dead = rig.starve();
	rig.host.disconnectAll();
	CHECK_FALSE(dead->wait(scaled(20s)).good());
	rig.host.forget();
	auto unloaded = Host::unload();
	INFO(unloaded.text);
	CHECK(unloaded.status == 0);
	Host::load();
	rig.host.reopen();
}

TEST_CASE("a disk that finds a queue full is served when a slot is free", "[multipath][tags][room][tcp]")
{
	nvmeof::ConnectOptions change;
	change.queueSize = 16;
	Shared rig(1, change);
	FioLoad hog({.file = rig.disk(1), .rw = "randread", .depth = 48, .size = "8m", .verify = false, .seconds = 60});
	REQUIRE(rig.waitForLoad(1));
	rig.lane(0).link().impair("delay 10ms"); // keeps the queue full for long
	auto before = rig.path(0, 1).ios;
	auto result = runFio({.file = rig.disk(2),
			      .rw = "randread",
			      .depth = 1,
			      .size = "8m",
			      .verify = false,
			      .more = "--number_ios=100"});
	auto beside = rig.path(0, 1).ios - before;
	INFO(result.text);
	CHECK(result.good());
	CHECK(beside < 100 * 100);
	hog.stop();
}

} // namespace guest::multipath_tags
