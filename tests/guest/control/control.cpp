// SPDX-License-Identifier: LGPL-2.1-or-later
// Connect, list and disconnect: the command, its exit codes, events and permissions.
#include "control.h"
#include "support/block.h"
#include "support/netns.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <thread>

namespace guest::control {

using nvmeof::ControllerState;
using nvmeof::EventType;

TEST_CASE("connect, list and disconnect with the command", "[control][short]")
{
	Rig rig;
	REQUIRE(status(connectArgs()) == done);
	auto list = json("list");
	CHECK(list.contains("schema_version"));
	auto name = rig.host.nameSpace(1)->name;
	CHECK(namesIt(list.dump(), name));
	CHECK(namesIt(ctl("list").text, name));
	auto c = take(rig.host.client().controllers()).at(0);
	CHECK(namesIt(json("list-subsys").dump(), c.name));
	CHECK(namesIt(json("show " + c.name).dump(), "live"));
	CHECK(namesIt(json("show " + name).dump(), nvmet::Subsystem::uuidFor(1)));
	CHECK(exists("/dev/" + c.name));
	CHECK(exists("/sys/class/nvmeof/" + c.name));
	CHECK(readFile("/sys/class/nvmeof/" + c.name + "/state") == "live");
	CHECK(exists("/sys/block/" + name + "/paths"));
	REQUIRE(status("disconnect -n " + std::string(testNqn)) == done);
	CHECK(take(rig.host.client().controllers()).empty());
	CHECK_FALSE(exists("/dev/" + name));
	CHECK_FALSE(exists("/dev/" + c.name));
}

TEST_CASE("disconnect by name, and of all controllers", "[control]")
{
	Rig rig;
	auto c = rig.connect();
	REQUIRE(status("disconnect -d " + c.name) == done);
	CHECK(rig.host.state(c.name) == ControllerState::dead);
	rig.connect();
	REQUIRE(status("disconnect --all") == done);
	CHECK(take(rig.host.client().controllers()).empty());
	CHECK(take(rig.host.client().subsystems()).empty());
}

TEST_CASE("a normal disconnect logs no lost connection", "[control][log]")
{
	Rig rig;
	auto c = rig.connect();
	REQUIRE(c.ioQueues > 1);
	auto disk = Disk("/dev/" + rig.host.nameSpace(1)->name);
	CHECK(disk.verified(0, 4096, 1) == 0);
	REQUIRE(status("disconnect --force -d " + c.name) == done); // the disk is still open here
	// nvmet ends each connection after a shutdown.
	auto log = run("dmesg | grep ' " + c.name + ": '").text;
	INFO(log);
	CHECK(log.find(": live") != std::string::npos);
	CHECK(log.find("queue ") == std::string::npos);
}

TEST_CASE("discover lists the entries of a target, and leaves no controller behind", "[control]")
{
	Rig rig;
	auto listed = ctl("discover -t " + transport() + " -a " + here() + ":4420");
	INFO(listed.text);
	REQUIRE(listed.status == done);
	CHECK(namesIt(listed.text,
		      (overRdma() ? "subsystem  rdma       " : "subsystem  tcp        ") + here() + ":4420"));
	auto result = json("discover -t " + transport() + " -a " + here() + " -s 4420")["results"][0];
	CHECK(result["address"] == here() + ":4420");
	auto &entries = result["log"]["entries"];
	CHECK(std::any_of(entries.begin(), entries.end(), [](auto &e) {
		return e["nqn"] == testNqn && e["traddr"] == here() && e["trsvcid"] == "4420" && e["usable"];
	}));
	CHECK(take(rig.host.client().controllers()).empty());

	CHECK(status("discover") == usage);
	CHECK(status("discover -a nowhere.invalid") == failed);
	CHECK(status("discover -t " + transport() + " -a " + here() + ":4420 -n 'a b'") == usage);
	auto out = ctl("discover -t " + transport() + " -a " + here() + ":1 -a " + here() + ":4420 --timeout 3");
	INFO(out.text);
	CHECK(out.status != done);
	CHECK(namesIt(out.text, "(check address and port, and that the target is running)"));
	CHECK(namesIt(out.text, testNqn)); // the other service is read nevertheless
	CHECK(take(rig.host.client().controllers()).empty());

	auto kept = rig.options();
	kept.subsysnqn = nvmeof::discoveryNqn;
	auto c = take(rig.host.client().connect(kept, nvmeof::WaitFor::controller, scaled(10s)));
	CHECK(status("discover -t " + transport() + " -a " + here() + ":4420") == done);
	CHECK(namesIt(ctl("discover -d " + c.name).text, testNqn));
	CHECK(status("discover -t " + transport() + " -a " + here() + ":4420 -d " + c.name) == usage);
	CHECK(status("discover -d " + c.name + " -s 4420") == usage);
	CHECK(status("discover -d nvmeof77c3") == noObject);
	CHECK(status("discover -d " + c.name + " --timeout 0") == timedOut);
	CHECK(rig.host.state(c.name) == ControllerState::live);
}

TEST_CASE("exit codes", "[control]")
{
	Rig rig;
	CHECK(status("connect --no-such-option") == usage);
	CHECK(status("connect -t " + transport() + " -n nqn.2024-01.io.nvmeof:test -a 1.2.3") == usage);
	CHECK(status("disconnect -d nvmeof77c3") == noObject);
	CHECK(status("show nvmeof77n3") == noObject);
	CHECK(status("reset -d nvmeof77c3") == noObject);
	CHECK(status("connect -t " + transport() + " -n nqn.2024-01.io.nvmeof:absent -a " + here() +
		     ":4420 --timeout 5 --ctrl-loss-tmo "
		     "0") == refused);
	REQUIRE(status(connectArgs()) == done);
	CHECK(status(connectArgs()) == already);
	CHECK(status(connectArgs() + " --idempotent") == done);
	CHECK(take(rig.host.client().controllers()).size() == 1);
	CHECK(status("version") == done);
	CHECK(status("gen-hostnqn") == done);
	CHECK(status("show-hostnqn") == done);
	CHECK(status("disconnect --all") == done);
}

TEST_CASE("a number out of range is rejected with the allowed range", "[control]")
{
	Rig rig;
	auto message = [](const std::string &args) {
		auto out = ctl(args);
		CHECK(out.status == usage);
		return out.text;
	};
	const std::string connect = connectArgs();
	CHECK(namesIt(message(connect + " -Q 5"), "--queue-size: '5' is not a number from 16 to 1024"));
	CHECK(namesIt(message(connect + " --reconnect-delay 999999"),
		      "--reconnect-delay: '999999' is out of range: 0.001 to 86400 s"));
	auto c = rig.connect();
	CHECK(namesIt(message("set " + c.name + " stall-tmo=999999"), "stall-tmo in ms is out of range: 0 to "));
}

TEST_CASE("the kernel refuses invalid options that the library lets pass, with a reason", "[control][short]")
{
	Rig rig;
	auto &client = rig.host.client();
	auto absent = [](const auto &result) {
		CHECK((!result && result.error().code == nvmeof::ErrorCode::noSuchObject));
	};
	absent(client.controllers(77));
	absent(client.namespaces(77));
	absent(client.paths({"nvmeof77n1", ""}));
	absent(client.paths({"", "nvmeof77c1"}));
	auto refuses = [&](const std::function<void(nvmeof::ConnectOptions &)> &change, const std::string &words) {
		auto o = rig.options();
		change(o);
		auto result = client.start(o);
		REQUIRE_FALSE(result.ok());
		INFO(result.error().message);
		CHECK(result.error().message.find(words) != std::string::npos);
	};
	refuses([](auto &o) { o.address.traddr = "0.0.0.0"; }, "is a wildcard address");
	refuses([](auto &o) { o.transport = "nosuch"; }, "not registered");
	refuses(
		[](auto &o) {
			o.ctrlLoss = 5s;
			o.fastIoFail = 9s;
		},
		"FAST_IO_FAIL_TMO is longer than CTRL_LOSS_TMO");
	CHECK(take(client.controllers()).empty());

	// The handler must not wait for a module: it holds a netlink lock that modules with families need.
	auto helper = readFile("/proc/sys/kernel/modprobe");
	writeFile("/run/slow-modprobe", "#!/bin/sh\nsleep 20\n");
	REQUIRE(run("chmod 755 /run/slow-modprobe").status == 0);
	writeFile("/proc/sys/kernel/modprobe", "/run/slow-modprobe");
	Stopwatch time;
	refuses([](auto &o) { o.transport = "nosuch"; }, "not registered");
	CHECK(time.elapsed() < scaled(5s));
	writeFile("/proc/sys/kernel/modprobe", helper);

	auto c = rig.connect();
	refuses(
		[](auto &o) {
			o.subsysnqn += "-other";
			o.hostid = nvmeof::Uuid::parse("6f1b2c3d-0000-4000-8000-0123456789ab");
		},
		"are not the pair that is in use");
	REQUIRE(status("set " + c.name + " ctrl-loss-tmo=5") == done);
	auto out = ctl("set " + c.name + " fast-io-fail-tmo=9");
	INFO(out.text);
	CHECK(out.status != done);
	CHECK(namesIt(out.text, "FAST_IO_FAIL_TMO would be longer than CTRL_LOSS_TMO"));
	CHECK(rig.host.controller(c.name).fastIoFail == c.fastIoFail);
	CHECK(take(client.controllers()).size() == 1);
}

TEST_CASE("a refusal by the target is reported with its NVMe status", "[control]")
{
	nvmet::Subsystem closed("nqn.2024-01.io.nvmeof:closed", false);
	nvmet::Port port(1, here(), 4420);
	port.link(closed);
	Host host;
	auto o = Host::options(here(), "4420", closed.nqn());
	o.ctrlLoss = 0ms;
	auto result = host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s));
	REQUIRE_FALSE(result.ok());
	CHECK(result.error().code == nvmeof::ErrorCode::refused);
	CHECK(result.error().nvmeStatus == 0x184); // without the Do Not Retry bit
	CHECK_FALSE(result.error().message.empty());
	auto out = ctl("connect -t " + transport() + " -a " + here() + " -n " + closed.nqn());
	CHECK(out.status == refused);
	CHECK(namesIt(out.text, "nvmeofctl show-hostnqn"));
	out = ctl("connect -t " + transport() + " -a " + here() + " -n nqn.2024-01.io.nvmeof:nosuch");
	CHECK(out.status == refused);
	CHECK(namesIt(out.text, "check that the target exports nqn.2024-01.io.nvmeof:nosuch"));
}

TEST_CASE("a network interface that does not exist is a usage error, not a missing object", "[control]")
{
	Host host;
	auto out =
		ctl("connect -t " + transport() + " -a " + here() + " -n nqn.2024-01.io.nvmeof:test -f nosuch0 --json");
	INFO(out.text);
	CHECK(out.status == usage);
	CHECK(namesIt(out.text, "not a network interface"));
}

TEST_CASE("a connect to a closed port ends in time and reports the reason", "[control]")
{
	Host host;
	Stopwatch watch;
	auto out =
		ctl("connect -t " + transport() + " -n nqn.2024-01.io.nvmeof:test -a " + here() + ":4499 --timeout 3");
	CHECK((out.status == timedOut || out.status == failed));
	CHECK_FALSE(out.text.empty());
	CHECK(watch.elapsed() < scaled(8s));
}

TEST_CASE("a command that times out has its own exit code", "[control]")
{
	Netns netns("far");
	Link link(netns, "v", 9);
	Host host;
	link.impair("loss 100%");
	Stopwatch watch;
	CHECK(status("connect -t " + transport() + " -n nqn.2024-01.io.nvmeof:test -a " + link.targetAddress() +
		     ":4420 --timeout 2") == timedOut);
	CHECK(watch.elapsed() < scaled(6s));
	Stopwatch leaving;
	host.disconnectAll();
	CHECK(leaving.elapsed() < scaled(3s)); // the network timeouts are 10 s
}

TEST_CASE("the same address twice", "[control][trap20]")
{
	Rig rig;
	auto first = rig.connect();
	auto second = rig.host.client().connect(rig.options());
	REQUIRE_FALSE(second.ok());
	CHECK(second.error().code == nvmeof::ErrorCode::alreadyConnected);
	CHECK(second.error().object.name == first.name);
	CHECK_FALSE(second.error().message.empty());

	auto o = rig.options();
	o.idempotent = true;
	CHECK(take(rig.host.client().connect(o)).name == first.name);
	o.idempotent = false;
	o.duplicateConnect = true;
	auto third = take(rig.host.client().connect(o));
	CHECK(third.name != first.name);
	CHECK(third.subsystem == first.subsystem);
	CHECK(rig.host.nameSpace(1)->paths == 2);
}

TEST_CASE("two connects to one address at the same time: one of them wins", "[control][trap20]")
{
	Rig rig;
	Background a("nvmeofctl " + connectArgs()), b("nvmeofctl " + connectArgs());
	auto one = a.wait(20s).status, two = b.wait(20s).status;
	CHECK(((one == done && two == already) || (one == already && two == done)));
	CHECK(take(rig.host.client().controllers()).size() == 1);
}

TEST_CASE("one call adds several paths", "[control]")
{
	Rig rig;
	nvmet::Port second(2, here(), 4421);
	second.link(rig.subsystem);
	REQUIRE(status(connectArgs() + " -a " + here() + ":4421") == done);
	CHECK(take(rig.host.client().controllers()).size() == 2);
	CHECK(take(rig.host.client().subsystems()).size() == 1);
	CHECK(rig.host.nameSpace(1)->paths == 2);
}

TEST_CASE("events report all steps of a connect and disconnect in order", "[control][events][short]")
{
	Rig rig;
	Watch watch;
	auto c = rig.connect();
	rig.host.disconnectAll();
	std::vector<std::string> story;
	for (auto &e : watch.drain()) {
		REQUIRE(e.time.count() > 0);
		if (e.subsystem())
			story.push_back("subsystem " + std::string(toString(e.type)));
		else if (e.nameSpace())
			story.push_back("namespace " + std::string(toString(e.type)));
		else if (auto *ctrl = e.controller())
			story.push_back("controller " + std::string(e.type == EventType::state ? toString(ctrl->state)
											       : toString(e.type)));
	}
	std::vector<std::string> wanted{"subsystem added",    "controller added",    "controller live",
					"namespace added",    "controller deleting", "namespace removed",
					"controller removed", "subsystem removed"};
	auto at = story.begin();
	for (auto &step : wanted) {
		INFO(step);
		auto found = std::find(story.begin(), story.end(), step);
		REQUIRE(found != story.end());
		if (step != "controller deleting" &&
		    step != "namespace removed") { // these two may come in either order
			CHECK(found >= at);
			at = found;
		}
	}
}

TEST_CASE("monitor prints one JSON object per line", "[control][events]")
{
	Rig rig;
	auto before = listeners();
	Background monitor("exec nvmeofctl monitor --json > /tmp/monitor.out");
	REQUIRE(eventually([&] { return listeners() > before; }));
	rig.connect();
	rig.host.disconnectAll();
	CHECK(eventually([] { return namesIt(readFile("/tmp/monitor.out"), "removed"); }));
	monitor.stop();
	std::istringstream lines(readFile("/tmp/monitor.out"));
	int count = 0;
	for (std::string line; std::getline(lines, line); count++)
		CHECK_NOTHROW(nlohmann::json::parse(line));
	CHECK(count >= 4);
}

TEST_CASE("settings are shown, and can be changed", "[control]")
{
	Rig rig;
	auto o = rig.options();
	o.ctrlLoss = 33s;
	o.keepAlive = 7s;
	o.queueSize = 64;
	o.ioQueues = 1;
	auto c = rig.host.connect(o);
	CHECK(c.ctrlLoss == 33s);
	CHECK(c.keepAlive == 7s);
	CHECK(c.queueSize == 64);
	CHECK(c.ioQueues == 1);
	CHECK(status("set " + c.name + " ctrl-loss-tmo=44") == done);
	CHECK(rig.host.controller(c.name).ctrlLoss == 44s);
	CHECK(status("set " + c.name + " no-such-key=1") != done);
}

namespace {

std::string subsystemAttr(const std::string &name)
{
	return readFile("/sys/class/nvmeof-subsystem/" + subsystem0() + "/" + name);
}

// Formats the values from netlink as sysfsSays() does.
std::string inSysfs(const nvmeof::Subsystem &s)
{
	return s.iopolicy + " " + std::to_string(s.spillLatency.count()) + " " + std::to_string(s.spillDepth) + " " +
	       (s.degrade ? "on" : "off") + " " + toString(s.fencing) + " " + std::to_string(s.delayedRemoval.count());
}

std::string sysfsSays()
{
	return subsystemAttr("iopolicy") + " " + subsystemAttr("spill_us") + " " + subsystemAttr("spill_depth") + " " +
	       subsystemAttr("degrade") + " " + subsystemAttr("fencing") + " " + subsystemAttr("delayed_removal_secs");
}

void writePolicy(const std::string &file, const std::string &text)
{
	must("mkdir -p /etc/nvmeof && printf '%s' '" + text + "' > " + file);
}

} // namespace

TEST_CASE("every value of a policy is set, reported in an event and shown", "[control][policy][short]")
{
	Rig rig;
	rig.connect();
	auto subsystem = [&] { return take(rig.host.client().subsystem(subsystem0())); };
	CHECK(inSysfs(subsystem()) == "numa 0 0 off auto 0");
	CHECK(sysfsSays() == inSysfs(subsystem()));

	Watch watch;
	CHECK(status("set " + subsystem0() +
		     " iopolicy=round-robin spill-us=500 spill-depth=32 degrade=on fencing=safe "
		     "delayed-removal-secs=60") == done);
	CHECK(inSysfs(subsystem()) == "round-robin 500 32 on safe 60");
	CHECK(sysfsSays() == inSysfs(subsystem()));
	CHECK(watch.find([](const nvmeof::Event &e) {
		return e.type == EventType::changed && e.subsystem() && e.subsystem()->spillDepth == 32;
	}));
	auto shown = json("show " + subsystem0())["object"];
	CHECK(shown["spill_us"] == 500);
	CHECK(shown["fencing"] == "safe");

	CHECK(status("set " + subsystem0() + " spill-us=0") == done); // other values stay
	CHECK(inSysfs(subsystem()) == "round-robin 0 32 on safe 60");
	for (auto &[name, value] : std::vector<std::pair<std::string, std::string>>{{"spill_us", "60000000"},
										    {"spill_depth", "1024"},
										    {"degrade", "off"},
										    {"fencing", "immediate"},
										    {"delayed_removal_secs", "604800"},
										    {"iopolicy", "numa"}}) {
		INFO(name);
		must("echo " + value + " > /sys/class/nvmeof-subsystem/" + subsystem0() + "/" + name);
		CHECK(subsystemAttr(name) == value);
	}
	CHECK(inSysfs(subsystem()) == "numa 60000000 1024 off immediate 604800");
}

TEST_CASE("one bad value: nothing is changed", "[control][policy]")
{
	Rig rig;
	rig.connect();
	REQUIRE(status("set " + subsystem0() + " spill-us=500 degrade=on") == done);
	auto before = sysfsSays();
	for (std::string bad : {"iopolicy=absent", "spill-us=60000001", "spill-depth=1025", "degrade=maybe",
				"fencing=perhaps", "delayed-removal-secs=604801", "no-such=1"}) {
		INFO(bad);
		CHECK(status("set " + subsystem0() + " fencing=safe spill-us=7 " + bad) != done);
		CHECK(sysfsSays() == before);
	}
	auto refusal = ctl("set " + subsystem0() + " iopolicy=absent");
	CHECK(refusal.status == usage);
	CHECK(namesIt(refusal.text, "round-robin")); // lists the policies

	// The kernel has its own checks behind those of the library.
	nvmeof::SubsystemSettings s;
	s.degrade = false;
	SECTION("spill")
	{
		s.spillLatency = std::chrono::seconds(61);
	}
	SECTION("depth")
	{
		s.spillDepth = 1025;
	}
	SECTION("fencing")
	{
		s.fencing = static_cast<nvmeof::Fencing>(3);
	}
	SECTION("removal")
	{
		s.delayedRemoval = std::chrono::seconds(604801);
	}
	SECTION("policy")
	{
		s.iopolicy = "absent";
	}
	CHECK_FALSE(rig.host.client().set(subsystem0(), s).ok());
	CHECK(sysfsSays() == before);
	for (std::string bad :
	     {"spill_us -1", "spill_us 1x", "spill_us .", "spill_us 60000001", "spill_depth 1025", "degrade maybe",
	      "degrade onn", "fencing safer", "delayed_removal_secs 0x10", "iopolicy absent"}) {
		auto space = bad.find(' ');
		INFO(bad);
		CHECK(run("printf %s " + bad.substr(space + 1) + " > /sys/class/nvmeof-subsystem/" + subsystem0() +
			  "/" + bad.substr(0, space))
			      .status != 0);
		CHECK(sysfsSays() == before);
	}
}

TEST_CASE("concurrent writers of different values do not undo each other", "[control][policy]")
{
	Rig rig;
	rig.connect();
	std::string dir = "/sys/class/nvmeof-subsystem/" + subsystem0() + "/";
	Background a("for i in $(seq 300); do echo $i > " + dir + "spill_us; done");
	Background b("for i in $(seq 300); do echo $i > " + dir + "spill_depth; done");
	CHECK(a.wait(60s).status == 0);
	CHECK(b.wait(60s).status == 0);
	CHECK(subsystemAttr("spill_us") == "300");
	CHECK(subsystemAttr("spill_depth") == "300");
}

TEST_CASE("stall-tmo can be set by connect and changed later", "[control][policy]")
{
	Rig rig;
	CHECK(rig.connect().stallTimeout == 300ms);
	rig.host.disconnectAll();
	REQUIRE(status(connectArgs() + " --stall-tmo 450ms") == done);
	auto name = take(rig.host.client().controllers()).at(0).name;
	CHECK(rig.host.controller(name).stallTimeout == 450ms);
	CHECK(readFile("/sys/class/nvmeof/" + name + "/stall_tmo") == "0.450");
	CHECK(status("set " + name + " stall-tmo=2") == done);
	CHECK(rig.host.controller(name).stallTimeout == 2s);
	CHECK(status("set " + name + " stall-tmo=90000") != done); // more than a day
	CHECK(status("set " + name + " stall-tmo=soon") == usage);
	CHECK(rig.host.controller(name).stallTimeout == 2s);
	CHECK(status("set " + name + " stall-tmo=0") == done);
	CHECK(rig.host.controller(name).stallTimeout == 0ms);
}

TEST_CASE("the statistics of a path agree in sysfs, netlink and show", "[control][stats][short]")
{
	Rig rig;
	auto c = rig.connect();
	must("dd if=" + rig.disk() + " of=/dev/null bs=4k count=64 iflag=direct 2>/dev/null");
	must("dd if=/dev/zero of=" + rig.disk() + " bs=4k count=16 oflag=direct 2>/dev/null");
	auto p = rig.host.paths().at(0);
	auto attr = [&](const std::string &name) {
		return readFile("/sys/block/" + p.nameSpace + "/paths/" + p.name + "/" + name);
	};
	CHECK(nvmeof::countOf(p.readLatency) + nvmeof::countOf(p.writeLatency) <= p.ios);
	CHECK(nvmeof::countOf(p.readLatency) >= 64);
	CHECK(nvmeof::countOf(p.writeLatency) >= 16);
	CHECK(nvmeof::percentile(p.readLatency, 0.5) > 0ns);
	CHECK(nvmeof::percentile(p.readLatency, 0.99) < 10s);
	for (auto &[name, histogram] : {std::pair("latency_read", p.readLatency), {"latency_write", p.writeLatency}}) {
		std::istringstream line(attr(name));
		std::vector<std::uint64_t> counters{std::istream_iterator<std::uint64_t>(line), {}};
		CHECK(counters == std::vector<std::uint64_t>(histogram.begin(), histogram.end()));
	}
	REQUIRE(p.anaSince);
	CHECK(attr("ana_since") == std::to_string(p.anaSince->count()));
	CHECK(*p.anaSince > 0ns);
	CHECK(attr("degraded") == "0");
	CHECK(attr("failovers_from") == std::to_string(p.failoversFrom));
	CHECK(attr("failovers_to") == std::to_string(p.failoversTo));
	auto shown = json("show " + p.nameSpace)["paths"].at(0);
	CHECK(shown["name"] == p.name);
	CHECK(shown["latency"]["read"]["count"] == nvmeof::countOf(p.readLatency));
	CHECK(namesIt(ctl("show " + p.name).text, "p99"));
	CHECK(namesIt(ctl("show " + c.name).text, p.name));
}

TEST_CASE("policy.conf is applied by the first connect to a subsystem, and by apply-policy", "[control][policy]")
{
	Rig rig;
	auto file = "/tmp/policy.conf";
	auto with = connectArgs() + " --policy-file " + file;
	writePolicy(file, "# by NQN\nnqn.2024-01.io.other:* fencing=safe\n"
			  "nqn.2024-01.io.nvmeof:*  iopolicy=round-robin spill-us=500 degrade=on\n* fencing=safe\n");
	REQUIRE(status(with) == done);
	CHECK(sysfsSays() == "round-robin 500 0 on auto 0");

	// A second path does not change the values of an existing subsystem.
	CHECK(status("set " + subsystem0() + " spill-us=9") == done);
	REQUIRE(status(with + " --duplicate-connect") == done);
	CHECK(sysfsSays() == "round-robin 9 0 on auto 0");
	CHECK(status(std::string("apply-policy --new " + subsystem0() + " --policy-file ") + file) == done);
	CHECK(sysfsSays() == "round-robin 9 0 on auto 0"); // a value was set already
	CHECK(status(std::string("apply-policy " + subsystem0() + " --policy-file ") + file) == done);
	CHECK(sysfsSays() == "round-robin 500 0 on auto 0");

	CHECK(status("apply-policy nvmeof7 --policy-file /tmp/policy.conf") == noObject);
	CHECK(status("apply-policy --policy-file /tmp/absent.conf") == noObject);
	rig.host.disconnectAll();

	// An error in the file: connect succeeds, and reports the line.
	writePolicy(file, "* degrade=on\n* spill-us=lots\n");
	auto out = ctl(with);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, "/tmp/policy.conf:2: spill-us: 'lots'"));
	CHECK(namesIt(out.text,
		      "then run 'nvmeofctl apply-policy " + subsystem0() + " --policy-file /tmp/policy.conf'"));
	CHECK(take(rig.host.client().controllers()).size() == 1);
	CHECK(sysfsSays() == "numa 0 0 off auto 0");
}

TEST_CASE("udev applies policy.conf to a subsystem that another program has created", "[control][policy][udev]")
{
	Rig rig;
	must("mkdir -p /run/udev/rules.d && cp /nvmeof/tests/90-nvmeof-policy.rules /run/udev/rules.d/");
	must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon --resolve-names=never");
	must("udevadm control --reload");
	writePolicy("/etc/nvmeof/policy.conf", "* delayed-removal-secs=17\n");
	auto service = rig.options();
	service.subsysnqn = nvmeof::discoveryNqn;
	auto delay = [](const nvmeof::Controller &c) {
		return readFile("/sys/class/nvmeof-subsystem/nvmeof" + std::to_string(c.subsystem) +
				"/delayed_removal_secs");
	};
	auto looked = take(rig.host.client().connect(service, nvmeof::WaitFor::controller, scaled(10s)));
	auto c = rig.connect(); // by the library, which does not read the file
	CHECK(eventually([&] { return delay(c) == "17"; }));
	must("udevadm settle");
	CHECK(delay(looked) == "0"); // a discovery service has no disks
	must("rm /etc/nvmeof/policy.conf /run/udev/rules.d/90-nvmeof-policy.rules && udevadm control --reload");
}

TEST_CASE("nvme-cli commands work on the device nodes", "[control][nvme-cli]")
{
	Rig rig;
	auto c = rig.connect();
	auto ctrl = "/dev/" + c.name, disk = rig.disk();
	CHECK(namesIt(must("nvme id-ctrl " + ctrl), testNqn));
	must("nvme id-ns " + disk);
	must("nvme id-ns " + ctrl + " -n 1");
	must("nvme smart-log " + ctrl);
	must("nvme smart-log " + disk);
	must("nvme get-log " + ctrl + " -i 2 -l 512");
	must("nvme get-feature " + ctrl + " -f 7");
	must("nvme flush " + disk + " -n 1");
	must("head -c 4096 /dev/urandom > /tmp/out");
	must("nvme write " + disk + " -s 8 -c 7 -z 4096 -d /tmp/out");
	must("nvme read " + disk + " -s 8 -c 7 -z 4096 -d /tmp/in");
	must("cmp /tmp/in /tmp/out");
	must("nvme list-ns " + ctrl);
	CHECK(run("nvme io-passthru " + disk + " -o 0xf0 -n 1").status != 0); // not an opcode of this target
	must("nvme reset " + ctrl);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
	must("nvme ns-rescan " + ctrl);
}

TEST_CASE("unprivileged users can read but not change", "[control][permission]")
{
	Rig rig;
	auto c = rig.connect();
	must("chmod 755 / /usr /usr/bin /root; chmod 666 /dev/" + c.name + " " + rig.disk());
	auto as = [](const std::string &command) {
		return run("setpriv --reuid=65534 --regid=65534 --clear-groups " + command);
	};
	REQUIRE(as("sh -c 'test $(id -u) = 65534'").status == 0);
	CHECK(as("nvmeofctl list").status == done);
	CHECK(as("nvmeofctl disconnect --all").status == notPermitted);
	CHECK(as("nvmeofctl reset -d " + c.name).status == notPermitted);
	CHECK(as("nvmeofctl " + connectArgs() + " --hostnqn nqn.2024-01.io.nvmeof:h").status == notPermitted);
	CHECK(as("nvmeofctl show " + c.name).status == done);
	CHECK(as("nvmeofctl set " + subsystem0() + " fencing=safe").status == notPermitted);
	CHECK(as("nvmeofctl set " + c.name + " stall-tmo=0").status == notPermitted);
	CHECK(as("sh -c 'echo safe > /sys/class/nvmeof-subsystem/" + subsystem0() + "/fencing'").status != 0);
	CHECK(readFile("/sys/class/nvmeof-subsystem/" + subsystem0() + "/fencing") == "auto");
	CHECK(as("nvme reset /dev/" + c.name).status != 0);
	CHECK(as("nvme admin-passthru /dev/" + c.name + " -o 0x09 --cdw10=6").status != 0); // Set Features
	CHECK(as("nvme write " + rig.disk() + " -s 0 -c 0 -z 512 -d /etc/hostname").status != 0);
	CHECK(rig.host.state(c.name) == ControllerState::live);
}

TEST_CASE("a module that is not loaded has its own exit code and library error", "[control][unload][short]")
{
	REQUIRE((!Host::loaded() || Host::unload().status == 0));
	CHECK(ctl("list").status == noModule);
	auto client = nvmeof::Client::open();
	REQUIRE_FALSE(client.ok());
	CHECK(client.error().code == nvmeof::ErrorCode::noModule);
	Host::load();
	CHECK(status("list") == done);
}

TEST_CASE("monitor ends with an error when the module is unloaded", "[control][unload]")
{
	if (!Host::loaded())
		Host::load();
	auto stream = nvmeof::EventStream::subscribe();
	REQUIRE(stream.ok());
	run("rm -f /tmp/monitor.*");
	auto before = listeners();
	Background monitor("nvmeofctl monitor --json > /tmp/monitor.out; echo $? > /tmp/monitor.code");
	REQUIRE(eventually([&] { return listeners() > before; }));
	CHECK_FALSE(exists("/tmp/monitor.code"));
	REQUIRE(Host::unload().status == 0);
	auto last = stream->next(scaled(5s));
	REQUIRE_FALSE(last.ok());
	CHECK(last.error().code == nvmeof::ErrorCode::noModule);
	CHECK(eventually([] { return readFile("/tmp/monitor.code") == std::to_string(noModule); }, scaled(5s)));
	CHECK(nlohmann::json::parse(readFile("/tmp/monitor.out"))["error"]["code"] == "no_module");
	Host::load();
}

} // namespace guest::control
