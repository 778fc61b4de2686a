// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <nvmeof/difference.h>

using namespace nvmeof;

namespace {

PlannedConnection wanted(const std::string &traddr, const std::string &nqn = "nqn.s")
{
	PlannedConnection one;
	one.options.address = {traddr, "4420"};
	one.options.subsysnqn = nqn;
	one.toldBy = {0};
	return one;
}

Controller controller(const std::string &name, const std::string &traddr, const std::string &owner = "nvmeofd")
{
	Controller one;
	one.name = name;
	one.transport = "tcp";
	one.traddr = traddr;
	one.trsvcid = "4420";
	one.subsysnqn = "nqn.s";
	one.hostnqn = "nqn.host";
	one.owner = owner;
	one.state = ControllerState::live;
	return one;
}

// Adds a disk with paths over these controllers; it is open if it has openers.
void addDisk(Snapshot &all, const std::vector<std::string> &over, std::uint32_t openers)
{
	Namespace ns;
	ns.name = "nvmeof0n1";
	ns.openers = openers;
	all.namespaces.push_back(ns);
	for (const std::string &name : over) {
		Path path;
		path.name = name + "n1";
		path.nameSpace = ns.name;
		path.controller = name;
		path.usable = true;
		all.paths.push_back(path);
	}
}

const DifferenceRules usual{.owner = "nvmeofd", .hostnqn = "nqn.host"};

// The changes as "connect", "keep nvmeof0c1", "disconnect nvmeof0c2"
std::vector<std::string> changes(const std::vector<PlannedConnection> &wants, const Snapshot &present,
				 const DifferenceRules &rules = usual, bool complete = true)
{
	std::vector<std::string> found;
	for (const Change &one : differenceBetween(rules, wants, complete, present)) {
		CHECK_FALSE(one.reason.empty());
		found.push_back(toString(one.kind) + (one.controller.empty() ? "" : " " + one.controller));
	}
	return found;
}

std::string reasonFor(const std::string &name, const Snapshot &present, const DifferenceRules &rules = usual,
		      bool complete = true)
{
	for (const Change &one : differenceBetween(rules, {}, complete, present))
		if (one.controller == name)
			return one.reason;
	return "none";
}

using Strings = std::vector<std::string>;

} // namespace

TEST_CASE("missing connections are made, wanted ones kept, and unwanted ones removed", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof0c2", "10.1.0.2")};
	CHECK(changes({wanted("10.1.0.1"), wanted("10.1.0.3")}, present) ==
	      Strings{"keep nvmeof0c1", "connect", "disconnect nvmeof0c2"});
	CHECK(changes({wanted("::ffff:10.1.0.1"), wanted("10.1.0.2")}, present) ==
	      Strings{"keep nvmeof0c1", "keep nvmeof0c2"});
}

TEST_CASE("a controller in deletion does not count as present", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof0c2", "10.1.0.2")};
	present.controllers[0].state = ControllerState::deleting;
	present.controllers[1].state = ControllerState::recovering;
	CHECK(changes({wanted("10.1.0.1"), wanted("10.1.0.2")}, present) == Strings{"connect", "keep nvmeof0c2"});
}

TEST_CASE("a connection from another host identity or address is another connection", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1")};
	PlannedConnection one = wanted("10.1.0.1");
	one.options.hostnqn = "nqn.other";
	CHECK(changes({one}, present).front() == "connect");
	one.options.hostnqn = "nqn.host";
	CHECK(changes({one}, present).front() == "keep nvmeof0c1");
	one.options.hostTraddr = "10.1.0.9";
	CHECK(changes({one}, present).front() == "connect");
	present.controllers[0].hostTraddr = "10.1.0.9";
	CHECK(changes({one}, present).front() == "keep nvmeof0c1");
	one.options.hostIface = "eth1";
	CHECK(changes({one}, present).front() == "connect");
	one.options = wanted("10.1.0.1").options;
	one.options.transport = "rdma";
	CHECK(changes({one}, present).front() == "connect");
	one.options = wanted("10.1.0.1", "nqn.t").options;
	CHECK(changes({one}, present).front() == "connect");
}

TEST_CASE("one controller satisfies only one wanted connection", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1")};
	present.controllers[0].hostIface = "eth1";
	PlannedConnection over = wanted("10.1.0.1"), other = wanted("10.1.0.1");
	over.options.hostIface = "eth1";
	other.options.hostIface = "eth2";
	CHECK(changes({over, other}, present) == Strings{"keep nvmeof0c1", "connect"});
}

TEST_CASE("the removal policy and the owner decide which connections are removed", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof0c2", "10.1.0.2", ""),
			       controller("nvmeof0c3", "10.1.0.3", "admin")};
	DifferenceRules rules = usual;
	CHECK(changes({}, present, rules) == Strings{"disconnect nvmeof0c1", "keep nvmeof0c2", "keep nvmeof0c3"});
	CHECK(reasonFor("nvmeof0c2", present) ==
	      "not in the configuration or a discovery log; connected by another program");
	CHECK(reasonFor("nvmeof0c3", present) == "not in the configuration or a discovery log; connected by admin");
	rules.removal = RemovalPolicy::never;
	CHECK(changes({}, present, rules).front() == "keep nvmeof0c1");
	rules.removal = RemovalPolicy::all;
	CHECK(changes({}, present, rules).back() == "disconnect nvmeof0c3");
	rules = usual;
	rules.owner.clear(); // without an owner, connections without an owner are not its own
	CHECK(changes({}, present, rules)[1] == "keep nvmeof0c2");
}

TEST_CASE("an unwanted connection stays while not every discovery service has been read", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1")};
	DifferenceRules rules = usual;
	rules.removal = GENERATE(RemovalPolicy::own, RemovalPolicy::all);
	CHECK(changes({}, present, rules, false) == Strings{"keep nvmeof0c1"});
	CHECK(reasonFor("nvmeof0c1", present, rules, false) ==
	      "not in the configuration or a discovery log, but not every discovery service could be read");
}

TEST_CASE("the last path of an open disk stays", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof0c2", "10.1.0.2")};
	addDisk(present, {"nvmeof0c1", "nvmeof0c2"}, 1);
	// Both are unwanted. The second one is the last path.
	CHECK(changes({}, present) == Strings{"disconnect nvmeof0c1", "keep nvmeof0c2"});
	CHECK(reasonFor("nvmeof0c2", present) ==
	      "not in the configuration or a discovery log; it is the last path of nvmeof0n1, which is open");
	CHECK(changes({wanted("10.1.0.2")}, present) == Strings{"keep nvmeof0c2", "disconnect nvmeof0c1"});
	present.paths[1].usable = false; // an unusable path does not count
	CHECK(changes({wanted("10.1.0.2")}, present).back() == "keep nvmeof0c1");
	DifferenceRules rules = usual;
	rules.removeOpen = true;
	CHECK(changes({}, present, rules).back() == "disconnect nvmeof0c2");
	present.namespaces[0].openers = 0;
	CHECK(changes({}, present).back() == "disconnect nvmeof0c2");
}

TEST_CASE("controllers of discovery services are left alone", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof1c1", "10.1.0.1")};
	present.controllers[0].subsysnqn = discoveryNqn;
	present.controllers[1].subsysnqn = "nqn.unique";
	DifferenceRules rules = usual;
	rules.removal = RemovalPolicy::all;
	rules.discoveryNqns = {"nqn.unique"};
	CHECK(changes({}, present, rules).empty());
}

TEST_CASE("the number of connections is bounded, present ones included", "[difference]")
{
	Snapshot present;
	present.controllers = {controller("nvmeof0c1", "10.1.0.1"), controller("nvmeof0c9", "10.1.0.9", "")};
	DifferenceRules rules = usual;
	rules.connections = 2;
	CHECK(changes({wanted("10.1.0.2"), wanted("10.1.0.3")}, present, rules, false) ==
	      Strings{"connect", "keep", "keep nvmeof0c1", "keep nvmeof0c9"});
	present.controllers[0].state = ControllerState::deleting; // it still exists
	CHECK(changes({wanted("10.1.0.2"), wanted("10.1.0.3")}, present, rules, false) ==
	      Strings{"connect", "keep", "keep nvmeof0c9"});
}
