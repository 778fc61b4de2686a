// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <nvmeof/config.h>

#include "reload_report.h"

using namespace nvmeof;
using namespace nvmeofd;

namespace {

std::vector<std::string> changed(const std::string &before, const std::string &after)
{
	const ConfigReading was = parseConfig(before, "f"), is = parseConfig(after, "f");
	REQUIRE((was.problems.empty() && is.problems.empty()));
	std::vector<std::string> lines;
	for (const ConfigChange &one : configChanges(formatConfig(was.config), formatConfig(is.config)))
		lines.push_back(one.toString());
	return lines;
}

using Lines = std::vector<std::string>;

const std::string first = "[[connection]]\nnqn = \"nqn.a\"\naddress = \"10.0.0.1\"\n",
		  second = "[[connection]]\nnqn = \"nqn.b\"\naddress = \"10.0.0.2\"\n",
		  perPattern = "[[defaults]]\nnqn = \"nqn.a\"\niopolicy = \"numa\"\n",
		  others = "[[defaults]]\ntags = 64\n";

Plan planOf(const std::vector<ConnectOptions> &connections, const std::vector<std::string> &services)
{
	Plan plan;
	for (const ConnectOptions &one : connections)
		plan.connections.push_back({one, {}});
	for (const std::string &key : services) {
		plan.services.emplace_back();
		plan.services.back().key = key;
	}
	return plan;
}

} // namespace

TEST_CASE("the report lists changed sections and entries of the configuration", "[daemon][reload]")
{
	CHECK(changed(first + perPattern, first + perPattern).empty());
	CHECK(changed("", "[limits]\nreferrals = 64\n").empty()); // the default value
	CHECK(changed("", "[limits]\nreferrals = 5\n") == Lines{"changed [limits]: referrals = 5 (was: not set)"});
	CHECK(changed("[limits]\nreferrals = 5\nconnections = 9\n", "[limits]\nreferrals = 6\nconnections = 9\n") ==
	      Lines{"changed [limits]: referrals = 6 (was: referrals = 5)"});
	CHECK(changed("[removal]\npolicy = \"all\"\n", "") ==
	      Lines{"changed [removal]: not set (was: policy = \"all\")"});
	CHECK(changed(first, first + second) ==
	      Lines{"added [connection] nqn.b: nqn = \"nqn.b\", address = \"10.0.0.2\""});
	CHECK(changed(first + second, second) ==
	      Lines{"removed [connection] nqn.a: nqn = \"nqn.a\", address = \"10.0.0.1\""});
	CHECK(changed(first, "[[connection]]\nnqn = \"nqn.a\"\naddress = [\"10.0.0.1\", \"10.0.0.3\"]\n") ==
	      Lines{"changed [connection] nqn.a: address = [\"10.0.0.1\", \"10.0.0.3\"] (was: address = "
		    "\"10.0.0.1\")"});
	CHECK(changed(perPattern + others, others + perPattern) == Lines{"moved [defaults]: order changed"});
	// one of two equal entries is removed
	CHECK(changed(first + first, first).size() == 1);
}

TEST_CASE("the report lists changes of the plan as lines and as JSON", "[daemon][reload]")
{
	ConnectOptions one, other;
	one.address = {"10.0.0.1", "4420"};
	one.subsysnqn = "nqn.a";
	other.address = {"10.0.0.2", "4420"};
	other.subsysnqn = "nqn.b";
	Reloaded reloaded = planChanges(planOf({one}, {"tcp 10.0.0.8:8009"}), planOf({other}, {"tcp 10.0.0.9:8009"}));
	CHECK(reloaded.wanted == Lines{"tcp 10.0.0.2:4420 nqn.b"});
	CHECK(reloaded.unwanted == Lines{"tcp 10.0.0.1:4420 nqn.a"});
	CHECK(reloaded.services == Lines{"tcp 10.0.0.9:8009"});
	CHECK(reloaded.bygone == Lines{"tcp 10.0.0.8:8009"});
	CHECK(linesOf(reloaded) == Lines{"connection added to the plan: tcp 10.0.0.2:4420 nqn.b",
					 "connection removed from the plan: tcp 10.0.0.1:4420 nqn.a",
					 "discovery service added: tcp 10.0.0.9:8009",
					 "discovery service removed: tcp 10.0.0.8:8009"});
	CHECK(linesOf({}) == Lines{"no change"});
	reloaded = {};
	reloaded.changes.push_back({ConfigChange::Kind::added, "defaults", "*", {}, {"tags = 64"}});
	reloaded.notes = {"f:1: worth knowing"};
	CHECK(linesOf(reloaded) == Lines{"added [defaults] *: tags = 64",
					 "[[defaults]] apply to new connections; 'nvmeofctl apply-policy' applies them "
					 "to existing subsystems",
					 "note: f:1: worth knowing"});
	CHECK(toJson(reloaded)["changes"][0]["change"] == "added");
	Reloaded keys;
	const std::string connection = "[[connection]]\nnqn = \"nqn.a\"\naddress = \"10.0.0.1\"\n";
	keys.changes =
		configChanges(connection + "dhchap-key = \"/k/one\"\n", connection + "dhchap-key = \"/k/other\"\n");
	keys.rekeyed = {"nvmeof0c1"};
	REQUIRE(linesOf(keys).size() == 2);
	CHECK(linesOf(keys)[1] == "keys passed on, result in the journal: nvmeof0c1");
	CHECK(toJson(keys)["keys"] == nlohmann::json::array({"nvmeof0c1"}));
	keys = {};
	keys.changes = configChanges(connection + "dhchap-key = \"/k/one\"\n", connection);
	REQUIRE(linesOf(keys).size() == 2);
	CHECK(linesOf(keys)[1] ==
	      "existing connections keep keys that are no longer configured, until they are disconnected");
	// lists are bounded
	for (int i = 0; i < 1000; i++)
		reloaded.wanted.push_back("x");
	CHECK(toJson(reloaded)["connections"]["added"].size() == 256);
	CHECK(toJson(reloaded)["lines"].size() == 256);
}
