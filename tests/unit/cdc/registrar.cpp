// SPDX-License-Identifier: LGPL-2.1-or-later
// Registrations: permissions, leases and limits
#include <catch2/catch.hpp>

#include <set>
#include <tuple>

#include <fmt/format.h>

#include "service.h"
#include "sample.h"
#include "registrar.h"
#include "libctl/runtime/journal.h"
#include "wall_clock.h"

using namespace cdc;
using namespace nofctl::wire;

namespace {

constexpr std::int64_t now = 1000;

RegistrationRules someRules()
{
	RegistrationRules rules;
	rules.leaseSeconds = 80;
	for (const char *nqn : {"nqn.jbof1", "nqn.jbof2"})
		rules.ddcs.push_back({nqn, {*Prefix::of("10.0.0.0/8"), *Prefix::of("fd00::/16")}});
	return rules;
}

Peer peerAt(const char *address)
{
	return *Peer::parse(address);
}

Registration hostRegistration(const std::string &nqn = "nqn.host")
{
	return {dim_host, nqn, {1, 2}, "node", "Linux", {makeInterface(tr_tcp, nqn, "10.1.1.1")}};
}

Registration ddcRegistration(const std::string &nqn, const std::vector<Target> &targets)
{
	Registration registration{dim_direct, nqn, {}, "jbof", "1", {}};
	for (const Target &target : targets)
		registration.interfaces.push_back(target.entry());
	return registration;
}

// A model that stores registrations
struct Registry {
	Sample sample;
	RegistrationRules rules = someRules();
	// Of the sender, and the NQNs that have to be proved
	std::string hostnqn = "nqn.sender";
	bool proved = false;
	std::set<std::string> guarded = {};
	std::size_t written = 0; // number of records that the last registration wrote

	// Returns the status of a refusal, or 0 if the registration is written.
	int take(DimTask task, const Registration &registration, const char *from = "10.0.0.1", std::int64_t time = now)
	{
		const auto changes = registrationChanges(
			sample.model, rules, task, registration, {peerAt(from), hostnqn, proved},
			[this](const std::string &nqn) { return guarded.contains(nqn); }, time);
		if (!changes)
			return changes.error().nvmeStatus.value_or(-1);
		written = changes->size();
		sample.tell(*changes);
		return 0;
	}
	std::size_t targets() const { return sample.model.targets().size(); }
	std::size_t hosts() const { return sample.model.hosts().size(); }
};

} // namespace

TEST_CASE("a host registers and deregisters", "[registrar]")
{
	Registry registry;
	REQUIRE(registry.take(dim_register, hostRegistration()) == 0);
	REQUIRE(registry.hosts() == 1);
	const Host &known = registry.sample.model.hosts().begin()->second;
	CHECK(known.interfaces == std::vector<std::string>{"tcp 10.1.1.1"});
	CHECK(known.hostid.starts_with("0102"));
	CHECK(known.origin.ends == now + 80);
	CHECK(known.origin.from == "10.0.0.1");
	CHECK(registry.take(dim_deregister, hostRegistration()) == 0);
	CHECK(registry.hosts() == 0);
	CHECK(registry.take(dim_deregister, hostRegistration()) == 0);
	registry.rules.hosts = false;
	CHECK(registry.take(dim_register, hostRegistration()) == st_denied);
}

TEST_CASE("a registration with invalid UTF-8 or control characters is refused", "[registrar]")
{
	Registry registry;
	const char *const bad[] = {"\xff", "a\xc3",   "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
				   "a\nb", "\x1b[2J", "\xc2\x9b"};
	for (const std::string text : bad) {
		CAPTURE(text);
		Registration host = hostRegistration("nqn.a" + text);
		CHECK(registry.take(dim_register, host) == st_invalid_discovery);
		host = hostRegistration();
		host.name = text;
		CHECK(registry.take(dim_register, host) == st_invalid_discovery);
		host = hostRegistration();
		host.version = text;
		CHECK(registry.take(dim_register, host) == st_invalid_discovery);
		Target target = someTarget(1);
		target.nqn += text;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {target})) == st_invalid_discovery);
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1" + text, {someTarget(1)})) == st_denied);
	}
	CHECK(registry.hosts() + registry.targets() == 0);
	Registration host = hostRegistration();
	host.name = "n\xc3\xb6"
		    "d";
	CHECK(registry.take(dim_register, host) == 0);
}

TEST_CASE("configured discovery controllers register, update and deregister their own targets", "[registrar]")
{
	Registry registry;
	auto apply = [&](DimTask task, const Registration &registration) {
		CHECK(registry.take(task, registration) == 0);
		return registry.targets();
	};
	CHECK(apply(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1), someTarget(2)})) == 2);
	CHECK(apply(dim_register, ddcRegistration("nqn.jbof2", {someTarget(3)})) == 3);
	CHECK(apply(dim_update, ddcRegistration("nqn.jbof1", {someTarget(4)})) == 4);
	CHECK(apply(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)})) == 2);   // replaces the first one
	CHECK(apply(dim_deregister, ddcRegistration("nqn.jbof2", {someTarget(1)})) == 2); // of another DDC
	CHECK(apply(dim_deregister, ddcRegistration("nqn.jbof2", {})) == 1);
	Registration bad = ddcRegistration("nqn.jbof1", {someTarget(1)});
	bad.interfaces[0].trtype = tr_fc;
	CHECK(registry.take(dim_register, bad) == st_invalid_discovery);
	CHECK(registry.targets() == 1);
}

TEST_CASE("an unknown discovery controller, or one at another address, cannot register targets", "[registrar]")
{
	Registry registry;
	CHECK(registry.take(dim_register, ddcRegistration("nqn.other", {someTarget(1)})) == st_denied);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)}), "11.0.0.1") == st_denied);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)}), "fe80::1") == st_denied);
	CHECK(registry.take(dim_deregister, ddcRegistration("nqn.jbof1", {}), "11.0.0.1") == st_denied);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)}), "fd00::7") == 0);
	registry.rules.ddcs.clear();
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(2)})) == st_denied);
	CHECK(registry.targets() == 1);
}

TEST_CASE("no lease ends because the wall clock was set forward", "[registrar]")
{
	ClockJump clock;
	CHECK(clock.since(1000, 10) == 0);
	CHECK(clock.since(1060, 70) == 0);              // a minute has passed
	CHECK(clock.since(1120 + 86400, 130) == 86400); // a minute, and a day by the clock alone
	CHECK(clock.since(1180 + 86400, 190) == 0);
	CHECK(clock.since(1240, 250) == -86400);
	Registry registry;
	REQUIRE(registry.take(dim_register, hostRegistration()) == 0);
	REQUIRE(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)})) == 0);
	const Model &model = registry.sample.model;
	Connected all;
	all.renewAll = true;
	const LeaseChanges changes = leaseChanges(model, registry.rules, all, now + 86400);
	CHECK(changes.ended.empty());
	CHECK(changes.renewed.size() == 2);
	CHECK(leaseChanges(model, registry.rules, {}, now + 86400).ended.size() == 2);
	CHECK(leaseChanges(model, registry.rules, all, now + 10).renewed.size() == 2); // most of it is left
	CHECK(leaseChanges(model, registry.rules, {{"nqn.host"}, {"nqn.jbof1"}}, now + 10).renewed.empty());
}

TEST_CASE("a registration neither replaces nor joins others' subsystems without 'join'", "[registrar]")
{
	for (const char *source : {"file", "pull"}) {
		CAPTURE(source);
		Registry registry;
		Target defined = someTarget(1);
		defined.origin = {source, "x", 0};
		registry.sample.tell({putOf(defined)});
		Target port = someTarget(1);
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {port})) == st_denied);
		port.traddr = "10.66.66.66";
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(2), port})) == st_denied);
		CHECK(registry.targets() == 1);
		registry.rules.ddcs[0].join = true;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {port})) == 0);
		CHECK(registry.targets() == 2);
		// without the permission, the registration ends
		registry.rules.ddcs[0].join = false;
		const LeaseChanges changes =
			leaseChanges(registry.sample.model, registry.rules, {{}, {"nqn.jbof1"}}, now);
		REQUIRE(changes.ended.size() == 1);
		CHECK(changes.ended[0].key == port.key());
		CHECK(changes.refused == std::set<std::string>{"nqn.jbof1"});
	}
}

TEST_CASE("a registration adds no ports to a subsystem of another discovery controller without 'join'", "[registrar]")
{
	for (const bool byHand : {false, true}) {
		CAPTURE(byHand);
		Registry registry;
		Target first = someTarget(1), second = someTarget(1);
		second.traddr = "10.66.66.66";
		if (byHand) {
			first.origin = {"control", ""};
			registry.sample.tell({putOf(first)});
		} else {
			REQUIRE(registry.take(dim_register, ddcRegistration("nqn.jbof1", {first})) == 0);
		}
		for (const DimTask task : {dim_register, dim_update}) {
			CHECK(registry.take(task, ddcRegistration("nqn.jbof2", {someTarget(2), second})) == st_denied);
			CHECK(registry.targets() == 1);
		}
		registry.rules.ddcs[1].join = true;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof2", {second})) == 0);
		CHECK(registry.targets() == 2);
		// both have ports now: none is locked out, and neither registration ends
		registry.rules.ddcs[1].join = false;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof2", {second})) == 0);
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {first})) == 0);
		CHECK(leaseChanges(registry.sample.model, registry.rules, {}, now).ended.empty());
		CHECK(registry.targets() == 2);
	}
}

TEST_CASE("a registration has referrals only with 'join', and only addresses of one machine", "[registrar]")
{
	Registry registry;
	Target referral = someTarget(1);
	referral.type = sub_referral;
	for (const char *nqn : {"nqn.2014-08.org.nvmexpress.discovery", "nqn.2024-01.com.example:s1"}) {
		referral.nqn = nqn;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(2), referral})) ==
		      st_denied);
		CHECK(registry.take(dim_update, ddcRegistration("nqn.jbof1", {referral})) == st_denied);
	}
	CHECK(registry.targets() == 0);
	registry.rules.ddcs[0].join = true;
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {referral})) == 0);
	CHECK(leaseChanges(registry.sample.model, registry.rules, {{}, {"nqn.jbof1"}}, now).ended.empty());
	registry.rules.ddcs[0].join = false;
	CHECK(leaseChanges(registry.sample.model, registry.rules, {{}, {"nqn.jbof1"}}, now).ended.size() == 1);
	registry.rules.ddcs[0].join = true;
	for (const char *address : {"0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "ff02::1", "ff02::1%eth0"}) {
		CAPTURE(address);
		Target port = someTarget(3);
		port.traddr = address;
		CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {port})) == st_invalid_discovery);
	}
}

TEST_CASE("a port set by hand does not affect the other ports of a discovery controller", "[registrar]")
{
	Registry registry;
	Target second = someTarget(1);
	second.traddr = "10.0.9.9";
	REQUIRE(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1), second})) == 0);
	Target byHand = someTarget(1, ana_inaccessible);
	byHand.origin = {"control", ""};
	registry.sample.tell({putOf(byHand)});
	CHECK(leaseChanges(registry.sample.model, registry.rules, {}, now).ended.empty());
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1), second})) == 0);
	CHECK(registry.targets() == 2);
	CHECK(registry.sample.model.targets().at(byHand.key()).target.state == ana_inaccessible);
	// also if it was set before, or is the only port
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1), someTarget(2)})) == 0);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1), someTarget(3)})) == 0);
	CHECK(registry.targets() == 2);
}

TEST_CASE("two addresses cannot use up the registrations of all hosts", "[registrar]")
{
	Registry registry;
	registry.rules.maxHosts = 40;
	registry.rules.maxHostsEach = 30;
	int taken = 0;
	for (int i = 0; i < 60; i++)
		taken += registry.take(dim_register, hostRegistration("nqn." + std::to_string(i)),
				       i % 2 ? "10.0.0.1" : "10.0.0.2") == 0;
	CHECK(taken == 30);
	CHECK(registry.take(dim_register, hostRegistration("nqn.new"), "10.0.0.3") == 0);
}

TEST_CASE("leases expire unless their owner is connected, and new rules apply to old registrations", "[registrar]")
{
	Registry registry;
	REQUIRE(registry.take(dim_register, hostRegistration()) == 0);
	REQUIRE(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)})) == 0);
	auto renewedAndEnded = [&](const std::set<std::string> &connected, std::int64_t time) {
		const LeaseChanges both =
			leaseChanges(registry.sample.model, registry.rules, {connected, connected}, time);
		return std::pair(both.renewed.size(), both.ended.size());
	};
	using Both = std::pair<std::size_t, std::size_t>;
	CHECK(renewedAndEnded({}, now + 100) == Both(0, 0)); // another instance may be about to renew it
	CHECK(renewedAndEnded({}, now + 101) == Both(0, 2));
	CHECK(renewedAndEnded({"nqn.host"}, now + 30) == Both(0, 0));
	CHECK(renewedAndEnded({"nqn.host"}, now + 50) == Both(1, 0));
	CHECK(renewedAndEnded({"nqn.host", "nqn.jbof1"}, now + 100) == Both(2, 0));
	// a host that connects with the NQN of a discovery controller does not renew that registration
	const Connected claims{{"nqn.host", "nqn.jbof1"}, {}};
	CHECK(leaseChanges(registry.sample.model, registry.rules, claims, now + 101).ended.size() == 1);
	CHECK(registry.take(dim_register, hostRegistration(), "10.0.0.1", now + 39) == 0);
	CHECK(registry.written == 0); // unchanged, and most of its lease is left
	CHECK(registry.take(dim_register, hostRegistration(), "10.0.0.1", now + 41) == 0);
	CHECK(registry.written == 1);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)}), "10.0.0.1", now + 39) == 0);
	CHECK(registry.written == 0);
	registry.rules.leaseSeconds = 10; // the lease is shorter now
	CHECK(renewedAndEnded({}, now) == Both(2, 0));
	registry.rules.ddcs.clear();
	registry.rules.hosts = false;
	CHECK(renewedAndEnded({"nqn.host", "nqn.jbof1"}, now) == Both(0, 2));
	Host old;
	old.nqn = "nqn.old";
	old.origin = {"push", "nqn.old", 0};
	registry.rules = someRules();
	registry.sample.tell({putOf(old)});
	CHECK(renewedAndEnded({}, now + 50) == Both(1, 0)); // written by a version without leases
}

TEST_CASE("a sender that has proved an NQN registers only what belongs to it", "[registrar]")
{
	Registry registry;
	const Registration jbof = ddcRegistration("nqn.jbof1", {someTarget(1)});
	registry.proved = true;
	registry.hostnqn = "nqn.jbof2";
	for (const DimTask task : {dim_register, dim_update, dim_deregister})
		CHECK(registry.take(task, jbof) == st_denied);
	CHECK(registry.take(dim_register, hostRegistration("nqn.host")) == st_denied);
	registry.hostnqn = "nqn.jbof1";
	CHECK(registry.take(dim_register, jbof) == 0);
	CHECK(registry.sample.model.targets().begin()->second.target.origin.proved == true);
	// it connects as a host with another NQN
	registry.rules.ddcs[0].hostnqn = "nqn.node";
	CHECK(registry.take(dim_update, jbof) == st_denied);
	registry.hostnqn = "nqn.node";
	CHECK(registry.take(dim_update, jbof) == 0);
	CHECK(registry.take(dim_deregister, jbof) == 0);
	CHECK(registry.targets() == 0);
}

TEST_CASE("a sender without a proof registers nothing for an NQN that has to be proved", "[registrar]")
{
	Registry registry;
	registry.hostnqn = "nqn.jbof1";
	registry.guarded = {"nqn.jbof1", "nqn.host"};
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)})) == st_denied);
	CHECK(registry.take(dim_register, hostRegistration("nqn.host")) == st_denied);
	CHECK(registry.take(dim_register, ddcRegistration("nqn.jbof2", {someTarget(2)})) == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.other")) == 0);
	CHECK(registry.sample.model.targets().begin()->second.target.origin.proved == false);
}

TEST_CASE("registrations end soon that changed rules or keys do not allow", "[registrar]")
{
	Registry registry;
	registry.rules.leaseSeconds = 86400;
	REQUIRE(registry.take(dim_register, hostRegistration("nqn.claimed")) == 0);
	REQUIRE(registry.take(dim_register, ddcRegistration("nqn.jbof1", {someTarget(1)})) == 0);
	registry.proved = true;
	registry.hostnqn = "nqn.proved";
	REQUIRE(registry.take(dim_register, hostRegistration("nqn.proved")) == 0);
	auto after = [&](std::int64_t time) { // as if all owners were connected
		const LeaseChanges changes = leaseChanges(registry.sample.model, registry.rules,
							  {{"nqn.claimed", "nqn.proved"}, {"nqn.jbof1"}}, time,
							  [](const std::string &, bool proved) { return proved; });
		registry.sample.tell(changes.renewed);
		registry.sample.tell(changes.ended);
		return std::tuple(changes.renewed.size(), changes.ended.size(), changes.unproved);
	};
	using Outcome = std::tuple<std::size_t, std::size_t, std::set<std::string>>;
	CHECK(after(now) == Outcome(2, 0, {})); // their leases are shorter
	CHECK(after(now + 1) == Outcome(0, 0, {}));
	CHECK(registry.sample.model.hosts().size() == 2);
	registry.hostnqn = "nqn.claimed"; // it comes back, with a proof
	REQUIRE(registry.take(dim_register, hostRegistration("nqn.claimed"), "10.0.0.1", now + 2) == 0);
	CHECK(registry.written == 1);
	CHECK(after(now + unprovedSeconds) == Outcome(0, 1, {"nqn.jbof1"}));
	CHECK(registry.targets() == 0);
	CHECK(registry.hosts() == 2);
}

TEST_CASE("the number of registrations is limited", "[registrar]")
{
	Registry registry;
	registry.rules.maxHosts = 5;
	registry.rules.maxHostsEach = 2;
	registry.rules.maxTargetsEach = 2;
	CHECK(registry.take(dim_register, hostRegistration("nqn.1")) == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.2")) == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.3")) == st_discovery_resources);
	CHECK(registry.take(dim_register, hostRegistration("nqn.2")) == 0); // already registered
	CHECK(registry.take(dim_register, hostRegistration("nqn.3"), "fd00::1") == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.4"), "fd00::2") == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.5"), "fd00::3") == st_discovery_resources); // same /64
	CHECK(registry.take(dim_register, hostRegistration("nqn.5"), "10.0.0.2") == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.6"), "10.0.0.3") == st_discovery_resources);
	CHECK(registry.take(dim_deregister, hostRegistration("nqn.1")) == 0);
	CHECK(registry.take(dim_register, hostRegistration("nqn.6")) == 0);
	Registration wide = hostRegistration("nqn.6");
	wide.interfaces.resize(65, wide.interfaces[0]);
	CHECK(registry.take(dim_register, wide) == st_discovery_resources);
	CHECK(registry.take(dim_update, ddcRegistration("nqn.jbof1", {someTarget(1), someTarget(2)})) == 0);
	CHECK(registry.take(dim_update, ddcRegistration("nqn.jbof1", {someTarget(2)})) == 0);
	CHECK(registry.take(dim_update, ddcRegistration("nqn.jbof1", {someTarget(3)})) == st_discovery_resources);
	CHECK(registry.targets() == 2);
}

TEST_CASE("the record of a host is bounded, and its interfaces have numeric addresses", "[registrar]")
{
	Registry registry;
	Registration host = hostRegistration("nqn." + std::string(200, '"'));
	host.name = std::string(255, '"'); // JSON doubles these
	host.version = std::string(64, '"');
	host.interfaces.clear();
	for (int i = 0; i < 64; i++)
		host.interfaces.push_back(makeInterface(
			tr_rdma, host.nqn, fmt::format("2001:db8:ffff:ffff:ffff:ffff:ffff:{:x}", i + 0xff00)));
	CHECK(registry.take(dim_register, host) == 0);
	for (DiscoveryEntry &one : host.interfaces)
		one = makeInterface(tr_tcp, host.nqn, "fe80::ffff:ffff:ffff:ffff%" + std::string(200, 'x'));
	CHECK(registry.take(dim_register, host) != 0);
	for (const std::string text : {"node1", "10.0.0.1.1", "\"\"\"\""}) {
		CAPTURE(text);
		Registration bad = hostRegistration();
		bad.interfaces.push_back(makeInterface(tr_tcp, bad.nqn, text));
		CHECK(registry.take(dim_register, bad) == st_invalid_discovery);
	}
	CHECK(registry.hosts() == 1);
	// nvme-stas leaves it empty: the address from which it comes
	Registration stas = hostRegistration();
	stas.interfaces = {makeInterface(tr_tcp, stas.nqn, "")};
	CHECK(registry.take(dim_register, stas) == 0);
	CHECK(registry.hosts() == 2);
	CHECK(registry.take(dim_deregister, stas) == 0);
	CHECK(registry.hosts() == 1);
}

TEST_CASE("the journal has the old and the new content of a record", "[registrar]")
{
	Registry registry;
	REQUIRE(registry.take(dim_register, hostRegistration()) == 0);
	Host host = registry.sample.model.hosts().begin()->second;
	host.origin.ends += 7;
	CHECK(auditLines(registry.sample.model, {putOf(host)}).empty());
	host.name = "other";
	const auto lines = auditLines(registry.sample.model, {putOf(host), {"zones/z", std::nullopt}});
	REQUIRE(lines.size() == 1);
	CHECK(lines[0].find("\"name\":\"node\"") < lines[0].find(" -> "));
	CHECK(lines[0].find("\"name\":\"other\"") > lines[0].find(" -> "));
	std::vector<Change> many;
	for (int i = 0; i < 150; i++)
		many.push_back(putOf(someTarget(i)));
	CHECK(auditLines(registry.sample.model, many).size() == 101);
	CHECK(auditLines(registry.sample.model, many).back() == "and up to 50 more records");
	CHECK(auditLines(registry.sample.model, many, 0) == std::vector<std::string>{"and up to 150 more records"});
}

TEST_CASE("the journal's lines for a change compare at most a thousand records", "[registrar]")
{
	Registry registry;
	std::vector<Change> same;
	for (int i = 0; i < 5000; i++)
		same.push_back(putOf(someTarget(i)));
	registry.sample.tell(same);
	std::vector<Change> changes = same; // only the last one changes a record
	changes.push_back(putOf(someTarget(5000)));
	CHECK(auditLines(registry.sample.model, changes) == std::vector<std::string>{"and up to 4001 more records"});
	runtime::LogLimit limit(2, std::chrono::seconds(10));
	std::uint64_t leftOut = 0;
	const auto now = runtime::LogLimit::Clock::now();
	CHECK_FALSE(limit.full(now));
	CHECK(limit.allow(leftOut, now));
	CHECK(limit.allow(leftOut, now));
	CHECK(limit.full(now));
	CHECK_FALSE(limit.full(now + std::chrono::seconds(10)));
}

TEST_CASE("a prefix matches the addresses that begin with it", "[registrar]")
{
	auto holds = [](const char *prefix, const char *address) { return Prefix::of(prefix)->holds(peerAt(address)); };
	CHECK(holds("10.0.0.0/8", "10.255.1.1"));
	CHECK_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
	CHECK(holds("10.0.0.128/25", "10.0.0.200"));
	CHECK_FALSE(holds("10.0.0.128/25", "10.0.0.127"));
	CHECK(holds("10.0.0.1", "10.0.0.1"));
	CHECK_FALSE(holds("10.0.0.1", "10.0.0.2"));
	CHECK(holds("0.0.0.0/0", "192.168.1.1"));
	CHECK_FALSE(holds("0.0.0.0/0", "fd00::1"));
	CHECK(holds("fd00::/9", "fd7f::1"));
	CHECK_FALSE(holds("fd00::/9", "fd80::1"));
	for (const char *bad :
	     {"", "x", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/8x", "fd00::/129", "fd00::1/16"})
		CHECK_FALSE(Prefix::of(bad).ok());
}
