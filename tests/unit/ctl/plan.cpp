// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

#include <nvmeof/discovery_plan.h>
#include <nvmeof/rendezvous.h>

#include "memory.h"

using namespace nvmeof;
using namespace std::chrono_literals;
using State = PlannedService::State;

namespace {

ConnectOptions service(const std::string &traddr, const std::string &port = "8009")
{
	ConnectOptions options;
	options.address = {traddr, port};
	options.subsysnqn = discoveryNqn;
	options.hostnqn = "nqn.host";
	return options;
}

DiscoveryEntry entry(EntryKind kind, const std::string &traddr, const std::string &nqn,
		     const std::string &port = "4420")
{
	DiscoveryEntry one;
	one.kind = kind;
	one.transport = "tcp";
	one.addressFamily = traddr.find(':') == traddr.npos ? "ipv4" : "ipv6";
	one.traddr = traddr;
	one.trsvcid = port;
	one.subsysnqn = nqn;
	return one;
}

DiscoveryEntry disk(const std::string &traddr, const std::string &nqn = "nqn.s")
{
	return entry(EntryKind::subsystem, traddr, nqn);
}

DiscoveryEntry referral(const std::string &traddr)
{
	return entry(EntryKind::referral, traddr, discoveryNqn, "8009");
}

DiscoveryEntry duplicate(DiscoveryEntry one)
{
	one.duplicate = true;
	return one;
}

DiscoveryEntry itself(const std::string &traddr)
{
	return entry(EntryKind::service, traddr, discoveryNqn, "8009");
}

// Discovery logs of services, and the plan that a host makes from them
struct Fabric {
	PlanRules rules;
	std::vector<ConnectOptions> roots, fixed;
	KnownServices known;

	explicit Fabric(std::vector<std::string> services)
	{
		rules.hostnqn = "nqn.host";
		for (const std::string &traddr : services)
			roots.push_back(service(traddr));
	}
	KnownService &at(const std::string &traddr) { return known["tcp " + Address{traddr, "8009"}.toString()]; }
	void tell(const std::string &traddr, std::vector<DiscoveryEntry> entries)
	{
		at(traddr) = {DiscoveryLog{1, std::move(entries)}, false};
	}
	Plan plan() const { return planDiscovery(rules, roots, fixed, known); }
};

std::vector<std::string> addresses(const Plan &plan)
{
	std::vector<std::string> found;
	for (const PlannedConnection &one : plan.connections)
		found.push_back(one.options.address.traddr + " " + one.options.subsysnqn);
	return found;
}

std::vector<std::string> unread(const Plan &plan)
{
	std::vector<std::string> found;
	for (std::size_t i : plan.unread())
		found.push_back(plan.services[i].options.address.traddr);
	return found;
}

std::string reasonFor(const Plan &plan, const std::string &what)
{
	for (const Refusal &one : plan.refusals)
		if (one.what.find(what) != one.what.npos)
			return one.reason;
	return "not refused";
}

using Strings = std::vector<std::string>;

} // namespace

TEST_CASE("configured services are read first", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2", "10.0.0.1"});
	Plan plan = fabric.plan();
	CHECK(unread(plan) == Strings{"10.0.0.1", "10.0.0.2"});
	CHECK(reasonFor(plan, "10.0.0.1") == "configured twice; the first entry is used");
	CHECK_FALSE(plan.complete);
	fabric.tell("10.0.0.1", {});
	fabric.at("10.0.0.2").failed = true;
	plan = fabric.plan();
	CHECK(plan.unread().empty());
	CHECK(plan.services[1].state == State::failed);
	CHECK_FALSE(plan.complete); // a configured service could not be read
	fabric.tell("10.0.0.2", {});
	CHECK(fabric.plan().complete);
}

TEST_CASE("a failed service counts with its last known log", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	fabric.tell("10.0.0.1", {disk("10.1.0.1")});
	fabric.at("10.0.0.1").failed = true;
	const Plan plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.1 nqn.s"});
	CHECK(plan.unread().empty());
	CHECK_FALSE(plan.complete);
}

TEST_CASE("each connection is planned once, whichever services report it and however it is written", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2"});
	fabric.tell("10.0.0.1", {disk("10.1.0.1"), disk("10.1.0.1"), disk("fd00:0:0::1"), disk("10.1.0.1", "nqn.t")});
	fabric.tell("10.0.0.2", {disk("10.1.0.1"), disk("fd00::0001"), disk("::ffff:10.1.0.1")});
	const Plan plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.1 nqn.s", "fd00::1 nqn.s", "10.1.0.1 nqn.t"});
	CHECK(plan.connections[0].toldBy == std::vector<std::size_t>{0, 1});
	CHECK(plan.connections[2].toldBy == std::vector<std::size_t>{0});
	CHECK(plan.complete);
}

TEST_CASE("referrals are followed, each service once", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	fabric.tell("10.0.0.1", {referral("10.0.0.2"), referral("10.0.0.1"), disk("10.1.0.1")});
	Plan plan = fabric.plan();
	CHECK(unread(plan) == Strings{"10.0.0.2"});
	CHECK(plan.services[1].toldBy == 0);
	CHECK(plan.services[1].depth == 1);
	CHECK(addresses(plan).size() == 1);
	fabric.tell("10.0.0.2", {referral("10.0.0.1"), referral("10.0.0.3"), disk("10.1.0.2")});
	fabric.tell("10.0.0.3", {referral("10.0.0.2"), referral("10.0.0.1")});
	plan = fabric.plan();
	CHECK(plan.services.size() == 3);
	CHECK(plan.complete);
	CHECK(addresses(plan).size() == 2);
}

TEST_CASE("referrals are bounded in depth and number", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.9.0.1"});
	for (int i = 1; i < 9; i++)
		fabric.tell("10.0.0." + std::to_string(i), {referral("10.0.0." + std::to_string(i + 1))});
	std::vector<DiscoveryEntry> flood;
	for (int i = 0; i < 10000; i++)
		flood.push_back(referral("10.200." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1)));
	fabric.tell("10.9.0.1", flood);
	const Plan plan = fabric.plan();
	CHECK(plan.services.size() == 2 + fabric.rules.limits.depth + fabric.rules.limits.referrals);
	CHECK_FALSE(plan.complete);
	CHECK(reasonFor(plan, "9936 more") ==
	      "the limit for a configured service is 64 referrals ([limits] referrals)");
	CHECK(reasonFor(plan, "1 more entry") == "the limit is a referral depth of 4 ([limits] referral-depth)");
}

TEST_CASE("of services with the same entries one is read, and the next one if it fails", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	fabric.tell("10.0.0.1", {duplicate(referral("10.0.0.2")), duplicate(referral("10.0.0.3")),
				 duplicate(referral("10.0.0.4")), referral("10.0.0.5")});
	Plan plan = fabric.plan();
	CHECK(plan.services.size() == 5);
	Strings first = unread(plan);
	REQUIRE(first.size() == 2); // one of the three duplicates, and the one with other entries
	const Strings names{"tcp 10.0.0.2:8009", "tcp 10.0.0.3:8009", "tcp 10.0.0.4:8009"};
	const std::vector<std::size_t> order = rendezvousOrder("nqn.host", names);
	auto nth = [&](std::size_t n) { return "10.0.0." + std::to_string(order[n] + 2); };
	CHECK(std::ranges::find(first, nth(0)) != first.end());
	fabric.at(nth(0)).failed = true;
	Strings next = unread(fabric.plan());
	CHECK(std::ranges::find(next, nth(1)) != next.end());
	CHECK(next.size() == 2);
	fabric.tell(nth(1), {disk("10.1.0.1")});
	fabric.tell("10.0.0.5", {});
	plan = fabric.plan();
	CHECK(plan.unread().empty());
	CHECK(plan.complete); // the failure of one duplicate does not matter
	auto standby = std::ranges::count(plan.services, State::standby, &PlannedService::state);
	CHECK(standby == 1);
}

TEST_CASE("a service that lists itself as a duplicate puts its duplicates on standby", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	const auto own = GENERATE(false, true);
	const DiscoveryEntry mark = own ? itself("10.0.0.1") : referral("10.0.0.1");
	fabric.tell("10.0.0.1", {duplicate(mark), duplicate(referral("10.0.0.2"))});
	Plan plan = fabric.plan();
	CHECK(plan.unread().empty());
	CHECK(plan.complete);
	CHECK(plan.services[1].state == State::standby);
	CHECK(plan.services[0].same.size() == 2);
	fabric.at("10.0.0.1").failed = true;
	CHECK(unread(fabric.plan()) == Strings{"10.0.0.2"});
	// The last known log of the failed service does not count while a duplicate of it has been read.
	fabric.tell("10.0.0.1", {duplicate(mark), duplicate(referral("10.0.0.2")), disk("10.1.0.1")});
	fabric.at("10.0.0.1").failed = true;
	fabric.tell("10.0.0.2", {disk("10.1.0.1"), disk("10.1.0.2")});
	plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.1 nqn.s", "10.1.0.2 nqn.s"});
	CHECK(plan.complete);
}

TEST_CASE("entries that only a failed service lists stay, although another one calls it a duplicate", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2"});
	fabric.tell("10.0.0.1", {duplicate(itself("10.0.0.1")), duplicate(referral("10.0.0.2")), disk("10.1.0.1")});
	DiscoveryEntry unusable = disk("10.1.0.3");
	unusable.defect = "wrong";
	fabric.tell("10.0.0.2", {disk("10.1.0.1"), disk("10.1.0.2"), unusable});
	CHECK(fabric.plan().complete);
	fabric.at("10.0.0.2").failed = true;
	Plan plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.1 nqn.s", "10.1.0.2 nqn.s"});
	CHECK_FALSE(plan.complete);
	fabric.tell("10.0.0.1", {duplicate(itself("10.0.0.1")), duplicate(referral("10.0.0.2")), disk("10.1.0.1"),
				 disk("10.1.0.2")});
	plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.1 nqn.s", "10.1.0.2 nqn.s"});
	CHECK(plan.complete);
}

TEST_CASE("failed services cost a plan no work for each entry of the services with the same log", "[plan]")
{
	auto allocations = [](bool failed, bool withLog) {
		constexpr int entries = 200, services = 60;
		Fabric fabric({"10.0.0.1"});
		std::vector<DiscoveryEntry> log{duplicate(itself("10.0.0.1"))};
		for (int i = 0; i < services; i++)
			log.push_back(duplicate(referral("10.0.1." + std::to_string(i + 1))));
		for (int i = 0; i < entries; i++)
			log.push_back(disk("10.1.0." + std::to_string(i + 1), "nqn.s" + std::to_string(i)));
		fabric.tell("10.0.0.1", log);
		for (int i = 0; i < services; i++) {
			KnownService &one = fabric.at("10.0.1." + std::to_string(i + 1));
			one.failed = failed;
			if (withLog)
				one.log = DiscoveryLog{1, {disk("10.1.0.1", "nqn.s0")}};
		}
		MemoryFault::at(SIZE_MAX);
		const Plan plan = fabric.plan();
		const std::size_t left = MemoryFault::left();
		MemoryFault::end();
		CHECK(plan.complete);
		CHECK(plan.connections.size() == entries);
		return SIZE_MAX - left;
	};
	CHECK(allocations(true, false) < 2 * allocations(false, false));
	CHECK(allocations(true, true) < 2 * allocations(false, false));
}

TEST_CASE("a service known by referral only does not put a configured one on standby", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2"});
	fabric.tell("10.0.0.1", {referral("10.0.0.3")});
	fabric.tell("10.0.0.3", {duplicate(itself("10.0.0.3")), duplicate(referral("10.0.0.2"))});
	CHECK(unread(fabric.plan()) == Strings{"10.0.0.2"});
	// Another configured service may do so.
	fabric.tell("10.0.0.1", {duplicate(itself("10.0.0.1")), duplicate(referral("10.0.0.2"))});
	CHECK(fabric.plan().unread().empty());
}

TEST_CASE("a service reports whether connections to it may be persistent", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry own = itself("10.0.0.1"), other = referral("10.0.0.2");
	own.persistent = other.persistent = true;
	fabric.tell("10.0.0.1", {referral("10.0.0.3"), other, own});
	const Plan plan = fabric.plan();
	CHECK(plan.services[0].persistent);
	CHECK_FALSE(plan.services[1].persistent);
	CHECK(plan.services[2].persistent);
}

TEST_CASE("exclusions apply to entries of services and to configured connections", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.9"});
	fabric.rules.exclusions = {{.traddr = "10.1.0.1", .place = "f:3"},
				   {.nqn = "nqn.bad:*"},
				   {.traddr = "10.0.0.9"},
				   {.transport = "rdma", .traddr = "10.1.0.5"},
				   {}};
	fabric.tell("10.0.0.1", {disk("10.1.0.1"), disk("10.1.0.2"), disk("10.1.0.2", "nqn.bad:x"), disk("10.1.0.5"),
				 referral("10.0.0.9")});
	fabric.fixed.push_back(service("10.1.0.1", "4420"));
	const Plan plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.2 nqn.s", "10.1.0.5 nqn.s"});
	CHECK(plan.services.size() == 1);
	CHECK(reasonFor(plan, "10.1.0.1") == "excluded by f:3");
	CHECK(reasonFor(plan, "nqn.bad:x") == "excluded");
	CHECK(plan.complete);
}

TEST_CASE("an exclusion compares addresses, not their spelling", "[plan]")
{
	const Exclusion exclusion{.traddr = "fd00:0::1", .hostTraddr = "::ffff:10.0.0.1"};
	ConnectOptions options;
	options.address.traddr = "fd00::1";
	options.hostTraddr = "10.0.0.1";
	CHECK(exclusion.covers(options));
	options.hostTraddr = "10.0.0.2";
	CHECK_FALSE(exclusion.covers(options));
}

TEST_CASE("unusable entries are refused with a reason", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry control = disk("10.1.0.1", "nqn.a\x1b[2Jb"), tls = disk("10.1.0.2"), offered = disk("10.1.0.3"),
		       channel = disk("10.1.0.4"), fibre = disk("nn-0x1"), ud = disk("10.1.0.6"),
		       rdma = disk("10.1.0.7");
	control.defect = "SUBNQN is not an NQN";
	tls.tcpSecurity = TcpSecurity::tls12;
	offered.tcpSecurity = TcpSecurity::tls13;
	offered.secureChannel = SecureChannel::notRequired;
	channel.secureChannel = SecureChannel::required;
	channel.transport = "rdma";
	fibre.transport = "fc";
	ud.transport = rdma.transport = "rdma";
	ud.rdma = RdmaAddress{.queuePair = RdmaQueuePair::datagram};
	rdma.rdma = RdmaAddress{};
	fabric.tell("10.0.0.1", {control, tls, offered, channel, fibre, ud, rdma, disk("127.0.0.1"), disk("10.0.0.77"),
				 disk("fe80::1"), referral("127.1.2.3"), disk("::ffff:127.0.0.1")});
	fabric.rules.ownAddresses = {"10.0.0.77", "fd00::77"};
	const Plan plan = fabric.plan();
	CHECK(addresses(plan) == Strings{"10.1.0.3 nqn.s", "10.1.0.7 nqn.s"});
	CHECK(plan.connections[1].options.transport == "rdma");
	CHECK(reasonFor(plan, "10.1.0.1") == "SUBNQN is not an NQN");
	CHECK(plan.refusals[0].what.find('\x1b') == std::string::npos);
	CHECK(reasonFor(plan, "10.1.0.2") ==
	      "it requires TLS 1.2, and only TLS 1.3 is supported: select TLS 1.3 at the target");
	CHECK(reasonFor(plan, "10.1.0.4") == "it requires a secure channel, which is supported for transport tcp only");
	CHECK(reasonFor(plan, "nn-0x1") == "transport fc is not supported");
	CHECK(reasonFor(plan, "10.1.0.6") == "it requires the reliable datagram service, which is not supported");
	const std::string own = "it is an address of this host, reported by another host";
	CHECK(reasonFor(plan, "tcp 127.0.0.1:4420") == own);
	CHECK(reasonFor(plan, "10.0.0.77") == own);
	CHECK(reasonFor(plan, "referral to tcp 127.1.2.3") == own);
	CHECK(reasonFor(plan, "fe80::1") == "it is a link-local address without an interface");
	CHECK(plan.refusals.size() == 10);
}

// As the log entries of a target do
DiscoveryEntry secured(DiscoveryEntry one, SecureChannel channel, std::optional<TcpSecurity> security)
{
	one.secureChannel = channel;
	one.tcpSecurity = security;
	return one;
}

TEST_CASE("an entry that requires TLS is connected with TLS or not at all", "[plan][tls]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2"});
	const auto tls13 = TcpSecurity::tls13, none = TcpSecurity::none;
	fabric.tell("10.0.0.1", {secured(disk("10.1.0.1"), SecureChannel::required, tls13),
				 secured(disk("10.1.0.2"), SecureChannel::required, none),
				 secured(disk("10.1.0.3"), SecureChannel::notSpecified, tls13),
				 secured(disk("10.1.0.4"), SecureChannel::notRequired, tls13),
				 secured(disk("10.1.0.5"), SecureChannel::notSpecified, none), disk("10.1.0.6"),
				 secured(referral("10.0.0.9"), SecureChannel::required, tls13)});
	fabric.tell("10.0.0.2", {secured(disk("10.1.0.6"), SecureChannel::required, tls13)}); // also listed above
	auto uses = [&] {
		std::vector<std::optional<TlsUse>> all;
		for (const PlannedConnection &one : fabric.plan().connections)
			all.push_back(one.options.tls);
		return all;
	};
	using Uses = std::vector<std::optional<TlsUse>>;
	const auto required = TlsUse::required, preferred = TlsUse::preferred, off = TlsUse::off;
	CHECK(uses() == Uses{required, required, required, std::nullopt, std::nullopt, required});
	Plan plan = fabric.plan();
	REQUIRE(plan.services.size() == 3);
	CHECK(plan.services[2].options.tls == required);
	CHECK_FALSE(plan.services[0].options.tls);
	ConnectSettings settings;
	fabric.rules.settings = [&](const std::string &) { return settings; };
	settings.tls = preferred;
	CHECK(uses() == Uses{required, required, required, preferred, preferred, required});
	settings.tls = off;
	CHECK(uses() == Uses{off, off, off});
	plan = fabric.plan();
	CHECK(reasonFor(plan, "10.1.0.1").find("it requires TLS, which tls = \"off\" forbids") == 0);
	settings.tls.reset();
	fabric.roots[0].tls = required; // a referral inherits it
	fabric.tell("10.0.0.1", {referral("10.0.0.9")});
	CHECK(fabric.plan().services[2].options.tls == required);
	fabric.fixed = {service("10.1.0.6", "4420")};
	fabric.fixed[0].subsysnqn = "nqn.s";
	CHECK(fabric.plan().connections[0].options.tls == required);
	fabric.fixed[0].tls = off; // of its own [[connection]]
	CHECK(fabric.plan().connections[0].options.tls == off);
}

TEST_CASE("a referral to another NQN does not get the keys of the service that refers to it", "[plan][security]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry other = referral("10.0.0.9");
	other.subsysnqn = "nqn.other";
	fabric.tell("10.0.0.1", {referral("10.0.0.8"), other});
	fabric.tell("10.0.0.8", {});
	fabric.tell("10.0.0.9", {});
	ConnectOptions &root = fabric.roots[0];
	root.dhchapKey = "/k/host";
	root.dhchapCtrlKey = "/k/ctrl";
	root.tlsKey = "/k/tls";
	ConnectSettings settings;
	fabric.rules.settings = [&](const std::string &nqn) {
		return nqn == "nqn.other" ? settings : ConnectSettings();
	};
	Plan plan = fabric.plan();
	REQUIRE(plan.services.size() == 2);
	CHECK(plan.services[1].options.dhchapKey == "/k/host"); // the same NQN
	CHECK(plan.services[1].options.dhchapCtrlKey == "/k/ctrl");
	CHECK(plan.services[1].options.tlsKey == "/k/tls");
	CHECK(reasonFor(plan, "10.0.0.9") == "it has another NQN than the service that refers to it, whose dhchap-key "
					     "it does not get: set that in [[defaults]] for nqn.other");
	CHECK_FALSE(plan.complete); // its log may list subsystems
	fabric.tell("10.0.0.1", {referral("10.0.0.8"), duplicate(other)});
	CHECK(fabric.plan().complete);
	settings.dhchapKey = "/k/other";
	CHECK(reasonFor(fabric.plan(), "10.0.0.9").find("whose dhchap-ctrl-key it does not get") != std::string::npos);
	settings.dhchapCtrlKey = "/k/other-ctrl";
	plan = fabric.plan();
	REQUIRE(plan.services.size() == 3);
	CHECK(plan.services[2].options.dhchapKey == "/k/other");
	CHECK(plan.services[2].options.dhchapCtrlKey == "/k/other-ctrl");
	CHECK(plan.services[2].options.tlsKey.empty());
	CHECK(plan.services[2].options.tls == TlsUse::required); // never plain, with a key or without
	settings.tlsKey = "/k/other-tls";
	settings.tls = TlsUse::off;
	CHECK(fabric.plan().services[2].options.tlsKey == "/k/other-tls");
	CHECK(fabric.plan().services[2].options.tls == TlsUse::required);
	// without keys, every referral is read
	root.dhchapKey = root.dhchapCtrlKey = root.tlsKey = "";
	settings = {};
	plan = fabric.plan();
	REQUIRE(plan.services.size() == 3);
	CHECK_FALSE(plan.services[2].options.tls);
}

TEST_CASE("a referral to another NQN stays encrypted, by concat where there are keys for it", "[plan][security]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry other = referral("10.0.0.9");
	other.subsysnqn = "nqn.other";
	fabric.tell("10.0.0.1", {other});
	fabric.tell("10.0.0.9", {});
	ConnectOptions &root = fabric.roots[0];
	root.dhchapKey = "/k/host";
	root.dhchapCtrlKey = "/k/ctrl";
	root.concat = true;
	ConnectSettings settings;
	fabric.rules.settings = [&](const std::string &) { return settings; };
	auto referred = [&] {
		const Plan plan = fabric.plan();
		REQUIRE(plan.services.size() == 2);
		return plan.services[1].options;
	};
	settings.dhchapKey = "/k/other";
	CHECK(reasonFor(fabric.plan(), "10.0.0.9").find("whose dhchap-ctrl-key it does not get") != std::string::npos);
	settings.dhchapCtrlKey = "/k/other-ctrl";
	CHECK(referred().concat);
	CHECK_FALSE(referred().tls);
	// a setting for its own NQN is the nearer one
	settings.tlsKey = "/k/other-tls";
	CHECK_FALSE(referred().concat);
	CHECK(referred().tls == TlsUse::required);
	CHECK(referred().tlsKey == "/k/other-tls");
	settings.tlsKey.reset();
	settings.concat = false;
	CHECK_FALSE(referred().concat);
	CHECK(referred().tls == TlsUse::required); // with the key in .nvme, never plain
	settings.concat = true;
	root.concat = false;
	for (const auto tls : {std::optional<TlsUse>(), std::optional(TlsUse::required)}) {
		root.tls = tls;
		CHECK(referred().concat);
		CHECK_FALSE(referred().tls);
	}
	// where authentication is forbidden, it generates no key
	settings.concat.reset();
	root.concat = true;
	root.tls.reset();
	settings.security = SecurityRule{SecurityUse::off, {}, "c:1"};
	CHECK_FALSE(referred().concat);
	CHECK(referred().tls == TlsUse::required);
}

TEST_CASE("secure channel concatenation replaces TLS with a key that an entry requires", "[plan][tls]")
{
	Fabric fabric({"10.0.0.1"});
	fabric.tell("10.0.0.1", {secured(disk("10.1.0.1"), SecureChannel::notSpecified, TcpSecurity::tls13),
				 secured(disk("10.1.0.2"), SecureChannel::notSpecified, TcpSecurity::none)});
	fabric.rules.settings = [](const std::string &) {
		ConnectSettings settings;
		settings.concat = true;
		settings.security = SecurityRule{{}, SecurityUse::required, "here"};
		return settings;
	};
	const Plan plan = fabric.plan();
	REQUIRE(plan.connections.size() == 2);
	for (const PlannedConnection &one : plan.connections) {
		CHECK(one.options.concat);
		CHECK_FALSE(one.options.tls);
	}
}

TEST_CASE("an entry for RDMA is refused where concat or TLS is set", "[plan][tls]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry rdma = disk("10.1.0.2"), other = referral("10.0.0.9");
	rdma.transport = other.transport = "rdma";
	fabric.tell("10.0.0.1", {disk("10.1.0.1"), rdma, other});
	ConnectSettings settings;
	fabric.rules.settings = [&](const std::string &nqn) { return nqn == "nqn.s" ? settings : ConnectSettings(); };
	CHECK(addresses(fabric.plan()) == Strings{"10.1.0.1 nqn.s", "10.1.0.2 nqn.s"});
	auto why = [&] {
		CHECK(addresses(fabric.plan()) == Strings{"10.1.0.1 nqn.s"});
		CHECK(fabric.plan().refusals.size() == 1);
		return reasonFor(fabric.plan(), "rdma 10.1.0.2:4420 nqn.s");
	};
	const std::string rest = ", or use its ports with tcp alone";
	settings.concat = true;
	CHECK(why() == "concat needs transport tcp, not rdma: set concat = false for it" + rest);
	// connected already
	fabric.rules.present = [](const ConnectOptions &options) { return options.transport == "rdma"; };
	CHECK(fabric.plan().refusals.empty());
	fabric.rules.present = {};
	settings.concat = false;
	settings.tlsKey = "/etc/nvmeof/keys/tls.key";
	CHECK(why() == "TLS needs transport tcp, not rdma: set tls = \"off\" for it" + rest);
	settings.tls = TlsUse::preferred;
	CHECK(fabric.plan().connections.size() == 2);
	// of the service: it concerns the services that this one refers to
	settings = {};
	fabric.roots[0].concat = true;
	CHECK(reasonFor(fabric.plan(), "referral to rdma 10.0.0.9").starts_with("concat needs transport tcp"));
	CHECK(addresses(fabric.plan()).size() == 2);
	CHECK_FALSE(fabric.plan().complete); // its log may list more
	fabric.roots[0].concat = false;
	fabric.tell("10.0.0.1", {disk("10.1.0.1"), rdma});
	settings.concat = true;
	CHECK(fabric.plan().complete);
}

TEST_CASE("an entry without TLS is refused where [[security]] requires TLS", "[plan][security]")
{
	Fabric fabric({"10.0.0.1"});
	const auto tls13 = TcpSecurity::tls13, none = TcpSecurity::none;
	DiscoveryEntry rdma = disk("10.1.0.6");
	rdma.transport = "rdma";
	fabric.tell("10.0.0.1",
		    {secured(disk("10.1.0.1"), SecureChannel::required, tls13),
		     secured(disk("10.1.0.2"), SecureChannel::notRequired, tls13), // offers it
		     secured(disk("10.1.0.3"), SecureChannel::notSpecified, none),
		     secured(disk("10.1.0.4"), SecureChannel::notRequired, none), disk("10.1.0.5"), rdma,
		     secured(disk("10.1.0.7", "nqn.t"), SecureChannel::notSpecified, none), referral("10.0.0.9")});
	fabric.rules.settings = [&](const std::string &nqn) {
		ConnectSettings settings;
		if (nqn == "nqn.s")
			settings.security = SecurityRule{{}, SecurityUse::required, "c:7"};
		if (nqn == "nqn.own")
			settings.security = SecurityRule{SecurityUse::required, {}, "c:1"};
		return settings;
	};
	fabric.roots[0].subsysnqn = "nqn.own";
	Plan plan = fabric.plan();
	CHECK(addresses(plan) == std::vector<std::string>{"10.1.0.1 nqn.s", "10.1.0.2 nqn.s", "10.1.0.7 nqn.t"});
	for (const char *refused : {"10.1.0.3", "10.1.0.4", "10.1.0.5", "10.1.0.6"})
		CHECK(reasonFor(plan, refused).find("offers no TLS, which [[security]] at c:7 requires") !=
		      std::string::npos);
	// a forged log does not end an existing connection
	fabric.rules.present = [](const ConnectOptions &options) { return options.address.traddr == "10.1.0.3"; };
	plan = fabric.plan();
	CHECK(addresses(plan).front() == "10.1.0.3 nqn.s");
	CHECK(addresses(plan).size() == 4);
	// each service has the rule of its NQN, whatever refers to it
	REQUIRE(plan.services.size() == 2);
	CHECK(plan.services[0].options.security.auth == SecurityUse::required);
	CHECK(plan.services[1].options.security == SecurityRule());
}

TEST_CASE("only a service on this machine may report addresses of this machine", "[plan]")
{
	Fabric fabric({"127.0.0.1"});
	fabric.tell("127.0.0.1", {disk("127.0.0.1"), disk("10.0.0.77")});
	fabric.rules.ownAddresses = {"10.0.0.77"};
	CHECK(fabric.plan().connections.size() == 2);
	Fabric other({"10.0.0.1"});
	other.tell("10.0.0.1", {disk("127.0.0.1")});
	CHECK(other.plan().connections.empty());
	other.rules.connectSelf = true;
	CHECK(other.plan().connections.size() == 1);
}

TEST_CASE("the number of connections through one configured service is bounded", "[plan]")
{
	Fabric fabric({"10.0.0.1", "10.0.0.2"});
	std::vector<DiscoveryEntry> many, more;
	for (int i = 0; i < 1000; i++) {
		const std::string end = std::to_string(i / 250) + "." + std::to_string(i % 250 + 1);
		many.push_back(disk("10.1." + end, "nqn.s" + std::to_string(i)));
		more.push_back(disk("10.2." + end, "nqn.t" + std::to_string(i)));
	}
	many.push_back(referral("10.0.0.3"));
	fabric.tell("10.0.0.1", many);
	fabric.tell("10.0.0.3", more);
	fabric.tell("10.0.0.2", {disk("10.3.0.1", "nqn.other")});
	const Plan plan = fabric.plan();
	CHECK(plan.connections.size() == 1024 + 1);
	CHECK(reasonFor(plan, "976 more") ==
	      "the limit for a configured service is 1024 connections ([limits] connections-per-service)");
	CHECK(plan.complete); // the entries exist, and their connections are not removed
}

TEST_CASE("the addresses of one subsystem are bounded, and connections in use stay", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	std::vector<DiscoveryEntry> many;
	for (int i = 0; i < 1000; i++)
		many.push_back(disk("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1)));
	fabric.tell("10.0.0.1", many);
	Plan plan = fabric.plan();
	CHECK(plan.connections.size() == 64);
	CHECK(reasonFor(plan, "936 more") == "the limit for nqn.s is 64 addresses ([limits] paths-per-subsystem)");
	fabric.rules.present = [](const ConnectOptions &options) { return options.address.traddr == "10.1.3.250"; };
	plan = fabric.plan();
	CHECK(plan.connections.size() == 64);
	CHECK(addresses(plan).front() == "10.1.3.250 nqn.s");
}

TEST_CASE("a plan asks once per usable entry whether it is connected", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	std::vector<DiscoveryEntry> many(1000, disk("10.1.0.1"));
	for (DiscoveryEntry &one : many)
		one.defect = "wrong";
	for (int i = 0; i < 250; i++)
		many.push_back(disk("10.2.0." + std::to_string(i + 1)));
	fabric.tell("10.0.0.1", many);
	int asked = 0;
	fabric.rules.present = [&](const ConnectOptions &) {
		asked++;
		return false;
	};
	CHECK(fabric.plan().connections.size() == 64);
	CHECK(asked == 250);
}

TEST_CASE("the list of refusals is bounded", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	DiscoveryEntry bad = disk("10.1.0.1");
	bad.defect = "wrong";
	fabric.tell("10.0.0.1", std::vector<DiscoveryEntry>(1000, bad));
	const Plan plan = fabric.plan();
	CHECK(plan.refusals.size() == 256);
	CHECK(plan.moreRefusals == 744);
}

TEST_CASE("a connection uses the interface of its service and the settings for its NQN", "[plan]")
{
	Fabric fabric({"fe80::5%eth1"});
	fabric.roots[0].hostIface = "eth1";
	fabric.roots[0].hostid = Uuid::parse("11111111-2222-3333-4444-555555555555");
	fabric.roots[0].keepAlive = 30s;
	fabric.rules.owner = "nvmeofd";
	fabric.rules.settings = [](const std::string &nqn) {
		ConnectSettings settings;
		if (nqn == "nqn.s")
			settings.ctrlLoss = -1ms;
		return settings;
	};
	fabric.known[serviceKey(fabric.roots[0])].log = {1, {disk("fe80::1"), disk("10.1.0.1", "nqn.t")}};
	const Plan plan = fabric.plan();
	REQUIRE(plan.connections.size() == 2);
	const ConnectOptions &one = plan.connections[0].options, &two = plan.connections[1].options;
	CHECK(one.address.traddr == "fe80::1%eth1");
	CHECK(one.hostIface == "eth1");
	CHECK(one.hostnqn == "nqn.host");
	CHECK(one.hostid == fabric.roots[0].hostid);
	CHECK(one.owner == "nvmeofd");
	CHECK(one.ctrlLoss == -1ms);
	CHECK_FALSE(one.keepAlive); // the keep-alive of the service applies to the service only
	CHECK_FALSE(two.ctrlLoss);
	fabric.roots[0].hostTraddr = "fe80::2%eth1";
	fabric.known[serviceKey(fabric.roots[0])].log = {1, {disk("10.1.0.1", "nqn.t")}};
	CHECK(reasonFor(fabric.plan(), "10.1.0.1") ==
	      "its address family differs from that of the local address fe80::2%eth1");
}

TEST_CASE("a configured connection is planned whether or not a service reports it", "[plan]")
{
	Fabric fabric({"10.0.0.1"});
	ConnectOptions fixed = service("10.1.0.1", "4420");
	fixed.subsysnqn = "nqn.s";
	fixed.ioQueues = 3;
	fabric.fixed = {fixed, fixed};
	Plan plan = fabric.plan();
	REQUIRE(plan.connections.size() == 1);
	CHECK(plan.connections[0].toldBy.empty());
	CHECK(plan.connections[0].options.ioQueues == 3u);
	CHECK(reasonFor(plan, "10.1.0.1") == "configured twice; the first entry is used");
	fabric.tell("10.0.0.1", {disk("10.1.0.1")});
	plan = fabric.plan();
	REQUIRE(plan.connections.size() == 1);
	CHECK(plan.connections[0].options.ioQueues == 3u);
	CHECK(plan.connections[0].toldBy == std::vector<std::size_t>{0});
}

TEST_CASE("of concat and TLS with a key, the nearer setting applies", "[plan]")
{
	ConnectSettings file, line;
	file.tlsKey = "/k/tls.key";
	line.concat = true;
	line.complete(file);
	CHECK(line.concat == true);
	CHECK_FALSE(line.tls);
	CHECK_FALSE(line.tlsKey);

	file = line = {};
	file.concat = true;
	line.tlsKey = "/k/tls.key";
	line.complete(file);
	CHECK_FALSE(line.concat);
	CHECK(line.tls == TlsUse::required);

	line = {};
	line.tls = TlsUse::off;
	line.complete(file);
	CHECK_FALSE(line.concat);
	CHECK(line.tls == TlsUse::off);

	line = {};
	line.complete(file);
	CHECK(line.concat == true);

	// one place that sets both is an error, which the connect reports
	line.tls = TlsUse::required;
	line.complete({});
	CHECK(line.concat == true);
	CHECK(line.tls == TlsUse::required);
}

TEST_CASE("connect settings override the defaults, and are bounded", "[plan]")
{
	ConnectSettings line, file;
	CHECK(putConnectSetting(line, *findConnectSetting("ctrl-loss-tmo"), -1));
	CHECK(putConnectSetting(file, *findConnectSetting("ctrl-loss-tmo"), 5000));
	CHECK(putConnectSetting(file, *findConnectSetting("hdr-digest"), 1));
	CHECK(putConnectSetting(file, *findConnectSetting("tos"), 255));
	CHECK_FALSE(putConnectSetting(file, *findConnectSetting("tos"), 256));
	CHECK_FALSE(putConnectSetting(file, *findConnectSetting("reconnect-delay"), -1));
	CHECK(findConnectSetting("no-such") == nullptr);
	line.complete(file);
	ConnectOptions options;
	line.apply(options);
	CHECK(options.ctrlLoss == -1ms);
	CHECK(options.hdrDigest);
	CHECK(options.tos == 255);
	CHECK_FALSE(options.dataDigest);
	for (const ConnectSetting &setting : connectSettings()) {
		ConnectSettings one;
		CAPTURE(setting.name);
		CHECK_FALSE(getConnectSetting(one, setting));
		CHECK_FALSE(getConnectText(one, setting));
		if (setting.kind == SettingKind::keySource) {
			CHECK_FALSE(putConnectSetting(one, setting, 0));
			CHECK(putConnectText(one, setting, "/etc/nvmeof/keys/host.key"));
			CHECK(getConnectText(one, setting) == "/etc/nvmeof/keys/host.key");
			CHECK_FALSE(getConnectSetting(one, setting));
			continue;
		}
		CHECK_FALSE(putConnectText(one, setting, "/etc/nvmeof/keys/host.key"));
		CHECK(putConnectSetting(one, setting, setting.most));
		CHECK(getConnectSetting(one, setting) == setting.most);
	}
}
