// SPDX-License-Identifier: LGPL-2.1-or-later
// Reservations: two hosts and one disk, through the ioctls that cluster software uses
#include "support/fio.h"
#include "support/two_hosts.h"
#include "support/multipath_rig.h"

#include <catch2/catch.hpp>

#include <thread>

namespace guest::reserve {

TEST_CASE("a reservation is acquired, excludes other hosts, and is released", "[reserve][short]")
{
	TwoHosts two;
	auto a = two.pr(0), b = two.pr(1);
	auto &target = two.reservations();
	CHECK(two.write(0, 0, 1) == 0);
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == prConflict); // not registered
	CHECK(a.registerKey(0xa) == 0);
	CHECK(a.registerKey(0xa) == 0); // repeated
	CHECK(a.registerKey(0xc) == prConflict);
	CHECK(b.registerKey(0xb) == 0);
	CHECK(target.registrants() == 2); // hosts, not controllers
	CHECK(target.keyOf(two.ids[0]) == 0xa);

	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == 0);
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == 0);
	CHECK(target.holds(two.ids[0]));
	CHECK(b.reserve(0xb, PR_WRITE_EXCLUSIVE) == prConflict);
	auto before = two.failovers(1);
	Stopwatch watch;
	CHECK(two.write(1, 0, 2) == -EBADE);
	CHECK(watch.elapsed() < scaled(500ms));
	CHECK(two.read(1, 0) == 0);
	CHECK(two.failovers(1) == before);
	CHECK(two.write(0, 0, 3) == 0);
	CHECK(a.release(0xa, PR_WRITE_EXCLUSIVE) == 0);
	CHECK(two.write(1, 0, 4) == 0);

	CHECK(b.reserve(0xb, PR_EXCLUSIVE_ACCESS) == 0);
	CHECK(two.read(0, 0) == -EBADE);
	CHECK(two.write(0, 0, 5) == -EBADE);
	CHECK(b.clear(0xb) == 0);
	CHECK(target.registrants() == 0);
	CHECK(two.read(0, 0) == 0);
	CHECK(b.clear(0xb) == prConflict);
	CHECK(a.release(0xa, PR_EXCLUSIVE_ACCESS) == prConflict);
}

TEST_CASE("registrations are changed and ended, with and without the current key", "[reserve]")
{
	TwoHosts two;
	auto a = two.pr(0);
	auto &target = two.reservations();
	CHECK(a.registerKey(0xa) == 0);
	CHECK(a.registerKey(0xaa, 0xb) == prConflict); // not the current key
	CHECK(a.registerKey(0xaa, 0xa) == 0);
	CHECK(target.keyOf(two.ids[0]) == 0xaa);
	CHECK(a.registerKey(0xab, 0, PR_FL_IGNORE_KEY) == 0);
	CHECK(target.keyOf(two.ids[0]) == 0xab);
	CHECK(a.registerKey(0, 0x1) == prConflict);
	CHECK(a.registerKey(0, 0xab) == 0);
	CHECK(target.registrants() == 0);
	CHECK(a.registerKey(0, 0xab) == prConflict);
	CHECK(a.registerKey(0xac, 0, PR_FL_IGNORE_KEY) == 0); // also without a registration
	CHECK(a.registerKey(0, 0, PR_FL_IGNORE_KEY) == 0);
	CHECK(target.registrants() == 0);
	CHECK(a.reserve(0, PR_WRITE_EXCLUSIVE, PR_FL_IGNORE_KEY) == -EOPNOTSUPP);
	CHECK(a.reserve(0, pr_type(7)) < 0);
	CHECK(a.reserve(0, pr_type(0)) < 0);
}

TEST_CASE("each reservation type excludes the hosts it specifies", "[reserve]")
{
	TwoHosts two;
	auto a = two.pr(0), b = two.pr(1);
	struct {
		pr_type type;
		bool reads, registered; // a host that is not registered may read; one that is may write
	} const kinds[] = {{PR_WRITE_EXCLUSIVE, true, false},         {PR_EXCLUSIVE_ACCESS, false, false},
			   {PR_WRITE_EXCLUSIVE_REG_ONLY, true, true}, {PR_EXCLUSIVE_ACCESS_REG_ONLY, false, true},
			   {PR_WRITE_EXCLUSIVE_ALL_REGS, true, true}, {PR_EXCLUSIVE_ACCESS_ALL_REGS, false, true}};
	for (auto &kind : kinds) {
		INFO("type " << kind.type);
		CHECK(a.registerKey(0xa) == 0);
		CHECK(a.reserve(0xa, kind.type) == 0);
		CHECK(two.reservations().type() == int(kind.type));
		CHECK(two.write(0, 0, 1) == 0);
		CHECK(two.write(1, 0, 2) == -EBADE);
		CHECK(two.read(1, 0) == (kind.reads ? 0 : -EBADE));
		CHECK(b.registerKey(0xb) == 0);
		CHECK(two.write(1, 0, 2) == (kind.registered ? 0 : -EBADE));
		CHECK(b.registerKey(0, 0xb) == 0);
		CHECK(a.clear(0xa) == 0);
	}
}

TEST_CASE("a preempted host loses access at once and is notified", "[reserve][short]")
{
	bool abort = GENERATE(false, true);
	TwoHosts two;
	auto a = two.pr(0), b = two.pr(1);
	REQUIRE(a.registerKey(0xa) == 0);
	REQUIRE(b.registerKey(0xb) == 0);
	REQUIRE(a.reserve(0xa, PR_WRITE_EXCLUSIVE_REG_ONLY) == 0);
	FioJob job{.file = "/dev/" + two.names[0], .rw = "randwrite", .depth = 4, .verify = false, .seconds = 30};
	FioLoad load(job);
	REQUIRE(eventually([&] { return two.ports[0].counters().writes + two.ports[1].counters().writes > 20; }));
	auto before = two.failovers(0);
	Watch watch;
	CHECK(b.preempt(0xb, 0x1, PR_WRITE_EXCLUSIVE_REG_ONLY) == prConflict); // no registrant has this key
	CHECK(b.preempt(0xb, 0xa, PR_WRITE_EXCLUSIVE_REG_ONLY, abort) == 0);
	auto result = load.wait(scaled(10s));
	CHECK(result.status >= 0);
	CHECK_FALSE(result.good());
	CHECK(two.write(0, 0, 1) == -EBADE);
	CHECK(two.failovers(0) == before);
	CHECK(two.reservations().holds(two.ids[1]));
	CHECK(two.reservations().keyOf(two.ids[0]) == 0);
	CHECK(two.write(1, 0, 2) == 0);
	auto told = watch.find([](auto &e) { return e.aen() && e.aen()->type == 6; });
	REQUIRE(told);
	CHECK(kernelLogHas("registration of this host was preempted by another host"));
	CHECK(b.release(0xb, PR_WRITE_EXCLUSIVE_REG_ONLY) == 0);
	CHECK(two.write(0, 0, 3) == 0);
}

TEST_CASE("a reservation holds on all paths: lost, restored and new ones", "[reserve][short]")
{
	TwoHosts two;
	auto a = two.pr(0), b = two.pr(1);
	REQUIRE(a.registerKey(0xa) == 0);
	REQUIRE(a.reserve(0xa, PR_EXCLUSIVE_ACCESS) == 0);
	auto changes = two.reservations().changes();
	for (unsigned port : {0u, 1u}) {
		two.ports[port].stop();
		REQUIRE(two.usable(0, 1));
		CHECK(two.write(0, 0, port + 1) == 0);
		CHECK(two.write(1, 0, 9) == -EBADE);
		CHECK(b.registerKey(0xb) == 0);
		CHECK(b.reserve(0xb, PR_EXCLUSIVE_ACCESS) == prConflict);
		CHECK(b.registerKey(0, 0xb) == 0);
		two.ports[port].start();
		REQUIRE(two.both(0));
		REQUIRE(two.both(1));
		CHECK(two.write(0, 0, port + 3) == 0);
		CHECK(two.write(1, 0, 9) == -EBADE);
	}
	CHECK(two.reservations().changes() == changes + 6); // by the other host: ours repeats nothing
	CHECK(a.release(0xa, PR_EXCLUSIVE_ACCESS) == 0);
	// no path, and none will come
	two.ports.host.disconnectAll();
	CHECK(a.registerKey(0xa) < 0);
}

TEST_CASE("two hosts preempt each other while paths are lost and restored", "[reserve]")
{
	TwoHosts two;
	unsigned won[2] = {};
	std::thread shaker;
	std::atomic<bool> over{false};
	shaker = std::thread([&] {
		for (unsigned n = 0; !over; n++) {
			two.ports[n % 2].dropConnections(true);
			std::this_thread::sleep_for(400ms);
		}
	});
	for (unsigned round = 0; round < 12; round++) {
		unsigned me = round % 2, other = 1 - me;
		std::uint64_t key = 0x100 + round, theirs = 0x200 + round;
		INFO("round " << round);
		CHECK(two.pr(me).registerKey(key, 0, PR_FL_IGNORE_KEY) == 0);
		CHECK(two.pr(other).registerKey(theirs, 0, PR_FL_IGNORE_KEY) == 0);
		CHECK(two.pr(other).reserve(theirs, PR_WRITE_EXCLUSIVE) == 0);
		CHECK(two.write(me, 0, round) == -EBADE);
		int ret = two.pr(me).preempt(key, theirs, PR_WRITE_EXCLUSIVE, true);
		CHECK((ret == 0 || ret == prOutcomeUnknown));
		CHECK(two.reservations().holds(two.ids[me]));
		won[me]++;
		CHECK(two.write(other, 0, round) == -EBADE);
		CHECK(two.write(me, 0, round) == 0);
		CHECK(two.pr(me).release(key, PR_WRITE_EXCLUSIVE) == 0);
		std::this_thread::sleep_for(100ms);
	}
	over = true;
	shaker.join();
	CHECK(won[0] == won[1]);
	CHECK(eventually([&] { return two.ports.host.busy() == 0; }, 10s));
}

TEST_CASE("a namespace without reservations fails their ioctls with EOPNOTSUPP", "[reserve][short]")
{
	auto config = reserved();
	config.reservations = false;
	TwoHosts two(config);
	auto a = two.pr(0);
	CHECK(a.registerKey(0xa) == -EOPNOTSUPP);
	CHECK(a.reserve(0xa, PR_WRITE_EXCLUSIVE) == -EOPNOTSUPP);
	CHECK(a.release(0xa, PR_WRITE_EXCLUSIVE) == -EOPNOTSUPP);
	CHECK(a.preempt(0xa, 0xb, PR_WRITE_EXCLUSIVE) == -EOPNOTSUPP);
	CHECK(a.clear(0xa) == -EOPNOTSUPP);
	CHECK(two.reservations().changes() == 0);
	CHECK(must("nvmeofctl show --json " + two.names[0]).find("\"reservations\"") == std::string::npos);
}

TEST_CASE("show and reservation report the supported types, the registrants and the holder", "[reserve][short]")
{
	TwoHosts two;
	auto shown = must("nvmeofctl show " + two.names[0]);
	CHECK(shown.find("write-exclusive, exclusive-access") != std::string::npos);
	CHECK(shown.find("persistent through power loss") != std::string::npos);
	auto nobody = must("nvmeofctl reservation " + two.names[0]);
	CHECK(nobody.find("not held") != std::string::npos);
	REQUIRE(two.pr(0).registerKey(0xa) == 0);
	REQUIRE(two.pr(1).registerKey(0xb0b) == 0);
	REQUIRE(two.pr(1).reserve(0xb0b, PR_EXCLUSIVE_ACCESS_REG_ONLY) == 0);
	auto text = must("nvmeofctl reservation " + two.names[0]);
	INFO(text);
	CHECK(text.find("exclusive-access-registrants") != std::string::npos);
	CHECK(text.find("0xb0b") != std::string::npos);
	CHECK(text.find(TwoHosts::idOf(1)) != std::string::npos);
	auto json = must("nvmeofctl reservation --json " + two.names[0]);
	CHECK(json.find("\"type\": \"exclusive-access-registrants\"") != std::string::npos);
	CHECK(json.find("\"this_host\": true") != std::string::npos);
}

} // namespace guest::reserve
