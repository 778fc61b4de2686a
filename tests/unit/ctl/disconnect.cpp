// SPDX-License-Identifier: LGPL-2.1-or-later
// The controllers that "disconnect" and "disconnect-all" select, and the disks that are lost with them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "snapshot.h"
#include "disconnect.h"
#include "parse.h"

using namespace nvmeof;
using nofctl::volume::User;

namespace {

using Names = std::vector<std::string>;

// Two controllers of subsystem 0 with one disk, and one of subsystem 1 with another, which nvmeofd owns
struct TwoSubsystems {
	std::vector<Controller> controllers{controllerOf(0, 1, "10.0.0.1"), controllerOf(0, 2, "10.0.0.2"),
					    controllerOf(1, 1, "10.0.0.3")};
	std::vector<Namespace> namespaces{namespaceOf(0, 1, 2), namespaceOf(1, 1, 1)};
	std::vector<Path> paths;

	TwoSubsystems()
	{
		controllers[0].subsysnqn = controllers[1].subsysnqn = "nqn.a:one";
		controllers[2].subsysnqn = "nqn.a:two";
		controllers[2].owner = "nvmeofd";
		for (const auto &[controller, disk] : {std::pair(0, 0), std::pair(1, 0), std::pair(2, 1)}) {
			Path path;
			path.nameSpace = namespaces[static_cast<std::size_t>(disk)].name;
			path.controller = controllers[static_cast<std::size_t>(controller)].name;
			path.usable = true;
			paths.push_back(path);
		}
	}

	// Disks that are lost with the controllers of these indexes
	Names lostWith(const std::vector<std::size_t> &indexes) const
	{
		std::vector<Controller> gone;
		for (std::size_t index : indexes)
			gone.push_back(controllers[index]);
		Names names;
		for (const Namespace &ns : disksLostWith(gone, controllers, namespaces, paths))
			names.push_back(ns.name);
		return names;
	}
};

Args argsOf(std::vector<std::string> words)
{
	CommandLine line = parseCommandLine(words);
	INFO(line.text);
	REQUIRE(line.command);
	return line.args;
}

Names controllerNames(const std::vector<Controller> &controllers)
{
	Names names;
	for (const Controller &one : controllers)
		names.push_back(one.name);
	return names;
}

} // namespace

TEST_CASE("disconnect selects controllers by name, by NQN, or all of them", "[disconnect]")
{
	const TwoSubsystems two;
	auto selected = [&](std::vector<std::string> words) {
		words.insert(words.begin(), "disconnect");
		const DisconnectPlan plan = planDisconnect(two.controllers, argsOf(words));
		CHECK(plan.kept.empty());
		return controllerNames(plan.controllers);
	};
	CHECK(selected({"nvmeof0c2"}) == Names{"nvmeof0c2"});
	CHECK(selected({"/dev/nvmeof0c2", "-d", "nvmeof1c1"}) == Names{"nvmeof0c2", "nvmeof1c1"});
	CHECK(selected({"nvmeof7c7"}).empty());
	CHECK(selected({"-n", "nqn.a:one"}) == Names{"nvmeof0c1", "nvmeof0c2"});
	CHECK(selected({"-n", "nqn.a"}).empty());
	CHECK(selected({"--all"}) == Names{"nvmeof0c1", "nvmeof0c2", "nvmeof1c1"});
}

TEST_CASE("disconnect-all keeps what a service owns and what --except names, with the reason", "[disconnect]")
{
	const TwoSubsystems two;
	auto plan = [&](std::vector<std::string> words) {
		words.insert(words.begin(), "disconnect-all");
		return planDisconnectAll(two.controllers, argsOf(words));
	};
	DisconnectPlan usual = plan({});
	CHECK(controllerNames(usual.controllers) == Names{"nvmeof0c1", "nvmeof0c2"});
	REQUIRE(usual.kept.size() == 1);
	CHECK(usual.kept[0].controller.name == "nvmeof1c1");
	CHECK_FALSE(usual.kept[0].excepted);
	CHECK(plan({"--owned"}).kept.empty());
	CHECK(plan({"--owned"}).controllers.size() == 3);
	DisconnectPlan some = plan({"--except", "nqn.a:t*", "--except", "nvmeof0c1", "--owned"});
	CHECK(controllerNames(some.controllers) == Names{"nvmeof0c2"});
	REQUIRE(some.kept.size() == 2);
	CHECK(some.kept[0].excepted);
	CHECK(some.kept[1].excepted); // --owned does not override --except
}

TEST_CASE("a disk is lost with its last path, or with its last usable path", "[disconnect]")
{
	TwoSubsystems two;
	CHECK(two.lostWith({}).empty());
	CHECK(two.lostWith({0}).empty());
	CHECK(two.lostWith({1}).empty());
	CHECK(two.lostWith({0, 1}) == Names{"nvmeof0n1"});
	CHECK(two.lostWith({2}) == Names{"nvmeof1n1"});
	CHECK(two.lostWith({0, 1, 2}) == Names{"nvmeof0n1", "nvmeof1n1"});
	two.paths[1].usable = false;
	CHECK(two.lostWith({0}) == Names{"nvmeof0n1"}); // the other path cannot take its I/O
	CHECK(two.lostWith({1}).empty());
	two.paths[0].usable = false;
	CHECK(two.lostWith({0}).empty()); // as before, no path is usable
	CHECK(two.lostWith({0, 1}) == Names{"nvmeof0n1"});
}

TEST_CASE("a disk without paths is lost with the last controller of its subsystem", "[disconnect]")
{
	TwoSubsystems two;
	two.paths.erase(two.paths.begin(), two.paths.begin() + 2);
	CHECK(two.lostWith({0}).empty()); // it waits for the other controller
	CHECK(two.lostWith({0, 1}) == Names{"nvmeof0n1"});
	CHECK(two.lostWith({2}) == Names{"nvmeof1n1"});
}

TEST_CASE("udev's programs do not count as users of a disk", "[disconnect]")
{
	const User mount{"mount", "/data"}, fio{"program", "fio, process 7"};
	CHECK(withoutUdev(
		      {mount, {"program", "(udev-worker), process 12"}, fio, {"program", "systemd-udevd, process 9"}},
		      9) == std::vector<User>{mount, fio});
	CHECK(withoutUdev({{"mount", "systemd-udevd"}}, 1).size() == 1);
}

TEST_CASE("an opener that cannot be seen counts beside udev's programs", "[disconnect]")
{
	const std::vector<User> udev{{"program", "(udev-worker), process 12", 2}};
	CHECK(withoutUdev(udev, 2).empty());
	CHECK(withoutUdev(udev, 1).empty()); // it has closed one
	REQUIRE(withoutUdev(udev, 3).size() == 1);
	CHECK(withoutUdev(udev, 3)[0] == User{"unseen", "1 opener not visible from here"});
	CHECK(withoutUdev({}, 1).size() == 1);
	CHECK(withoutUdev({}, 0).empty());
}

TEST_CASE("--dry-run names every object that does not exist", "[disconnect]")
{
	const TwoSubsystems two;
	auto missing = [&](std::vector<std::string> words) {
		words.insert(words.begin(), "disconnect");
		const Args args = argsOf(words);
		Names names;
		for (const Error &error : missingObjects(planDisconnect(two.controllers, args), args)) {
			CHECK(error.code == ErrorCode::noSuchObject);
			names.push_back(error.object.name);
		}
		return names;
	};
	CHECK(missing({"nvmeof0c1"}).empty());
	CHECK(missing({"nvmeof7c7", "nvmeof0c1", "nvmeof8c8"}) == Names{"nvmeof7c7", "nvmeof8c8"});
	CHECK(missing({"-n", "nqn.a:none"}) == Names{"nqn.a:none"});
	CHECK(missing({"-n", "nqn.a:one"}).empty());
	CHECK(missing({"--all"}).empty());
}

TEST_CASE("the check of users needs the capabilities that disconnecting needs", "[disconnect]")
{
	CHECK(mayChangeControllers("Name:\tx\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n"));
	CHECK(mayChangeControllers("Name:\tx\nCapEff:\t0000000000201000\n"));
	CHECK_FALSE(mayChangeControllers("Name:\tx\nCapEff:\t0000000000200000\n"));
	CHECK_FALSE(mayChangeControllers("CapPrm:\t201000\nCapEff:\t0000000000001000\n"));
	CHECK_FALSE(mayChangeControllers("CapPrm:\t201000\nCapEff:\t0000000000000000\n"));
}
