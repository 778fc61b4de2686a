// SPDX-License-Identifier: LGPL-2.1-or-later
// Controllers that exist already, and the [[security]] rules of the planned connections
#include "connections.h"

#include <catch2/catch.hpp>

#include "tests/unit/controller_at.h"

using namespace nvmeof;
using namespace nvmeofd;

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
	auto insecure = [&] { return insecureControllers(changes(), wanted, present.controllers); };
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
