// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "cdc_sample.h"
#include "feeds.h"

using namespace cdc;
using namespace nofctl::wire;

namespace {

Target from(Target target, const char *source, const char *owner)
{
	target.origin = {source, owner, 0};
	return target;
}

Registration ddc(const std::string &nqn, const std::vector<Target> &targets)
{
	Registration registration{dim_direct, nqn, {}, "jbof", "1", {}};
	for (const Target &target : targets)
		registration.interfaces.push_back(target.entry());
	return registration;
}

std::vector<std::string> keysOf(const std::vector<Change> &changes)
{
	std::vector<std::string> keys;
	for (const Change &change : changes)
		keys.push_back((change.value ? "+" : "-") + std::string(nameOf(change.key).substr(0, 26)));
	return keys;
}

} // namespace

TEST_CASE("what a source tells is taken over, and what it does not tell any more goes", "[feeds]")
{
	Sample sample;
	const Origin pull{"pull", "tcp 10.0.0.9:8009", 0};
	std::vector<Target> told{from(someTarget(1), "pull", "tcp 10.0.0.9:8009"),
				 from(someTarget(2), "pull", "tcp 10.0.0.9:8009")};
	sample.tell(replaceAll(sample.model, pull, told));
	CHECK(sample.model.targets().size() == 2);
	CHECK(replaceAll(sample.model, pull, told).empty()); // nothing new
	told[0].state = ana_inaccessible;
	told.pop_back();
	CHECK(keysOf(replaceAll(sample.model, pull, told)) ==
	      std::vector<std::string>{"+nqn.2024-01.com.example:s1", "-nqn.2024-01.com.example:s2"});
}

TEST_CASE("the stronger source holds a record, and nobody takes away another's", "[feeds]")
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

TEST_CASE("registrations of hosts", "[feeds]")
{
	Sample sample;
	Registration host{dim_host, "nqn.host", {1, 2},
			  "node",   "Linux",    {makeInterface(tr_tcp, "nqn.host", "10.1.1.1")}};
	auto changes = registrationChanges(sample.model, dim_register, host, 77);
	REQUIRE(changes);
	sample.tell(*changes);
	REQUIRE(sample.model.hosts().size() == 1);
	const Host &known = sample.model.hosts().begin()->second;
	CHECK(known.interfaces == std::vector<std::string>{"tcp 10.1.1.1"});
	CHECK(known.hostid.starts_with("0102"));
	CHECK(known.origin.ends == 77);
	CHECK(endedChanges(sample.model, 76).empty());
	CHECK(endedChanges(sample.model, 77).size() == 1);
	changes = registrationChanges(sample.model, dim_deregister, host, 0);
	REQUIRE(changes);
	sample.tell(*changes);
	CHECK(sample.model.hosts().empty());
	CHECK(registrationChanges(sample.model, dim_deregister, host, 0)->empty());
}

TEST_CASE("registrations of discovery controllers", "[feeds]")
{
	Sample sample;
	auto apply = [&](DimTask task, const Registration &registration) {
		auto changes = registrationChanges(sample.model, task, registration, 0);
		REQUIRE(changes);
		sample.tell(*changes);
		return sample.model.targets().size();
	};
	CHECK(apply(dim_register, ddc("nqn.jbof1", {someTarget(1), someTarget(2)})) == 2);
	CHECK(apply(dim_register, ddc("nqn.jbof2", {someTarget(3)})) == 3);
	CHECK(apply(dim_update, ddc("nqn.jbof1", {someTarget(4)})) == 4);
	CHECK(apply(dim_register, ddc("nqn.jbof1", {someTarget(1)})) == 2);   // instead of the earlier
	CHECK(apply(dim_deregister, ddc("nqn.jbof2", {someTarget(1)})) == 2); // that is another's
	CHECK(apply(dim_deregister, ddc("nqn.jbof2", {})) == 1);
	Registration bad = ddc("nqn.jbof1", {someTarget(1)});
	bad.interfaces[0].trtype = tr_fc;
	CHECK_FALSE(registrationChanges(sample.model, dim_register, bad, 0));
	CHECK(sample.model.targets().size() == 1);
}
