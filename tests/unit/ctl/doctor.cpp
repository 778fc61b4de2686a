// SPDX-License-Identifier: LGPL-2.1-or-later
// The judgement of 'nvmeofctl doctor': each finding, present and absent
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <functional>

#include <nvmeof/discovery.h>

#include "snapshot.h"
#include "cdc.h"
#include "doctor.h"
#include "format.h"
#include "generate.h"
#include "parse.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

const std::chrono::system_clock::time_point doctorNow{1764220450s}; // 2025-11-27 05:14:10 UTC

doctor::Facts healthyFacts()
{
	doctor::Facts facts;
	facts.now = doctorNow;
	facts.snapshot = exampleSnapshot();
	std::set<std::string> linked;
	for (Namespace &ns : facts.snapshot.namespaces) {
		ns.livePaths = ns.expectedPaths = ns.paths;
		ns.wwid = "uuid." + ns.name;
		linked.insert(ns.name);
	}
	for (Subsystem &s : facts.snapshot.subsystems)
		s.hostid = Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
	for (const Controller &c : facts.snapshot.controllers) {
		doctor::PathProbe probe;
		probe.controller = c.name;
		probe.interface = "eth0";
		probe.mtu = 1500;
		probe.echo = doctor::Echo::full;
		facts.probes.push_back(probe);
	}
	facts.linked = linked;
	facts.clockSynchronized = true;
	facts.daemon.runs = facts.cdc.runs = false;
	return facts;
}

// The findings after @change of healthy facts. Each has an object and an advice.
doctor::Diagnosis diagnosisAfter(const std::function<void(doctor::Facts &)> &change)
{
	doctor::Facts facts = healthyFacts();
	change(facts);
	doctor::Diagnosis diagnosis = doctor::diagnose(facts);
	for (const doctor::Finding &one : diagnosis.findings) {
		CAPTURE(one.check, one.finding);
		CHECK_FALSE(one.object.empty());
		CHECK_FALSE(one.advice.empty());
	}
	return diagnosis;
}

// The only finding, as "SEVERITY CHECK OBJECT: FINDING (ADVICE)"; "" if there is none.
std::string onlyFinding(const std::function<void(doctor::Facts &)> &change)
{
	const doctor::Diagnosis diagnosis = diagnosisAfter(change);
	INFO(doctor::textOf(diagnosis));
	CHECK(diagnosis.findings.size() <= 1);
	if (diagnosis.findings.empty())
		return "";
	const doctor::Finding &one = diagnosis.findings.front();
	return std::string(doctor::toString(one.severity)) + " " + one.check + " " + one.object + ": " + one.finding +
	       " (" + one.advice + ")";
}

bool inFinding(const std::string &text, const std::string &part)
{
	INFO(text);
	INFO(part);
	return text.find(part) != text.npos;
}

Json controllerEvent(const char *event, const char *time)
{
	return {{"time", time}, {"event", event}, {"kind", "controller"}, {"name", "nvmeof0c1"}, {"nqn", "nqn.a"}};
}

Json lossEvent(const char *time)
{
	Json event = controllerEvent("state", time);
	event["old_state"] = "live";
	event["state"] = "recovering";
	return event;
}

// nvmeof0c1 is not connected, and its paths are not usable.
void loseFirst(doctor::Facts &facts)
{
	Controller &c = facts.snapshot.controllers[0];
	c.state = ControllerState::recovering;
	c.attempts = 4;
	c.lastError = "cannot connect";
	c.lastErrno = ECONNREFUSED;
	c.lossLeft = 590s;
	c.fastIoFail = -1ms;
	for (Path &path : facts.snapshot.paths)
		if (path.controller == c.name) {
			path.controllerState = c.state;
			path.usable = false;
		}
	for (Namespace &ns : facts.snapshot.namespaces)
		if (ns.subsystem == 0) {
			ns.livePaths = ns.usablePaths = 1;
		}
}

void giveTraffic(Path &path, std::size_t bucket)
{
	path.readLatency = {};
	path.readLatency[bucket] = 2000;
}

} // namespace

TEST_CASE("doctor: a healthy host has no findings", "[doctor]")
{
	const doctor::Diagnosis diagnosis = diagnosisAfter([](doctor::Facts &) {});
	CHECK(diagnosis.findings.empty());
	CHECK(diagnosis.skipped.empty());
	CHECK(diagnosis.exitCode() == 0);
	CHECK(doctor::textOf(diagnosis) ==
	      "no problems found; checked: 2 subsystems, 3 controllers, 3 namespaces, 5 paths\n");
	CHECK(doctor::diagnose({}).exitCode() == 0); // nothing is connected
}

TEST_CASE("doctor: a driver that cannot be read is a problem", "[doctor]")
{
	auto text = [](int error) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.snapshot = {};
			facts.unreadable = errorFromErrno(error, "why");
			if (error == ENOENT)
				facts.unreadable->code = ErrorCode::noModule;
		});
	};
	CHECK(inFinding(text(ENOENT), "problem driver_unreadable nvmeof: the state of the driver cannot be read: why"));
	CHECK(inFinding(text(ENOENT), "modprobe nvmeof_tcp"));
	CHECK(inFinding(text(EPERM), "run this as root"));
}

TEST_CASE("doctor: mismatches of versions are warnings", "[doctor]")
{
	CHECK(onlyFinding([](doctor::Facts &facts) {
		      facts.builds = {{"reload_needed", "nvmeof is loaded as 1", "reload"}};
	      }) == "warning reload_needed nvmeof: nvmeof is loaded as 1 (reload)");
}

TEST_CASE("doctor: a controller without a connection is named with its error, disks and the next step", "[doctor]")
{
	const std::string text = onlyFinding([](doctor::Facts &facts) {
		loseFirst(facts);
		facts.events = {controllerEvent("connect_failed", "2025-11-27T05:13:10.123Z")};
	});
	CHECK(inFinding(text, "warning controller_down nvmeof0c1: no connection to tcp 10.0.0.1:4420: recovering, 4 "
			      "attempts so far; last error: cannot connect: Connection refused, at 20"));
	CHECK(inFinding(text, "; its paths are removed in 590 s; nvmeof0n1 has 1 of 2 paths, nvmeof0n2 has 1 of 2 "
			      "paths (check that the target listens on 10.0.0.1:4420"));
	CHECK(inFinding(text, "'nvmeofctl events nvmeof0c1'"));
	CHECK(diagnosisAfter(loseFirst).exitCode() == 1); // the disks work

	auto step = [](const std::function<void(Controller &)> &change) {
		return onlyFinding([&](doctor::Facts &facts) {
			loseFirst(facts);
			change(facts.snapshot.controllers[0]);
		});
	};
	CHECK(inFinding(step([](Controller &c) { c.lastErrno = EHOSTUNREACH; }), "'ping 10.0.0.1'"));
	CHECK(inFinding(step([](Controller &c) { c.lastStatus = 0x184; }), "the target refuses"));
	auto authentication = [&](int sysErrno) { return step([&](Controller &c) { c.lastErrno = sysErrno; }); };
	CHECK(inFinding(authentication(ENOKEY), "'nvmeofctl set nvmeof0c1 dhchap-key=FILE'"));
	CHECK(inFinding(authentication(EKEYREVOKED), "give it a new key"));
	CHECK(inFinding(authentication(EKEYREJECTED), "compare the keys"));
	CHECK(inFinding(step([](Controller &c) {
				c.lastErrno = EKEYREJECTED;
				c.tls = Tls{};
			}),
			"compare the TLS keys"));
	CHECK(inFinding(step([](Controller &c) {
				c.lastErrno = EOPNOTSUPP;
				c.lastStatus = 0x1;
			}),
			"lack a function"));
	CHECK(inFinding(authentication(EPROTO), "violates the protocol"));
	const std::string lost = step([](Controller &c) { c.state = ControllerState::lost; });
	CHECK(inFinding(lost, "warning controller_lost nvmeof0c1: "));
	CHECK(inFinding(lost, lostNextStep("nvmeof0c1")));
	CHECK(diagnosisAfter([](doctor::Facts &facts) { // it is being disconnected
		      loseFirst(facts);
		      facts.snapshot.controllers[0].state = ControllerState::deleting;
		      for (Namespace &ns : facts.snapshot.namespaces)
			      ns.expectedPaths = ns.livePaths;
	      })
		      .findings.empty());
}

TEST_CASE("doctor: a missing carrier or route is the next step for a controller", "[doctor]")
{
	const doctor::Diagnosis dark = diagnosisAfter([](doctor::Facts &facts) {
		loseFirst(facts);
		facts.probes[0].carrier = false;
	});
	REQUIRE(dark.findings.size() == 2);
	CHECK(inFinding(dark.findings[0].advice, "eth0 has no carrier"));
	CHECK(dark.findings[1].check == "no_carrier");
	CHECK(dark.findings[1].object == "eth0");
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) { // one finding for both controllers
				facts.probes[0].carrier = facts.probes[1].carrier = false;
			}),
			"warning no_carrier eth0: no carrier, or down; used by nvmeof0c1, nvmeof0c2"));
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) {
				loseFirst(facts);
				facts.probes[0].routeErrno = ENETUNREACH;
			}),
			"there is no route to 10.0.0.1"));
	const doctor::Diagnosis elsewhere =
		diagnosisAfter([](doctor::Facts &facts) { facts.probes[0].routeErrno = ENETUNREACH; });
	CHECK(elsewhere.findings.empty()); // it is live
	REQUIRE(elsewhere.skipped.size() == 1);
	CHECK(elsewhere.skipped[0].reason == "no route from this network namespace");
	const doctor::Diagnosis suspect = diagnosisAfter([](doctor::Facts &facts) {
		facts.probes[0].routeErrno = ENETUNREACH;
		facts.snapshot.paths[0].suspect = facts.snapshot.paths[0].degraded = true;
	});
	CHECK(std::ranges::count(suspect.findings, "no_route", &doctor::Finding::check) == 1);
}

TEST_CASE("doctor: a target on this machine needs no carrier", "[doctor]")
{
	CHECK(onlyFinding([](doctor::Facts &facts) {
		      facts.probes[0].carrier = false;
		      facts.probes[0].local = true;
	      }).empty());
	CHECK_FALSE(inFinding(onlyFinding([](doctor::Facts &facts) {
				      loseFirst(facts);
				      facts.probes[0].carrier = false;
				      facts.probes[0].local = true;
			      }),
			      "carrier"));
}

TEST_CASE("doctor: the first attempt to connect is no finding", "[doctor]")
{
	auto text = [](ControllerState state, std::uint32_t attempts, const char *error) {
		return onlyFinding([&](doctor::Facts &facts) {
			loseFirst(facts);
			Controller &c = facts.snapshot.controllers[0];
			c.state = state;
			c.attempts = attempts;
			c.lastError = error;
			c.lastErrno = 0;
		});
	};
	CHECK(text(ControllerState::created, 0, "").empty());
	CHECK(text(ControllerState::connecting, 1, "").empty());
	CHECK(inFinding(text(ControllerState::connecting, 2, ""), "controller_down"));
	CHECK(inFinding(text(ControllerState::connecting, 1, "timed out"), "controller_down"));
	CHECK(inFinding(text(ControllerState::recovering, 0, ""), "controller_down"));
}

TEST_CASE("doctor: discovery controllers with the well-known NQN are independent of each other", "[doctor]")
{
	CHECK(onlyFinding([](doctor::Facts &facts) {
		      facts.snapshot.subsystems[0].nqn = discoveryNqn;
		      for (Controller &c : facts.snapshot.controllers)
			      c.firmware = "firmware of " + c.name;
		      facts.snapshot.controllers[1].ioQueues = 4;
	      }).empty());
}

TEST_CASE("doctor: events that cannot be read are a check that was left out", "[doctor]")
{
	const doctor::Diagnosis diagnosis =
		diagnosisAfter([](doctor::Facts &facts) { facts.eventsUnread = "Permission denied"; });
	CHECK(diagnosis.findings.empty());
	REQUIRE(diagnosis.skipped.size() == 1);
	CHECK(diagnosis.skipped[0].check == "events");
	CHECK(diagnosis.skipped[0].reason == "Permission denied");
}

TEST_CASE("doctor: a disk without a usable path is a problem", "[doctor]")
{
	const doctor::Diagnosis diagnosis = diagnosisAfter([](doctor::Facts &facts) {
		loseFirst(facts);
		facts.snapshot.controllers.erase(facts.snapshot.controllers.begin() + 1);
		std::erase_if(facts.snapshot.paths, [](const Path &path) { return path.controller == "nvmeof0c2"; });
		std::erase_if(facts.snapshot.namespaces, [](const Namespace &ns) { return ns.name == "nvmeof0n2"; });
		Namespace &ns = facts.snapshot.namespaces[0];
		ns.usablePaths = ns.livePaths = 0;
		ns.expectedPaths = 1;
		ns.waiting = 17;
		ns.noPathSince = 965s;
	});
	REQUIRE(diagnosis.findings.size() == 2);
	CHECK(diagnosis.exitCode() == 2);
	CHECK(diagnosis.findings[0].check == "no_usable_path"); // the problem is first
	CHECK(diagnosis.findings[0].object == "nvmeof0n1");
	CHECK(diagnosis.findings[0].finding ==
	      "no usable path for 35 s; 17 requests wait until a path returns, for 590 s at most");
	CHECK(diagnosis.findings[0].advice == "restore nvmeof0c1: the finding about it names the cause");
	CHECK(diagnosis.findings[1].check == "controller_down");

	const std::string ana = onlyFinding([](doctor::Facts &facts) {
		facts.snapshot.paths[4].anaState = AnaState::inaccessible;
		facts.snapshot.namespaces[2].usablePaths = 0;
		facts.snapshot.namespaces[2].noPathSince = 990s;
	});
	CHECK(inFinding(ana, "problem no_usable_path nvmeof1n1: "));
	CHECK(inFinding(ana, "ANA: nvmeof1c1n1 inaccessible"));
	CHECK(inFinding(ana, "at the target"));

	auto waiting = [](std::optional<std::chrono::milliseconds> firmware) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.snapshot.controllers[2].firmwareLeft = firmware;
			facts.snapshot.namespaces[2].usablePaths = 0;
			facts.snapshot.namespaces[2].noPathSince = 990s;
		});
	};
	CHECK(inFinding(waiting(std::nullopt), "('nvmeofctl rescan nvmeof1c1'; the kernel log"));
	CHECK(inFinding(waiting(12s), "; firmware activation on nvmeof1c1, 12 s at most (wait: "));
}

TEST_CASE("doctor: a path that is missing though all controllers are live", "[doctor]")
{
	const std::string text = onlyFinding([](doctor::Facts &facts) {
		facts.snapshot.paths.erase(facts.snapshot.paths.begin() + 2); // nvmeof0c2n1
		facts.snapshot.namespaces[0].paths = facts.snapshot.namespaces[0].livePaths = 1;
	});
	CHECK(inFinding(text, "warning path_missing nvmeof0n1: 1 of 2 expected paths"));
	CHECK(inFinding(text, "none through nvmeof0c2 ('nvmeofctl rescan nvmeof0c2'"));
}

TEST_CASE("doctor: held requests, and until when", "[doctor]")
{
	auto text = [](Fencing fencing) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.snapshot.subsystems[0].fencing = fencing;
			facts.snapshot.namespaces[0].held = 5;
			facts.snapshot.namespaces[0].hold = Hold{"nvmeof0c1", "", 33s};
		});
	};
	CHECK(inFinding(text(Fencing::safe), "problem requests_held nvmeof0n1: 5 requests held for 33 s at most "
					     "(until "));
	CHECK(inFinding(text(Fencing::safe), "'nvmeofctl set nvmeof0 fencing=auto'"));
	CHECK_FALSE(inFinding(text(Fencing::automatic), "fencing=auto"));
}

TEST_CASE("doctor: suspect, probation, degraded and slow paths", "[doctor]")
{
	auto text = [](const std::function<void(Path &)> &change) {
		return onlyFinding([&](doctor::Facts &facts) {
			for (Path &path : facts.snapshot.paths)
				giveTraffic(path, 8);
			change(facts.snapshot.paths[0]);
		});
	};
	auto degraded = [&](bool Path::*why) { return text([&](Path &path) { path.degraded = path.*why = true; }); };
	CHECK(text([](Path &) {}).empty());
	CHECK(inFinding(degraded(&Path::suspect), "warning path_suspect nvmeof0c1: 10.0.0.1:4420 does not answer; no "
						  "new I/O goes to nvmeof0c1n1"));
	CHECK(inFinding(degraded(&Path::probation),
			"warning path_probation nvmeof0c1: connection lost repeatedly; on probation: nvmeof0c1n1"));
	CHECK(inFinding(degraded(&Path::degraded), "warning path_degraded nvmeof0c1n1: avoided as an outlier"));
	CHECK(text([](Path &path) { giveTraffic(path, 10); }).empty()); // 4 times as long
	const std::string slow = text([](Path &path) { giveTraffic(path, 14); });
	CHECK(inFinding(slow, "warning path_slow nvmeof0c1n1: slow: half of the reads took over "));
	CHECK(inFinding(slow, "on nvmeof0c2n1"));
	CHECK(text([](Path &path) { // another ANA state may be slower
		      giveTraffic(path, 14);
		      path.anaState = AnaState::nonOptimized;
	      })
		      .empty());
	CHECK(inFinding(text([](Path &path) {
				giveTraffic(path, 14);
				path.degraded = true;
			}),
			"half of the reads took over"));
}

TEST_CASE("doctor: ANA states that do not end by themselves", "[doctor]")
{
	CHECK(inFinding(
		onlyFinding([](doctor::Facts &facts) { facts.snapshot.paths[0].anaState = AnaState::persistentLoss; }),
		"warning ana_persistent_loss nvmeof0c1n1: "));
	auto change = [](std::chrono::seconds since) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.snapshot.paths[0].anaState = AnaState::change;
			facts.snapshot.paths[0].anaSince = since;
		});
	};
	CHECK(change(950s).empty());
	CHECK(inFinding(change(900s), "warning ana_change nvmeof0c1n1: the target reports ANA state change for "));
}

TEST_CASE("doctor: a path that is lost again and again", "[doctor]")
{
	auto text = [](std::vector<Json> events) {
		return onlyFinding([&](doctor::Facts &facts) { facts.events = std::move(events); });
	};
	const Json first = lossEvent("2025-11-27T05:06:10.000Z"), second = lossEvent("2025-11-27T05:08:10.000Z"),
		   third = lossEvent("2025-11-27T05:12:10.000Z"), old = lossEvent("2025-11-27T04:00:10.000Z");
	CHECK(text({first, second}).empty());
	CHECK(text({old, second, third}).empty());
	CHECK(inFinding(text({first, second, third}), "warning path_flapping nvmeof0c1: lost its connection to "
						      "10.0.0.1:4420 3 times within 10 minutes"));
	Json other = first;
	other["nqn"] = "nqn.other"; // an earlier controller of that name
	CHECK(text({other, second, third}).empty());
}

TEST_CASE("doctor: a controller that is connected without what a rule requires", "[doctor]")
{
	auto finding = [](const SecurityRule &rule, const std::function<void(Controller &)> &change = {}) {
		return onlyFinding([&](doctor::Facts &facts) {
			Controller &c = facts.snapshot.controllers[0];
			c.tls.reset();
			c.authRequired = false;
			c.authentication.reset();
			for (Controller &other : facts.snapshot.controllers)
				if (other.name != c.name)
					other.subsysnqn = "nqn.other";
			if (change)
				change(c);
			facts.rules[c.subsysnqn] = rule;
		});
	};
	const SecurityRule auth{SecurityUse::required, {}, "/etc/nvmeof/nvmeof.toml:7"};
	const SecurityRule tls{{}, SecurityUse::required, "/etc/nvmeof/nvmeof.toml:7"};
	CHECK(inFinding(finding(auth), "warning security_rule nvmeof0c1: connected without authentication, which "
				       "[[security]] at /etc/nvmeof/nvmeof.toml:7 requires for "));
	CHECK(inFinding(finding(auth),
			"('nvmeofctl disconnect nvmeof0c1', while its disks have another path or are not "
			"in use, then connect again with dhchap-key; or change the rule)"));
	CHECK(inFinding(finding(tls), "connected without TLS"));
	CHECK(finding(auth, [](Controller &c) { c.authRequired = true; }).empty());
	CHECK(finding(tls, [](Controller &c) { c.tls = Tls(); }).empty());
	CHECK(finding({SecurityUse::preferred, SecurityUse::off, "c:1"}).empty());
}

TEST_CASE("doctor: queues that were not granted", "[doctor]")
{
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) {
				facts.snapshot.controllers[0].ioQueues = 4;
				facts.snapshot.controllers[0].wantedPollQueues = 4;
				facts.snapshot.controllers[0].pollQueues = 2;
			}),
			"warning queues_not_granted nvmeof0c1: 2 of 4 requested poll queues granted"));
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) {
				facts.snapshot.controllers[0].ioQueues = 1;
				facts.snapshot.controllers[1].ioQueues = 8;
				facts.snapshot.controllers[2].ioQueues = 2; // of another subsystem
			}),
			"warning fewer_io_queues nvmeof0c1: 1 I/O queue, nvmeof0c2 has 8"));
	CHECK(onlyFinding([](doctor::Facts &facts) {
		      facts.snapshot.controllers[0].ioQueues = 1;
		      facts.snapshot.controllers[1].ioQueues = 8;
		      facts.snapshot.controllers[1].transport = "rdma"; // has limits of its own
	      }).empty());
}

TEST_CASE("doctor: firmware that differs within a subsystem", "[doctor]")
{
	auto text = [](const char *second) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.snapshot.controllers[0].firmware = "1.0";
			facts.snapshot.controllers[1].firmware = second;
			facts.snapshot.controllers[2].firmware = "3.0"; // of another subsystem
		});
	};
	CHECK(text("1.0").empty());
	CHECK(inFinding(text("2.0"),
			"warning firmware_differs nvmeof0: its controllers have different firmware: 1.0 on "
			"nvmeof0c1, 2.0 on nvmeof0c2"));
}

TEST_CASE("doctor: the in-tree driver on the same subsystem or namespace", "[doctor]")
{
	const std::string text = onlyFinding([](doctor::Facts &facts) {
		facts.inTree["nqn.a"] = {{"nvme0", "tcp", "live"}};
		facts.disks = {{"nvmeof0n1", "nqn.a", 1, "uuid.nvmeof0n1", 1, false},
			       {"nvme0n1", "nqn.a", 1, "uuid.nvmeof0n1", 2, true}};
		facts.linked->erase("nvmeof0n1"); // the other disk may have the links
	});
	CHECK(inFinding(text, "problem other_driver nvmeof0: the in-tree NVMe driver is connected to nqn.a, too: nvme0 "
			      "(tcp, live)"));
	CHECK(inFinding(text, "'nvme disconnect -n nqn.a'"));
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) { // by another NQN
				facts.disks = {{"nvmeof0n1", "nqn.a", 1, "uuid.nvmeof0n1", 1, false},
					       {"nvme0n1", "nqn.x", 1, "uuid.nvmeof0n1", 2, true}};
			}),
			"problem other_driver nvmeof0n1: the in-tree NVMe driver has the same namespace as "
			"/dev/nvme0n1"));
	const doctor::Diagnosis same = diagnosisAfter(
		[](doctor::Facts &facts) { facts.snapshot.namespaces[2].wwid = facts.snapshot.namespaces[0].wwid; });
	REQUIRE(same.findings.size() == 2); // of each disk
	CHECK(same.findings[0].check == "same_identifiers");
}

TEST_CASE("doctor: one host NQN with two host IDs, and one host ID with two NQNs", "[doctor]")
{
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) {
				facts.snapshot.subsystems[1].hostid =
					Uuid::parse("22345678-9abc-4def-8123-456789abcdef");
			}),
			"problem host_identity nqn.host: used with several host IDs"));
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) { facts.snapshot.subsystems[1].hostnqn = "nqn.other"; }),
			"problem host_identity 12345678-9abc-4def-8123-456789abcdef: used with several host NQNs"));
}

TEST_CASE("doctor: an MTU that differs on the way", "[doctor]")
{
	auto after = [](const std::function<void(doctor::PathProbe &)> &change) {
		return diagnosisAfter([&](doctor::Facts &facts) { change(facts.probes[0]); });
	};
	doctor::Diagnosis diagnosis = after([](doctor::PathProbe &probe) {
		probe.mtu = 9000;
		probe.echo = doctor::Echo::small;
	});
	REQUIRE(diagnosis.findings.size() == 1);
	CHECK(diagnosis.findings[0].check == "mtu_mismatch");
	CHECK(diagnosis.findings[0].object == "nvmeof0c1");
	CHECK(inFinding(diagnosis.findings[0].finding, "packets of 9000 bytes"));
	CHECK_FALSE(inFinding(diagnosis.findings[0].finding, "router"));
	diagnosis = after([](doctor::PathProbe &probe) {
		probe.mtu = 9000;
		probe.pathMtu = 1500;
		probe.echo = doctor::Echo::small;
	});
	REQUIRE(diagnosis.findings.size() == 1);
	CHECK(inFinding(diagnosis.findings[0].finding, "a router reports an MTU of 1500"));
	diagnosis = after([](doctor::PathProbe &probe) { probe.echo = doctor::Echo::none; });
	CHECK(diagnosis.findings.empty());
	REQUIRE(diagnosis.skipped.size() == 1);
	CHECK(diagnosis.skipped[0].reason == "10.0.0.1 does not answer ping");
	CHECK(after([](doctor::PathProbe &probe) { probe.skipped = "not permitted"; }).skipped[0].reason ==
	      "not permitted");
	diagnosis = after([](doctor::PathProbe &probe) { // a target on this machine
		probe.local = true;
		probe.echo = doctor::Echo::none;
	});
	CHECK(diagnosis.skipped.empty());
}

TEST_CASE("doctor: checks that are left out are named with the reason", "[doctor]")
{
	const doctor::Diagnosis diagnosis = diagnosisAfter([](doctor::Facts &facts) {
		facts.snapshot.controllers[2].transport = "rdma";
		facts.probes.clear();
		facts.probed = false;
		facts.linked.reset();
	});
	CHECK(diagnosis.findings.empty());
	CHECK(diagnosis.exitCode() == 0);
	CHECK(doctor::textOf(diagnosis) ==
	      "not checked: mtu of nvmeof0c1, nvmeof0c2: --no-probe is given\n"
	      "not checked: mtu of nvmeof1c1: over RDMA the devices agree on the MTU when they connect\n"
	      "not checked: links of udev: udev does not run\n"
	      "no problems found; checked: 2 subsystems, 3 controllers, 3 namespaces, 5 paths\n");
}

TEST_CASE("doctor: a disk without links", "[doctor]")
{
	CHECK(inFinding(onlyFinding([](doctor::Facts &facts) { facts.linked->erase("nvmeof0n2"); }),
			"warning links_missing nvmeof0n2: no link in /dev/disk/by-id names the disk"));
	CHECK(onlyFinding([](doctor::Facts &facts) {
		      facts.linked->erase("nvmeof0n2");
		      facts.snapshot.namespaces[1].wwid.clear(); // by which a link could be made
	      }).empty());
}

TEST_CASE("doctor: the clock matters where a service runs", "[doctor]")
{
	auto text = [](bool daemon, bool cdc) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.clockSynchronized = false;
			facts.daemon.runs = daemon;
			facts.cdc.runs = cdc;
		});
	};
	CHECK(text(false, false).empty());
	CHECK(inFinding(text(true, false), "warning clock_unsynchronized clock: "));
	CHECK(inFinding(text(false, true), "warning clock_unsynchronized clock: "));
}

TEST_CASE("doctor: a clock that was set back", "[doctor]")
{
	auto text = [](std::vector<const char *> times) {
		return onlyFinding([&](doctor::Facts &facts) {
			for (const char *time : times)
				facts.events.push_back({{"time", time}, {"event", "added"}, {"kind", "subsystem"}});
		});
	};
	CHECK(text({"2025-11-27T05:00:00.000Z", "2025-11-27T04:59:30.000Z"}).empty()); // delayed
	CHECK(inFinding(text({"2025-11-27T05:10:00.000Z", "2025-11-27T04:10:00.000Z", "2025-11-27T04:20:00.000Z"}),
			"warning clock_jump clock: was set back by 1:00 h before "));
	CHECK(inFinding(text({"2025-11-27T06:14:10.000Z"}), "warning clock_jump clock: was set back by 1:00 h"));
	CHECK(text({"2025-11-20T05:10:00.000Z", "2025-11-20T04:10:00.000Z"}).empty()); // long ago
}

TEST_CASE("doctor: nvmeofd that should run and does not, or does not answer", "[doctor]")
{
	auto text = [](bool enabled, std::optional<bool> runs, const char *error) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.daemon.enabled = enabled;
			facts.daemon.runs = runs;
			facts.daemon.error = error;
		});
	};
	CHECK(text(false, false, "").empty());
	CHECK(text(false, std::nullopt, "").empty());
	CHECK(inFinding(text(true, false, ""), "warning daemon_down nvmeofd: "));
	CHECK(inFinding(text(true, std::nullopt, ""), "warning daemon_silent nvmeofd: "));
	CHECK(inFinding(text(false, true, "no answer within a second"),
			"warning daemon_silent nvmeofd: runs, but does not answer: no answer within a second"));
}

TEST_CASE("doctor: trouble that nvmeofd reports", "[doctor]")
{
	auto text = [](const char *status) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.daemon.runs = true;
			facts.daemon.status = Json::parse(status);
		});
	};
	CHECK(text(R"({"paused": false, "services": [{"service": "s", "state": "watching", "error": "old"}],
		       "connections": [{"nqn": "nqn.a", "state": "live"}, {"nqn": "nqn.b", "state": "missing"}],
		       "unresolved": {}, "stripes": [{"name": "x", "state": "made"}]})")
		      .empty());
	CHECK(text("{}").empty());
	CHECK(inFinding(text(R"({"paused": true})"), "warning daemon_paused nvmeofd: "));
	CHECK(inFinding(text(R"({"services": [{"service": "tcp 10.0.0.5:8009", "state": "connecting", "age_s": 7200.5,
					       "error": "No route to host"}]})"),
			"warning discovery_failed tcp 10.0.0.5:8009: discovery service, connecting: No route to host; "
			"its log was read 2:00 h ago"));
	CHECK(inFinding(text(R"({"services": [{"service": "s", "state": "connecting", "error": "e"}]})"),
			"its log was never read"));
	CHECK(inFinding(text(R"({"connections": [{"nqn": "nqn.b", "address": "10.0.0.9:4420", "transport": "tcp",
						  "state": "missing", "error": "refused"}]})"),
			"warning connection_missing nqn.b: nvmeofd cannot connect to tcp 10.0.0.9:4420: refused"));
	CHECK(inFinding(text(R"({"unresolved": {"target.example": "no such name"}})"),
			"warning name_unresolved target.example: no address: no such name"));
	CHECK(inFinding(text(R"({"stripes": [{"name": "scratch", "state": "failed", "error": "no disk"}]})"),
			"warning stripe_failed scratch: the stripe cannot be created: no disk"));
}

TEST_CASE("doctor: nvmeof-cdc that does not run, does not answer, or reports trouble", "[doctor]")
{
	auto silent = [](bool enabled, std::optional<bool> runs, const char *error) {
		return diagnosisAfter([&](doctor::Facts &facts) {
			facts.cdc.enabled = enabled;
			facts.cdc.runs = runs;
			facts.cdc.error = error;
		});
	};
	CHECK(silent(false, false, "").findings.empty());
	REQUIRE(silent(true, false, "").findings.size() == 1);
	CHECK(silent(true, false, "").findings[0].check == "cdc_down");
	REQUIRE(silent(false, true, "timed out").findings.size() == 1);
	CHECK(silent(false, true, "timed out").findings[0].check == "cdc_silent");
	CHECK(silent(true, std::nullopt, "Permission denied").findings.empty());
	CHECK(silent(true, std::nullopt, "Permission denied").skipped.size() == 1);

	auto text = [](const char *status) {
		return onlyFinding([&](doctor::Facts &facts) {
			facts.cdc.runs = true;
			facts.cdc.status = Json::parse(status);
		});
	};
	CHECK(text(R"({"serving": true, "store": {"place": "/x"}, "counts": {"cloned": 0}})").empty());
	CHECK(inFinding(text(R"({"serving": false})"), "warning cdc_not_serving nvmeof-cdc: "));
	CHECK(inFinding(text(R"({"store": {"place": "http://etcd", "trouble": "refused", "stale_since": 1764216850}})"),
			"warning cdc_store nvmeof-cdc: its store: refused; its records are 1:00 h old (check "
			"http://etcd"));
	CHECK(inFinding(text(R"({"counts": {"cloned": 2}})"),
			"warning hostnqn_shared nvmeof-cdc: 2 host NQNs are used by more than one machine"));
}

TEST_CASE("doctor: the control socket of nvmeof-cdc as configured", "[doctor]")
{
	CHECK(cdcSocketIn("") == usualCdcSocket);
	CHECK(cdcSocketIn("threads = 4\n#control = \"/a\"\n") == usualCdcSocket);
	CHECK(cdcSocketIn("threads = 4\n control\t= \"/run/a\" # of a test\n[limits]\n") == "/run/a");
	CHECK(cdcSocketIn("control='/run/a'") == "/run/a");
	CHECK(cdcSocketIn("[table]\ncontrol = \"/run/a\"\n") == usualCdcSocket);
	for (const char *damaged :
	     {"control", "control =", "control = ", "control = \"", "control = \"/a", "controls = 1"})
		CHECK(cdcSocketIn(damaged) == usualCdcSocket);
}

TEST_CASE("doctor: its manual page and its help give its own exit codes", "[doctor]")
{
	const Command *command = findCommand("doctor");
	REQUIRE(command);
	const std::string codes = "0 without findings, 1 with warnings only, 2 with at least one problem.";
	CHECK(inFinding(manPage(*command), "\n.SH EXIT STATUS\n" + codes + "\n"));
	std::string help = helpOf(*command);
	std::ranges::replace(help, '\n', ' '); // it is wrapped
	CHECK(inFinding(help, " Exit status: " + codes + " "));
}

TEST_CASE("doctor: the text has one line for each finding, and an end", "[doctor]")
{
	doctor::Diagnosis diagnosis;
	for (int i = 0; i < 30; i++)
		diagnosis.findings.push_back({doctor::Severity::warning, "check", "nvmeof0c1", "bad\nthing", "do"});
	const std::string text = doctor::textOf(diagnosis);
	CHECK(text.starts_with("warning: nvmeof0c1: bad?thing (do)\n"));
	CHECK(text.ends_with("\nand 10 more; --json prints all\n0 problems, 30 warnings; checked: 0 subsystems, 0 "
			     "controllers, 0 namespaces, 0 paths\n"));
	CHECK(std::ranges::count(text, '\n') == 22);
	CHECK(doctor::documentOf(diagnosis)["findings"].size() == 30);
}
