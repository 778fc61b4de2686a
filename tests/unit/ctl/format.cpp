// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>
#include <algorithm>
#include <cerrno>

#include "when.h"
#include "format.h"
#include "latency.h"
#include "json.h"
#include "list.h"
#include "terminal.h"
#include "table.h"
#include "tests/unit/controller_at.h"

using namespace nvmeof;

namespace {

Path pathOn(const char *controller, const char *ns, AnaState state)
{
	Path p;
	p.controller = controller;
	p.nameSpace = ns;
	p.anaState = state;
	p.controllerState = ControllerState::live;
	return p;
}

} // namespace

TEST_CASE("a table aligns its columns", "[format]")
{
	Table table({{"Node"}, {"Size", Align::right}});
	table.add({"/dev/nvmeof0n1", "1"});
	table.add({"x", "1000000"});
	table.add({"esc\x1b[2J"});
	CHECK(table.render() == "Node               Size\n"
				"--------------  -------\n"
				"/dev/nvmeof0n1        1\n"
				"x               1000000\n"
				"esc?[2J\n");
}

TEST_CASE("sizes are printed with units", "[format]")
{
	CHECK(formatSize(0) == "0 B");
	CHECK(formatSize(999) == "999 B");
	CHECK(formatSize(1000) == "1.00 kB");
	CHECK(formatSize(999999) == "1.00 MB");
	CHECK(formatSize(107374182400) == "107.37 GB");
	CHECK(formatSize(UINT64_MAX) == "18.45 EB");
}

TEST_CASE("subsystems are printed in the format of nvme-cli", "[format]")
{
	Subsystem s;
	s.name = "nvmeof0";
	s.nqn = "nqn.a";
	s.hostnqn = "nqn.h";
	s.iopolicy = "numa";
	std::vector<Controller> controllers{controllerAt("nvmeof0c1", "10.0.0.1"), controllerAt("nvmeof0c2", "::1"),
					    controllerAt("nvmeof0c3", "10.0.0.3")};
	std::vector<Path> paths{pathOn("nvmeof0c1", "nvmeof0n1", AnaState::optimized),
				pathOn("nvmeof0c2", "nvmeof0n1", AnaState::optimized),
				pathOn("nvmeof0c2", "nvmeof0n2", AnaState::inaccessible),
				pathOn("nvmeof0c3", "nvmeof0n1", AnaState::none)};
	for (Path &path : paths)
		path.controllerState = ControllerState::live;
	CHECK(formatSubsystems({s}, controllers, paths) ==
	      "nvmeof0 - NQN=nqn.a\n"
	      "          hostnqn=nqn.h\n"
	      "          iopolicy=numa\n"
	      "\\\n"
	      " +- nvmeof0c1 tcp traddr=10.0.0.1,trsvcid=4420 live optimized\n"
	      " +- nvmeof0c2 tcp traddr=::1,trsvcid=4420 live nvmeof0n1=optimized nvmeof0n2=inaccessible\n"
	      " +- nvmeof0c3 tcp traddr=10.0.0.3,trsvcid=4420 live\n");
	controllers[0].state = ControllerState::connecting;
	for (Path &path : paths)
		if (path.controller == controllers[0].name)
			path.controllerState = ControllerState::connecting;
	paths[2].degraded = paths[3].degraded = paths[3].suspect = true;
	const std::string text = formatSubsystems({s}, controllers, paths);
	INFO(text);
	CHECK(text.find("traddr=10.0.0.1,trsvcid=4420 connecting was optimized\n") != text.npos);
	CHECK(text.find("nvmeof0n2=inaccessible, nvmeof0n2 degraded\n") != text.npos);
	CHECK(text.find("traddr=10.0.0.3,trsvcid=4420 live, suspect\n") != text.npos);
}

TEST_CASE("slow and degraded paths are marked", "[format]")
{
	Path fast = pathOn("nvmeof0c1", "nvmeof0n1", AnaState::optimized), slow = fast;
	fast.name = "nvmeof0c1n1";
	slow.name = "nvmeof0c2n1";
	slow.controller = "nvmeof0c2";
	fast.controllerState = slow.controllerState = ControllerState::live;
	fast.writeLatency[8] = slow.writeLatency[14] = 1000;
	Namespace ns;
	ns.name = "nvmeof0n1";
	ns.paths = ns.usablePaths = 2;
	CHECK(conditionOf(fast, slowPaths({fast, slow})) == "live");
	CHECK(conditionOf(slow, slowPaths({fast, slow})) == "slow");
	CHECK(conditionOf(slow, slowPaths({slow})) == "live"); // nothing to compare with
	const SlowPaths found = slowPaths({fast, slow});
	REQUIRE(found.contains(slow.name));
	CHECK(found.at(slow.name).op == std::string("writes"));
	CHECK(found.at(slow.name).fastest == "nvmeof0c1n1");
	CHECK(formatNamespaces({ns}, {}, {fast, slow}).find("2/2, 1 slow") != std::string::npos);
	CHECK(formatPaths({fast, slow}, std::chrono::seconds(1)).find("nvmeof0c2n1  slow ") != std::string::npos);
	slow.degraded = true;
	CHECK(formatNamespaces({ns}, {}, {fast, slow}).find("2/2, 1 degraded") != std::string::npos);
	slow.degraded = false;
	slow.controllerState = ControllerState::connecting;
	CHECK(conditionOf(slow, slowPaths({fast, slow})) == "connecting");
	CHECK(formatNamespaces({ns}, {}, {fast, slow}).find("2/2,") == std::string::npos);
	slow.controllerState = ControllerState::live;
	slow.writeLatency[14] = 999; // too few
	CHECK(slowPaths({fast, slow}).empty());
	CHECK(muchSlower(std::chrono::microseconds(1200), std::chrono::microseconds(100)));
	CHECK_FALSE(muchSlower(std::chrono::microseconds(900), std::chrono::microseconds(100))); // less than 1 ms more
	CHECK_FALSE(muchSlower(std::chrono::milliseconds(80), std::chrono::milliseconds(10)));   // 8 times
}

TEST_CASE("JSON has its schema version first and tolerates invalid UTF-8", "[format]")
{
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.serial = "bad\xff";
	c.lastStatus = 0x184;
	std::string text = dump(withSchema(Json{{"object", toJson(c)}}), -1);
	CHECK(text.starts_with("{\"schema_version\":1,"));
	Json parsed = Json::parse(text);
	CHECK(parsed["object"]["serial"] == "bad\xef\xbf\xbd");
	CHECK(parsed["object"]["last_error"]["nvme_status"] == 0x184);
	CHECK_FALSE(parsed["object"].contains("cntlid"));
	CHECK(parsed["object"]["state"] == "live");
}

TEST_CASE("an event as a line and as JSON", "[format]")
{
	Event e;
	e.type = EventType::state;
	e.time = std::chrono::milliseconds(1500);
	e.object = controllerAt("nvmeof0c1", "10.0.0.1");
	e.oldState = ControllerState::connecting;
	CHECK(formatEvent(e) == "[      1.500000] nvmeof0c1 state connecting -> live tcp traddr=10.0.0.1,trsvcid=4420");
	std::string line = dump(withSchema(toJson(e)), -1);
	CHECK(line.find('\n') == line.npos);
	Json json = Json::parse(line);
	CHECK(json["kind"] == "controller");
	CHECK(json["old_state"] == "connecting");
	CHECK(json["object"]["name"] == "nvmeof0c1");
	Event lost;
	lost.type = EventType::lost;
	CHECK_FALSE(toJson(lost).contains("object"));
}

TEST_CASE("a failover as a line and as JSON", "[format]")
{
	Namespace ns;
	ns.name = "nvmeof0n1";
	Event e;
	e.type = EventType::failover;
	e.time = std::chrono::milliseconds(1500);
	e.object = ns;
	e.failover = Failover{"nvmeof0c1n1", 12, std::chrono::microseconds(3200)};
	CHECK(formatEvent(e) == "[      1.500000] nvmeof0n1 failover 12 I/Os failed over from nvmeof0c1n1 in 3.20 ms");
	Json json = toJson(e);
	CHECK(json["event"] == "failover");
	CHECK(json["failover"]["path"] == "nvmeof0c1n1");
	CHECK(json["failover"]["ios"] == 12);
	CHECK(json["failover"]["duration_ns"] == 3200000);
	e.failover->ios = 1;
	CHECK(formatEvent(e).find("1 I/O failed over") != std::string::npos);
}

TEST_CASE("a path's change of ANA state, degraded and restored", "[format]")
{
	Event e;
	e.type = EventType::state;
	Path p = pathOn("nvmeof0c1", "nvmeof0n1", AnaState::inaccessible);
	p.name = "nvmeof0c1n1";
	e.object = p;
	CHECK(formatEvent(e) == "[      0.000000] nvmeof0c1n1 state ana=inaccessible not usable");
	CHECK(formatEvent(e, AnaBefore{AnaState::optimized, std::chrono::milliseconds(1250)}) ==
	      "[      0.000000] nvmeof0c1n1 state ana=inaccessible not usable (was optimized for 1.25 s)");
	e.type = EventType::degraded;
	CHECK(formatEvent(e).find("nvmeof0c1n1 degraded ") != std::string::npos);
	e.type = EventType::restored;
	CHECK(formatEvent(e).find("nvmeof0c1n1 restored ") != std::string::npos);
}

TEST_CASE("paths are printed as a table", "[format]")
{
	Path p = pathOn("nvmeof0c1", "nvmeof0n1", AnaState::optimized);
	p.name = "nvmeof0c1n1";
	p.anaSince = std::chrono::seconds(100);
	p.readLatency[4] = 100;
	p.failoversFrom = 7;
	p.lastError = "reset by peer";
	CHECK(formatPaths({p}, std::chrono::seconds(225)) ==
	      "Path         State  ANA           Since     Read p50/p99  Write p50/p99  From  To  Last error\n"
	      "-----------  -----  ---------  --------  ---------------  -------------  ----  --  -------------\n"
	      "nvmeof0c1n1  live   optimized  2:05 min  12.3 us/16.3 us              -     7   0  reset by peer\n");
	p.degraded = true;
	p.anaSince.reset();
	std::string text = formatPaths({p}, std::chrono::seconds(225));
	CHECK(text.find("degraded") != std::string::npos);
	CHECK(text.find("min") == std::string::npos);
}

TEST_CASE("the ANA state of a path whose controller is not live is not shown as current", "[format]")
{
	using namespace std::chrono_literals;
	Path p = pathOn("nvmeof0c1", "nvmeof0n1", AnaState::optimized);
	p.name = "nvmeof0c1n1";
	p.anaSince = std::chrono::seconds(100);
	CHECK(formatAna(p) == "optimized");
	p.controllerState = ControllerState::connecting;
	CHECK(formatAna(p) == "was optimized");
	CHECK(formatSince(p, std::chrono::seconds(225)) == "-");
	const std::string table = formatPaths({p}, std::chrono::seconds(225));
	CHECK(table.find("connecting  was optimized      -") != std::string::npos);
	const Fields fields = fieldsOf(p, std::chrono::seconds(225));
	auto ana = std::ranges::find(fields, "ana state", [](const auto &field) { return field.first; });
	REQUIRE(ana != fields.end());
	CHECK(ana->second == "was optimized");
	Subsystem s;
	s.name = "nvmeof0";
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.state = ControllerState::connecting;
	CHECK(formatSubsystems({s}, {c}, {p}).find("trsvcid=4420 connecting was optimized\n") != std::string::npos);
	Path other = p;
	other.nameSpace = "nvmeof0n2";
	other.anaState = AnaState::inaccessible;
	CHECK(formatSubsystems({s}, {c}, {p, other})
		      .find("connecting was nvmeof0n1=optimized nvmeof0n2=inaccessible\n") != std::string::npos);
	p.anaState = AnaState::none;
	CHECK(formatSubsystems({s}, {c}, {p}).find("connecting\n") != std::string::npos);
	CHECK(formatSubsystems({s}, {c}, {p}).find("tls") == std::string::npos);
	c.authentication = Authentication{"SHA-256", "ffdhe2048", true, 800s};
	c.authKey = AuthKey{17, 700s, ""};
	c.tls = Tls{"AES-GCM-128", 18, 19, "NVMe1R01 nqn.h nqn.a x", 600s, 810s};
	std::string text = formatSubsystems({s}, {c}, {p}, Detail::verbose, 1000s);
	INFO(text);
	CHECK(text.find("     authenticated: host and controller, 3:20 min ago, by SHA-256 and DH group ffdhe2048, "
			"key 17, set 5:00 min ago") != std::string::npos);
	c.tls->generated = true;
	CHECK(formatSubsystems({s}, {c}, {p}, Detail::verbose, 1000s)
		      .find("key 19 (NVMe1R01 nqn.h nqn.a x), generated 6:40 min ago\n") != std::string::npos);
	CHECK(text.find("     tls: AES-GCM-128, 3:10 min ago, key 19 (NVMe1R01 nqn.h nqn.a x), set 6:40 min ago\n") !=
	      std::string::npos);
	c = Controller();
	c.authRequired = true;
	CHECK(formatSubsystems({s}, {c}, {p}, Detail::verbose, 1000s)
		      .find("authenticated: no, required\n     tls: no\n") != std::string::npos);
}

TEST_CASE("durations are printed with units", "[format]")
{
	using namespace std::chrono_literals;
	CHECK(formatAge(-5s) == "0 s");
	CHECK(formatAge(59900ms) == "59 s");
	CHECK(formatAge(125s) == "2:05 min");
	CHECK(formatAge(3h + 10min) == "3:10 h");
	CHECK(formatAge(100h) == "4 d");
}

TEST_CASE("policy values as JSON", "[format]")
{
	Subsystem s;
	s.iopolicy = "latency";
	s.spillLatency = std::chrono::microseconds(500);
	s.fencing = Fencing::safe;
	Json json = toJson(s);
	CHECK(json["iopolicy"] == "latency");
	CHECK(json["spill_us"] == 500);
	CHECK(json["spill_depth"] == 0);
	CHECK(json["degrade"] == false);
	CHECK(json["fencing"] == "safe");
	CHECK(json["delayed_removal_secs"] == 0);
}

TEST_CASE("an error as JSON", "[format]")
{
	Error error = errorFromErrno(114, "already connected"); // EALREADY
	error.object = ErrorObject::named("nvmeof0c1");
	Json json = toJson(error);
	CHECK(json["code"] == "already_connected");
	CHECK(json["exit_code"] == 4);
	CHECK(json["object"] == "nvmeof0c1");
	CHECK_FALSE(json.contains("nvme_status"));
}

TEST_CASE("an error of a failed connection has its cause", "[format]")
{
	CHECK(describeFailure("queue 1: cannot connect", ECONNREFUSED) ==
	      "queue 1: cannot connect: Connection refused");
	CHECK(describeFailure("cannot connect", EHOSTUNREACH) == "cannot connect: No route to host");
	CHECK(describeFailure("no answer", ETIMEDOUT) == "no answer");
	CHECK(describeFailure("", ECONNRESET) == "Connection reset by peer");
	CHECK(describeFailure("", 0).empty());
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.lastError = "cannot connect";
	c.lastErrno = ECONNREFUSED;
	Event e;
	e.type = EventType::connectFailed;
	e.reason = c.lastError;
	e.object = c;
	CHECK(formatEvent(e).ends_with(": cannot connect: Connection refused"));
	CHECK(toJson(e)["reason"] == "cannot connect: Connection refused");
	CHECK(toJson(c)["last_error"]["message"] == "cannot connect: Connection refused");
	CHECK(renderFields(fieldsOf(c)).find(": cannot connect: Connection refused\n") != std::string::npos);
}

TEST_CASE("poll queues that were not granted are reported", "[format]")
{
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.pollQueues = c.wantedPollQueues = 2;
	CHECK(renderFields(fieldsOf(c)).find("poll queues      : 2\n") != std::string::npos);
	c.pollQueues = 0;
	CHECK(renderFields(fieldsOf(c)).find("poll queues      : 0 of 2 requested\n") != std::string::npos);
}

TEST_CASE("a disk with too few paths, or none, is reported", "[format]")
{
	using namespace std::chrono_literals;
	Namespace ns;
	ns.name = "nvmeof0n1";
	ns.paths = ns.usablePaths = ns.livePaths = ns.expectedPaths = 2;
	CHECK(pathsNote(ns, 100s) == "2 usable of 2");
	ns.usablePaths = ns.livePaths = 1;
	CHECK(pathsNote(ns, 100s) == "1 usable of 2; 1 connected of 2 expected");
	ns.usablePaths = ns.livePaths = 0;
	ns.noPathSince = 88s;
	ns.waiting = 7;
	CHECK(pathsNote(ns, 100s) == "0 usable of 2; 0 connected of 2 expected; none usable for 12 s: I/O waits");
	auto line = [&](EventType type) {
		Event e;
		e.type = type;
		e.object = ns;
		return formatEvent(e).substr(16); // without the time
	};
	CHECK(line(EventType::noPath) == " nvmeof0n1 no_path none of 2 paths is usable: 7 requests waiting");
	ns.usablePaths = ns.livePaths = 1;
	CHECK(line(EventType::pathBack) == " nvmeof0n1 path_back 1 of 2 paths usable again");
	CHECK(line(EventType::fewerPaths) == " nvmeof0n1 fewer_paths 1 of 2 paths live");
	ns.expectedPaths = 3;
	std::string list = formatNamespaces({ns}, {});
	CHECK(list.find("1/2 of 3") != std::string::npos);
}

TEST_CASE("a namespace with a generic node only is printed", "[format]")
{
	Namespace ns;
	ns.name = "nvmeof0n2";
	ns.nsid = 2;
	CHECK(genericOnly(ns));
	std::string list = formatNamespaces({ns}, {}), fields = renderFields(fieldsOf(ns));
	CHECK(list.find("/dev/ngnvmeof0n2") != std::string::npos);
	CHECK(list.find(" -  generic only") != std::string::npos);
	CHECK(fields.find("/dev/ngnvmeof0n2") != std::string::npos);
	CHECK(fields.find("size") == std::string::npos);
	CHECK(fields.find("unknown: generic node only") != std::string::npos);
	CHECK_FALSE(toJson(ns).contains("csi"));
	ns.csi = 1;
	CHECK(renderFields(fieldsOf(ns)).find(" 1: generic node only") != std::string::npos);
	CHECK(toJson(ns)["csi"] == 1);
	CHECK(toJson(ns)["generic_only"] == true);
	CHECK(toJson(ns)["device"] == "/dev/ngnvmeof0n2");
	ns.size = 4096;
	ns.lbaSize = 512;
	CHECK_FALSE(genericOnly(ns));
	CHECK(formatNamespaces({ns}, {}).find("/dev/nvmeof0n2 ") != std::string::npos);
	CHECK_FALSE(toJson(ns).contains("generic_only"));
}

TEST_CASE("support for peer-to-peer memory is printed, with the path that prevents it", "[format]")
{
	Namespace ns;
	Path first, second;
	first.name = "nvmeof0c1n1";
	second.name = "nvmeof0c2n1";
	CHECK(peerToPeerNote(ns, {}, {}) == "no");
	CHECK(peerToPeerNote(ns, {first, second}, {"dm-0"}) == "no: not supported by nvmeof0c1n1, nvmeof0c2n1");
	first.p2p = true;
	CHECK(peerToPeerNote(ns, {first, second}, {}) == "no: not supported by nvmeof0c2n1");
	ns.p2p = true;
	CHECK(peerToPeerNote(ns, {first}, {}) == "yes");
	CHECK(peerToPeerNote(ns, {first}, {"dm-0", "md9"}) == "yes, but not through dm-0, md9");
}

TEST_CASE("the end of a scan is printed", "[format]")
{
	Event e;
	e.type = EventType::scanned;
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.paths = 2;
	e.object = c;
	CHECK(formatEvent(e).ends_with(" nvmeof0c1 scanned 2 paths"));
	e.scanErrno = EIO;
	CHECK(formatEvent(e).ends_with(" nvmeof0c1 scanned Input/output error"));
	CHECK(toJson(e)["scan_errno"] == EIO);
}

TEST_CASE("control characters in a progress line are escaped", "[format]")
{
	using namespace std::chrono_literals;
	CHECK(progressLine("connect", "1 of 2 live", 12s) == "connect: 1 of 2 live, 12 s");
	CHECK(progressLine("connect", "", 0s) == "connect: 0 s");
	CHECK(progressLine("x\x1b[2J", "", 0s) == "x?[2J: 0 s");
}
