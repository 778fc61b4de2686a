// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "sample.h"
#include "feeds.h"

using namespace cdc;
using namespace nofctl::wire;

namespace {

Target from(Target target, const char *source, const char *owner)
{
	target.origin = {source, owner, 0};
	return target;
}

std::vector<std::string> keysOf(const std::vector<Change> &changes)
{
	std::vector<std::string> keys;
	for (const Change &change : changes)
		keys.push_back((change.value ? "+" : "-") + std::string(nameOf(change.key).substr(0, 26)));
	return keys;
}

} // namespace

TEST_CASE("replaceAll() adds what a source reports and removes what it no longer reports", "[feeds]")
{
	Sample sample;
	const Origin pull{"pull", "tcp 10.0.0.9:8009", 0};
	std::vector<Target> told{from(someTarget(1), "pull", "tcp 10.0.0.9:8009"),
				 from(someTarget(2), "pull", "tcp 10.0.0.9:8009")};
	sample.tell(replaceAll(sample.model, pull, told));
	CHECK(sample.model.targets().size() == 2);
	CHECK(replaceAll(sample.model, pull, told).empty()); // unchanged
	told[0].state = ana_inaccessible;
	told.pop_back();
	CHECK(keysOf(replaceAll(sample.model, pull, told)) ==
	      std::vector<std::string>{"+nqn.2024-01.com.example:s1", "-nqn.2024-01.com.example:s2"});
}

TEST_CASE("the source with precedence keeps a record, and no source removes another source's records", "[feeds]")
{
	Sample sample;
	sample.tell({putOf(from(someTarget(1), "control", "")), putOf(from(someTarget(2), "pull", "a"))});
	const Target pulled = from(someTarget(1, ana_inaccessible), "pull", "a");
	CHECK(putAll(sample.model, std::vector{pulled}).empty());
	CHECK(replaceAll(sample.model, {"pull", "b", 0}, {}).empty());
	const Target pushed = from(someTarget(2), "push", "nqn.jbof");
	CHECK(putAll(sample.model, std::vector{pushed}).size() == 1);
	CHECK(putAll(sample.model, std::vector{from(someTarget(2), "pull", "b")}).empty());
	CHECK_FALSE(mayReplace({"file", "x", 0}, {"push", "y", 0}));
	CHECK(mayReplace({"file", "x", 0}, {"control", "", 0}));
}

TEST_CASE("the configuration's records follow the configuration", "[feeds]")
{
	Sample sample;
	sample.tell(fileChanges(sample.model, "me", {someTarget(1)}, {someZone("z", {"*"}, {"*"})}));
	CHECK(sample.model.targets().size() == 1);
	CHECK(sample.model.zones().begin()->second.origin.owner == "me");
	CHECK(fileChanges(sample.model, "me", {someTarget(1)}, {someZone("z", {"*"}, {"*"})}).empty());
	CHECK(fileChanges(sample.model, "another", {}, {}).empty());
	CHECK(fileChanges(sample.model, "me", {}, {}).size() == 2);
}
