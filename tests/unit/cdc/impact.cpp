// SPDX-License-Identifier: LGPL-2.1-or-later
// Targets that a change would take from hosts
#include <catch2/catch.hpp>

#include "sample.h"
#include "reload.h"

using namespace cdc;

namespace {

Model changedBy(const Model &model, const std::vector<Change> &changes)
{
	Model changed = model;
	changed.apply({false, changes, model.generation() + 1});
	return changed;
}

std::vector<Loss> losses(const Sample &sample, const std::vector<Change> &changes,
			 Unzoned unzoned = Unzoned::unlessZoned)
{
	return lossesBy(sample.model, changedBy(sample.model, changes), ViewRules{unzoned}, {"nqn.a", "nqn.b"});
}

} // namespace

TEST_CASE("the first zone takes all targets from hosts that are in no zone", "[impact]")
{
	Sample sample(10);
	const auto lost = losses(sample, {putOf(someZone("z", {"nqn.a"}, {"*"}))});
	REQUIRE(lost.size() == 1);
	CHECK(lost[0].hostnqn == "nqn.b");
	CHECK(lost[0].before == 10);
	CHECK(lost[0].lost == 10);
	CHECK(lost[0].targets[0].find("nqn.2024-01.com.example:s0 tcp ") == 0);
	CHECK(lost[0].large());
	CHECK(losses(sample, {putOf(someZone("z", {"nqn.a"}, {"*"}))}, Unzoned::all).empty());
}

TEST_CASE("a loss of less than half is not large, and records removed by name are no loss", "[impact]")
{
	Sample sample(10);
	sample.tell({putOf(someZone("z", {"nqn.*"}, {"*"}))});
	const auto lost = losses(sample, {putOf(someZone("z", {"nqn.*"}, {"*s[0-5]"}))});
	REQUIRE(lost.size() == 2);
	CHECK(lost[0].lost == 4);
	CHECK_FALSE(lost[0].large());
	CHECK(losses(sample, {removalOf(someTarget(3).key())}).empty());
	CHECK(losses(sample, {removalOf(someZone("z", {}, {}).key())}).empty()); // no zone is left: all see all
	Target changed = someTarget(3, nofctl::wire::ana_inaccessible);
	CHECK(losses(sample, {putOf(changed)}).empty()); // a target with another state is still visible
}

TEST_CASE("the report of what many hosts lose uses little memory", "[impact]")
{
	Sample sample(1000);
	std::set<std::string> hosts;
	for (int i = 0; i < 20000; i++)
		hosts.insert("nqn.host" + std::to_string(i));
	const Model changed = changedBy(sample.model, {putOf(someZone("z", {"nqn.a"}, {"*"}))});
	const auto lost = lossesBy(sample.model, changed, ViewRules{}, hosts);
	REQUIRE(lost.size() == 20000);
	CHECK(lost[0].lost == 1000);
	CHECK(lost[0].targets.size() == 20);
}
