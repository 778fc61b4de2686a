// SPDX-License-Identifier: LGPL-2.1-or-later
// Controllers that exist already, and the [[security]] rules of the planned connections
#include "connections.h"

#include <catch2/catch.hpp>

#include "tests/unit/controller_at.h"
#include "tests/unit/ctl/stage.h"

using namespace nvmeof;
using namespace nvmeofd;
using namespace std::chrono_literals;

namespace {

PlannedConnection planned(const std::string &traddr, const SecurityRule &rule)
{
	PlannedConnection one;
	one.options.transport = "tcp";
	one.options.address = {traddr, "4420"};
	one.options.subsysnqn = "nqn.a";
	one.options.security = rule;
	return one;
}

} // namespace

TEST_CASE("a controller that breaks the rule of a planned connection is reported, and kept", "[daemon][security]")
{
	const SecurityRule auth{SecurityUse::required, {}, "c:1"}, tls{{}, SecurityUse::required, "c:5"};
	const std::vector<PlannedConnection> wanted{planned("10.0.0.1", auth), planned("10.0.0.2", tls),
						    planned("10.0.0.3", {}), planned("10.0.0.4", auth)};
	Snapshot present;
	present.controllers = {controllerAt("c1", "10.0.0.1"), controllerAt("c2", "10.0.0.2"),
			       controllerAt("c3", "10.0.0.3"), controllerAt("c9", "10.0.0.9")};
	auto changes = [&] { return differenceBetween({}, wanted, true, present); };
	auto insecure = [&] { return insecureControllers(changes(), wanted, {}, present.controllers); };
	REQUIRE(insecure().size() == 2);
	CHECK(insecure().at("c1") == "dhchap-key: required for nqn.a by [[security]] at c:1, and c1 is connected "
				     "without it: 'nvmeofctl disconnect c1', then connect again");
	CHECK(insecure().at("c2").starts_with("tls: required for nqn.a by [[security]] at c:5"));
	for (const Change &change : changes())
		CHECK(change.kind != Change::Kind::disconnect);
	present.controllers[0].authRequired = true;
	present.controllers[1].tls = Tls();
	CHECK(insecure().empty());
}

TEST_CASE("a controller that breaks the rule of its discovery service is reported", "[daemon][security]")
{
	const SecurityRule auth{SecurityUse::required, {}, "c:1"}, none;
	std::vector<Controller> present{controllerAt("c1", "10.0.0.1"), controllerAt("c2", "10.0.0.2")};
	const SecurityRules rules{{"c1", &auth}, {"c2", &none}};
	REQUIRE(insecureControllers({}, {}, rules, present).size() == 1);
	CHECK(insecureControllers({}, {}, rules, present).at("c1").starts_with("dhchap-key: required for nqn.a"));
	present[0].authRequired = true;
	CHECK(insecureControllers({}, {}, rules, present).empty());
}

namespace {

// Connections that are planned at @now, for a kernel without controllers
struct Planned {
	Stage stage;
	runtime::Loop loop{runtime::Loop::Watchdog::none};
	Client client = stage.open();
	KeyUpdates keys{[](const std::string &, const ControllerSettings &) { return Pending<Result<void>>(); }};
	Connections connections{loop, client, keys, [] {}};
	std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now();

	static PlannedConnection wanted(const char *traddr)
	{
		PlannedConnection one = planned(traddr, {});
		one.options.hostnqn = "nqn.host";
		one.options.hostid = Uuid::random();
		return one;
	}
	// Returns the number of connects until now.
	int apply(const std::vector<const char *> &traddrs)
	{
		std::vector<PlannedConnection> all;
		for (const char *traddr : traddrs)
			all.push_back(wanted(traddr));
		connections.apply(differenceBetween({}, all, true, {}), all, {}, {}, now);
		return stage.made;
	}
	const Connections::Attempt &attempt() const
	{
		const Connections::Attempt *attempt = connections.attempt(wanted("10.0.0.1").options);
		REQUIRE(attempt);
		return *attempt;
	}
};

} // namespace

TEST_CASE("a connection that a log removes and adds again is delayed, and the others are not", "[daemon]")
{
	Planned plan;
	CHECK(plan.apply({"10.0.0.1"}) == 1);
	CHECK(plan.apply({}) == 1);
	CHECK(plan.apply({"10.0.0.1", "10.0.0.2"}) == 2);
	CHECK(plan.attempt().notBefore > plan.now);
	const auto first = plan.attempt().notBefore;
	for (int i = 0; i < 8; i++) { // at most 60 s in the end, and at least 30
		CHECK(plan.apply({}) == 2);
		CHECK(plan.apply({"10.0.0.1"}) == 2);
	}
	CHECK(plan.attempt().notBefore > first + 20s);
	SECTION("until that time")
	{
		plan.now = plan.attempt().notBefore;
		CHECK(plan.apply({"10.0.0.1"}) == 3);
	}
	SECTION("unless a reload or rescan clears the delay")
	{
		plan.connections.forget();
		CHECK(plan.apply({"10.0.0.1"}) == 3);
	}
}

TEST_CASE("the delay of a connection that returns starts anew after it was wanted for a while", "[daemon]")
{
	Planned plan;
	plan.apply({"10.0.0.1"});
	auto again = [&] { // returns its delay
		plan.apply({});
		const auto delay = plan.attempt().notBefore - plan.now;
		plan.apply({"10.0.0.1"});
		return delay;
	};
	for (int i = 0; i < 8; i++)
		again();
	CHECK(plan.attempt().notBefore - plan.now > 20s);
	plan.now += 90s;
	CHECK(again() > 20s);
	plan.now += 121s;
	CHECK(again() <= 1s);
}
