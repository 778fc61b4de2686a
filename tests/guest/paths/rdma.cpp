// SPDX-License-Identifier: LGPL-2.1-or-later
// Verifies assumptions of other RDMA tests: RDMA devices of this machine, the in-tree host on them, and the scriptable
// target
#include "support/intree.h"
#include "support/multi.h"
#include "support/rig.h"
#include "target/server.h"

#include <catch2/catch.hpp>

namespace guest::rdma {

namespace {

FioResult verified(const std::string &disk, const std::string &blocks, unsigned depth)
{
	return FioLoad({.file = disk, .blocks = blocks, .depth = depth, .size = "4m", .seconds = 2}).wait(60s);
}

} // namespace

TEST_CASE("the in-tree host does verified I/O over rxe", "[rdma][intree]")
{
	Rig rig;
	InTree intree(rig.port.address());
	for (auto [blocks, depth] : {std::pair("4k", 16u), {"128k", 4u}}) {
		auto result = verified("/dev/" + intree.disk(), blocks, depth);
		INFO(result.text);
		CHECK(result.good());
		CHECK(result.written > 0);
	}
}

TEST_CASE("IPv6 over rxe", "[rdma][intree]")
{
	RigOptions options;
	options.address = here6();
	Rig rig(options);
	InTree intree(rig.port.address());
	CHECK(verified("/dev/" + intree.disk(), "4k", 4).good());
}

TEST_CASE("the in-tree host and the scriptable target work together over rxe", "[rdma][intree][target]")
{
	target::Config config;
	config.transport = target::Transport::rdma;
	config.address = here();
	config.port = 4420;
	config.nqn = testNqn;
	target::Server server(config);
	server.stores().add(1, 64 << 20);
	{
		InTree intree(here());
		for (auto [blocks, depth] : {std::pair("4k", 16u), {"128k", 4u}, {"1m", 2u}}) {
			auto result = verified("/dev/" + intree.disk(), blocks, depth);
			INFO(result.text);
			CHECK(result.good());
			CHECK(result.written > 0);
		}
		CHECK(server.counters().inCapsuleWrites > 0);
		CHECK(server.counters().remoteReads > 0);
		server.dropConnections();
		CHECK(eventually([&] { return server.counters().adminConnects > 1 && intree.state() == "live"; }, 30s));
		CHECK(verified("/dev/" + intree.disk(), "4k", 4).good());
	}
	CHECK(eventually([&] { return server.counters().open == 0; }));
	for (auto &text : server.violations())
		FAIL_CHECK("the host broke the protocol: " << text);
}

TEST_CASE("the removal of a device removes its in-tree controller, and the device returns for the next one",
	  "[rdma][intree]")
{
	Multi multi;
	InTree intree(multi.lane(0).address());
	intree.addPath(multi.lane(1).address());
	CHECK(intree.controllers() == 2);
	FioLoad load(verifiedJob("/dev/" + intree.disk(), 60));
	pause(scaled(1s));
	multi.lane(1).nic().remove();
	CHECK(!multi.lane(1).nic().there());
	CHECK(eventually([&] { return intree.controllers() == 1; }));
	expectGoodUntilNow(load);
	multi.lane(1).repair();
	multi.lane(1).reopen();
	intree.addPath(multi.lane(1).address());
	CHECK(intree.controllers() == 2);
}

} // namespace guest::rdma
