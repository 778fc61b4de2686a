// SPDX-License-Identifier: LGPL-2.1-or-later
// What one discovery service can cost
#include "daemon.h"

#include <catch2/catch.hpp>

#include "tests/unit/controller_at.h"

using namespace nvmeof;
using namespace nvmeofd;

namespace {

DiscoveryLog logOf(std::size_t entries, const char *defect = "")
{
	DiscoveryEntry entry;
	entry.defect = defect;
	return {1, std::vector(entries, entry)};
}

Plan planOf(const std::vector<std::pair<const char *, std::size_t>> &services)
{
	Plan plan;
	for (const auto &[key, root] : services) {
		plan.services.emplace_back();
		plan.services.back().key = key;
		plan.services.back().root = root;
	}
	return plan;
}

} // namespace

TEST_CASE("the entries of a configured service and its referrals are bounded together", "[daemon]")
{
	const Plan plan = planOf({{"a", 0}, {"b", 1}, {"a1", 0}, {"a2", 0}});
	KnownServices known;
	known["a1"].log = logOf(maxLogEntries - 100);
	known["b"].log = logOf(maxLogEntries);
	CHECK(boundedLog(plan, known, "a", logOf(100))->entries.size() == 100);
	CHECK_FALSE(boundedLog(plan, known, "a", logOf(101)));
	CHECK_FALSE(boundedLog(plan, known, "a2", logOf(101)));
	CHECK(boundedLog(plan, known, "a1", logOf(maxLogEntries))); // replaces its own log
	CHECK(boundedLog(plan, known, "b", logOf(maxLogEntries)));
	CHECK_FALSE(boundedLog(plan, known, "new", logOf(maxLogEntries + 1)));
}

TEST_CASE("of unusable entries only as many are kept as are listed", "[daemon]")
{
	DiscoveryLog log = logOf(1000, "wrong");
	log.entries.push_back(DiscoveryEntry());
	const Result<DiscoveryLog> bounded = boundedLog({}, {}, "a", log);
	REQUIRE(bounded);
	CHECK(bounded->entries.size() == 257);
	CHECK(bounded->entries.back().defect.empty());
}

TEST_CASE("controllers of connections are found by their addresses and NQN", "[daemon]")
{
	std::vector<Controller> present{controllerAt("c1", "10.0.0.1"), controllerAt("c2", "fe80:0::1")};
	present[0].hostIface = "eth0";
	const auto there = presence(present);
	ConnectOptions options;
	options.address = {"10.0.0.1", "4420"};
	options.subsysnqn = "nqn.a";
	CHECK(there(options));
	options.hostIface = "eth1";
	CHECK_FALSE(there(options));
	options.hostIface.clear();
	options.address.traddr = "fe80::1";
	CHECK(there(options));
	options.subsysnqn = "nqn.b";
	CHECK_FALSE(there(options));
}
