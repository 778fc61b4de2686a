// SPDX-License-Identifier: LGPL-2.1-or-later
// A changed configuration: targets that it would take from hosts, and the result of its reload.
#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "caller.h"
#include "reload.h"
#include "target/auth_client.h"

using namespace cdc;

namespace {

std::vector<Target> targets(int count)
{
	std::vector<Target> all;
	for (int i = 0; i < count; i++)
		all.push_back(someTarget(i));
	return all;
}

Rules withTargets(int count)
{
	Rules rules;
	rules.targets = targets(count);
	return rules;
}

Target pushed(int number)
{
	Target target = someTarget(number);
	target.origin = {"push", "nqn.ddc", 4000000000, "10.0.0.1"};
	return target;
}

// A service with ten targets in its configuration, and two hosts
struct ReloadFixture : ServiceFixture {
	explicit ReloadFixture(std::vector<Change> more = {}, const Rules &begin = withTargets(10))
	{
		rules.targets = begin.targets;
		rules.pulls = begin.pulls;
		rules.registration = begin.registration;
		start();
		more.push_back(putOf(Host{"nqn.a", "", "", "", {}, {"push", "nqn.a", 4000000000}}));
		more.push_back(putOf(Host{"nqn.b", "", "", "", {}, {"push", "nqn.b", 4000000000}}));
		write(more);
	}
	// Reloads the current rules and returns the result.
	nvmeof::Result<Reloaded> turn(ReloadMode mode)
	{
		std::promise<nvmeof::Result<Reloaded>> done;
		in([&] { reload(*service, rules, mode, [&](const auto &reloaded) { done.set_value(reloaded); }); });
		return done.get_future().get();
	}
	std::string refusal()
	{
		const auto reloaded = turn(ReloadMode::judged);
		return reloaded ? "" : reloaded.error().message;
	}
	bool comeTo(std::size_t targets, std::size_t zones)
	{
		const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
		while (targetsNow() != targets || zonesNow() != zones)
			if (std::chrono::steady_clock::now() > end)
				return false;
		return true;
	}
	std::size_t targetsNow()
	{
		std::size_t count = 0;
		in([&] { count = service->model().targets().size(); });
		return count;
	}
	std::size_t zonesNow()
	{
		std::size_t count = 0;
		in([&] { count = service->model().zones().size(); });
		return count;
	}
};

const std::string next = "; 'nvmeofctl cdc reload --dry-run' lists them, 'nvmeofctl cdc reload --force' applies it";

} // namespace

TEST_CASE("a reload does not take targets from hosts by a zone unless it is forced", "[reload]")
{
	ReloadFixture running;
	running.rules.zones = {someZone("z", {"nqn.a"}, {"*"})};
	CHECK(running.refusal() == "nqn.b would lose 10 of 10 targets" + next);
	CHECK(running.zonesNow() == 0);
	const auto dry = running.turn(ReloadMode::dryRun);
	REQUIRE(dry);
	CHECK(dry->records == 1);
	REQUIRE(dry->losses.size() == 1);
	CHECK(dry->losses[0].hostnqn == "nqn.b");
	CHECK(dry->losses[0].targets.size() == 10);
	CHECK(running.zonesNow() == 0);
	// until then, a change by hand is checked against the configuration in force
	running.in([&] { CHECK(running.service->fileChanges(running.service->model()).empty()); });
	CHECK(running.turn(ReloadMode::forced).ok());
	CHECK(running.comeTo(10, 1));
	CHECK(running.refusal().empty()); // the forced configuration is in force now
}

TEST_CASE("targets that are missing in the changed configuration count as lost", "[reload]")
{
	ReloadFixture running;
	running.rules.targets = targets(4);
	CHECK(running.refusal() ==
	      "nqn.a would lose 6 of 10 targets, and 1 other hosts more than half of theirs" + next);
	CHECK(running.targetsNow() == 10);
	running.rules.targets = targets(5);
	CHECK(running.refusal().empty());
	CHECK(running.comeTo(5, 0));
	running.rules.targets.clear(); // as a truncated file has it
	CHECK_FALSE(running.refusal().empty());
	CHECK(running.targetsNow() == 5);
	running.rules.targets = targets(5);
	for (Target &target : running.rules.targets)
		target.state = nofctl::wire::ana_inaccessible; // a target with another state is still visible
	CHECK(running.refusal().empty());
}

TEST_CASE("targets of removed sources and registrations count as lost", "[reload]")
{
	Target pulled = someTarget(30), referred = someTarget(31);
	pulled.origin = {"pull", "10.0.0.9:8009"};
	referred.origin = {"pull", "10.0.0.8:8009 via 10.0.0.9:8009"};
	std::vector<Change> records{putOf(pulled), putOf(referred)};
	for (int i = 40; i < 60; i++)
		records.push_back(putOf(pushed(i)));
	Rules rules;
	rules.pulls = {PullSource{{"10.0.0.9", "8009"}, "", false}};
	rules.registration.ddcs = {{.nqn = "nqn.ddc", .sources = {}}};
	ReloadFixture running(records, rules);
	auto lost = [&] {
		const auto dry = running.turn(ReloadMode::dryRun);
		REQUIRE(dry);
		return dry->losses.empty() ? 0 : dry->losses[0].lost;
	};
	CHECK(lost() == 0);
	running.rules.pulls.clear();
	CHECK(lost() == 2);
	running.rules.registration.ddcs.clear();
	CHECK(lost() == 22);
	CHECK(running.refusal().starts_with("nqn.a would lose 22 of 22 targets, and 1 other hosts"));
	// a DDC that has no key cannot prove its NQN, and one that has will register again
	running.rules.pulls = rules.pulls;
	running.rules.registration = rules.registration;
	const std::filesystem::path keys = running.dir.path() / "keys";
	std::filesystem::create_directory(keys);
	running.rules.security.keys = keys;
	running.rules.security.auth = Demand::required;
	CHECK(lost() == 20);
	std::ofstream(keys / "nqn.ddc.dhchap") << target::testHostSecret;
	std::filesystem::permissions(keys / "nqn.ddc.dhchap", std::filesystem::perms(0600));
	CHECK(lost() == 0);
	running.rules.security = {};
	// a DDC without 'join' cannot keep ports of a subsystem that the configuration defines
	running.rules.pulls = rules.pulls;
	running.rules.registration = rules.registration;
	running.rules.targets = {someTarget(40)};
	running.rules.targets[0].traddr = "10.9.9.9";
	CHECK(lost() == 1);
}

TEST_CASE("a reload over the control socket is checked, too", "[reload][control]")
{
	CHECK(parseControlRequest(R"({"command": "reload", "force": true})")->force);
	CHECK(parseControlRequest(R"({"command": "reload", "dry_run": true})")->dryRun);
	CHECK_FALSE(parseControlRequest(R"({"command": "reload", "zones": []})").ok());
	CHECK_FALSE(parseControlRequest(R"({"command": "drain", "force": true})").ok());
	ReloadFixture running;
	running.rules.zones = {someZone("z", {"nqn.a"}, {"*"})};
	ControlClient caller(running);
	const Json refused = caller.ask(R"({"command": "reload"})");
	CHECK(refused["error"]["message"] == "nqn.b would lose 10 of 10 targets" + next);
	const Json dry = caller.ask(R"({"command": "reload", "dry_run": true})");
	CHECK(dry["would"] == "reload");
	CHECK(dry["records"] == 1);
	CHECK(dry["hosts"][0]["loses"] == 10);
	CHECK(running.zonesNow() == 0);
	CHECK(caller.ask(R"({"command": "reload", "force": true})")["done"] == "reload");
	CHECK(running.comeTo(10, 1));
}

TEST_CASE("a reload says which key files it could not use", "[reload][control]")
{
	ReloadFixture running;
	const std::filesystem::path keys = running.dir.path() / "keys", file = keys / "nqn.h.dhchap";
	std::filesystem::create_directory(keys);
	std::ofstream(file) << target::testHostSecret;
	std::filesystem::permissions(file, std::filesystem::perms(0644));
	running.rules.security.keys = keys;
	ControlClient caller(running);
	for (const char *request : {R"({"command": "reload", "dry_run": true})", R"({"command": "reload"})"}) {
		const Json answer = caller.ask(request);
		CHECK_FALSE(answer.contains("error"));
		REQUIRE(answer["problems"].size() == 1);
		CHECK(answer["problems"][0].get<std::string>().starts_with(file.string() + ": its mode is 0644"));
	}
	std::filesystem::permissions(file, std::filesystem::perms(0600));
	const Json answer = caller.ask(R"({"command": "reload"})");
	CHECK(answer["done"] == "reload");
	CHECK(answer["problems"] == Json::array());
}
