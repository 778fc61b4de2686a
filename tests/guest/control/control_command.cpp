// SPDX-License-Identifier: LGPL-2.1-or-later
// nvmeofctl with addresses that do not answer, interrupts, progress, warnings, and doctor.
#include "control.h"
#include "support/multi.h"
#include "support/netns.h"
#include "support/rig.h"
#include "support/tmux.h"

#include <algorithm>
#include <csignal>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace guest::control_command {

using nvmeof::ControllerState;

namespace {

const std::string toTest = connectTo("");

// The socket of the system log, which the test reads
class SystemLog {
public:
	SystemLog() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0))
	{
		sockaddr_un place{};
		place.sun_family = AF_UNIX;
		std::snprintf(place.sun_path, sizeof(place.sun_path), "/dev/log");
		::unlink(place.sun_path);
		REQUIRE(::bind(fd_, reinterpret_cast<sockaddr *>(&place), sizeof(place)) == 0);
	}
	~SystemLog()
	{
		::close(fd_);
		::unlink("/dev/log");
	}
	SystemLog(const SystemLog &) = delete;
	SystemLog &operator=(const SystemLog &) = delete;

	bool hears(const std::string &words)
	{
		return eventually([&] {
			char line[1024];
			for (ssize_t n; (n = ::recv(fd_, line, sizeof(line), 0)) > 0;)
				heard_ += std::string(line, static_cast<std::size_t>(n)) + "\n";
			return namesIt(heard_, words);
		});
	}
	const std::string &heard() const { return heard_; }

private:
	int fd_;
	std::string heard_;
};

// An address whose packets are lost. A fixed neighbour entry keeps it from being reported as unreachable.
class BlackHole {
public:
	BlackHole()
	{
		link_.impair("loss 100%");
		must("ip neigh replace " + address() + " lladdr 02:00:00:00:00:01 dev " + link_.hostIface());
	}
	std::string address() const { return link_.targetAddress(); }

private:
	Netns netns_{"far"};
	Link link_{netns_, "v", 9};
};

} // namespace

TEST_CASE("a name and -d mean the same, and several controllers can be given", "[control][command]")
{
	Rig rig;
	auto first = rig.connect();
	auto o = rig.options();
	o.duplicateConnect = true;
	auto second = rig.host.connect(o);
	CHECK(status("rescan " + first.name) == done);
	CHECK(status("rescan -d " + first.name) == done);
	// Only members that stay the same: an event of the target may cause a rescan between the two calls.
	auto shown = [](const std::string &how) {
		auto object = json("show " + how)["object"];
		return std::pair(object["name"], object["cntlid"]);
	};
	CHECK(shown(first.name) == std::pair<nlohmann::json, nlohmann::json>(first.name, first.cntlid.value()));
	CHECK(shown("-d " + first.name) == shown(first.name));
	CHECK(status("disconnect " + first.name + " -d " + second.name) == done);
	CHECK(take(rig.host.client().controllers()).empty());
}

TEST_CASE("disconnect refuses to remove a disk in use, unless --force is given", "[control][command][in-use]")
{
	Rig rig;
	auto c = rig.connect();
	const std::string disk = rig.disk(), name = disk.substr(5);
	const std::string byNqn = "-n " + std::string(testNqn);
	auto refuses = [&](const std::string &args, const std::string &user) {
		auto out = ctl("disconnect " + args);
		INFO(args << ": " << out.text);
		CHECK(out.status == inUse);
		CHECK(namesIt(out.text, name));
		CHECK(namesIt(out.text, user));
		CHECK(namesIt(out.text, "--force"));
		CHECK(rig.host.state(c.name) == ControllerState::live);
		CHECK(exists(disk));
	};
	SECTION("mounted")
	{
		must("mkfs.ext4 -q -F " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
		for (const std::string &args : {c.name, "-d " + c.name, byNqn, std::string("--all")})
			refuses(args, "mounted on /mnt");
		refuses(c.name + " --dry-run", "mounted on /mnt");
		auto out = run("nvmeofctl disconnect " + byNqn + " --json 2> /dev/null");
		CHECK(out.status == inUse);
		auto document = nlohmann::json::parse(out.text);
		CHECK(document["disconnected"].empty());
		CHECK(document["error"]["code"] == "in_use");
		CHECK(document["error"]["exit_code"] == inUse);
		CHECK(document["in_use"][0]["disk"] == name);
		CHECK(document["in_use"][0]["users"][0]["kind"] == "mount");
		CHECK(document["in_use"][0]["users"][0]["what"] == "/mnt");
		must("umount /mnt");
		CHECK(status("disconnect " + byNqn) == done);
	}
	SECTION("open in a program")
	{
		Background user("exec sleep 60 < " + disk);
		REQUIRE(eventually([&] { return rig.host.nameSpace(1)->openers == 1; }));
		refuses(c.name, "in use by sleep, process ");
		CHECK(status("disconnect --force " + c.name) == done);
	}
	SECTION("part of another device")
	{
		must("modprobe dm-mod && dmsetup create --noudevsync above --table '0 8192 linear " + disk + " 0'");
		refuses(c.name, "(above)");
		must("dmsetup remove --noudevsync above");
		CHECK(status("disconnect " + c.name) == done);
	}
	SECTION("it has another path")
	{
		auto o = rig.options();
		o.duplicateConnect = true;
		auto second = rig.host.connect(o);
		must("mkfs.ext4 -q -F " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
		refuses(c.name + " " + second.name, "mounted on /mnt");
		CHECK(status("disconnect " + second.name) == done);
		refuses(c.name, "mounted on /mnt");
		must("umount /mnt");
	}
	rig.host.disconnectAll();
}

TEST_CASE("disconnect --dry-run shows controllers and disks, and changes nothing", "[control][command][in-use]")
{
	Rig rig;
	auto c = rig.connect();
	const std::string disk = rig.disk();
	for (const std::string &command :
	     {"disconnect " + c.name, std::string("disconnect --all"), std::string("disconnect-all")}) {
		auto out = ctl(command + " --dry-run");
		INFO(command << ": " << out.text);
		CHECK(out.status == done);
		CHECK(namesIt(out.text, c.name + " would be disconnected"));
		CHECK(namesIt(out.text, disk + " would be left without a usable path"));
		auto document = json(command + " --dry-run");
		CHECK(document["disconnected"].empty());
		CHECK(document["would_disconnect"] == nlohmann::json::array({c.name}));
		CHECK(document["left_without_path"] == nlohmann::json::array({disk.substr(5)}));
	}
	CHECK(status("disconnect --dry-run nvmeof77c3") == noObject);
	CHECK(status("disconnect --dry-run -n nqn.2024-01.com.example:absent") == noObject);
	CHECK(rig.host.state(c.name) == ControllerState::live);
	CHECK(status("disconnect " + c.name) == done);
	CHECK(ctl("disconnect --all --dry-run").text.empty());
}

TEST_CASE("the JSON of list and show identifies the disk and counts its openers", "[control][command]")
{
	Rig rig;
	auto c = rig.connect();
	auto listed = json("list")["namespaces"][0];
	CHECK(listed["nqn"] == testNqn);
	CHECK(listed["subsystem"] == subsystem0());
	CHECK(listed["model"] == c.model);
	CHECK(listed["serial"] == c.serial);
	CHECK(listed["nr_expected"] == 1);
	CHECK(listed["nr_live"] == 1);
	auto openers = [] { return json("list")["namespaces"][0]["openers"].get<int>(); };
	CHECK(eventually([&] { return openers() == 0; })); // udev has closed it
	{
		Background user("exec sleep 60 < " + rig.disk());
		CHECK(eventually([&] { return openers() == 1; }));
	}
	CHECK(eventually([&] { return openers() == 0; }));
	auto path = json("show " + listed["name"].get<std::string>())["paths"][0];
	CHECK(path["traddr"] == here());
	CHECK(json("show " + c.name)["object"]["scans"].get<int>() >= 1);
}

TEST_CASE("one of two addresses is enough, unless --require all is given", "[control][command]")
{
	Rig rig;
	const std::string both = toTest + "-a " + here() + ":4420 -a " + here() + ":4499 --timeout 20";
	auto out = ctl(both);
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, here() + ":4499: warning: "));
	CHECK(take(rig.host.client().controllers()).size() == 1);
	CHECK(ctl(both + " --require all").status == already); // of the first failure
	rig.host.disconnectAll();
	out = ctl(both + " --require all");
	CHECK(out.status != done);
	CHECK_FALSE(namesIt(out.text, "warning"));
	CHECK(take(rig.host.client().controllers()).size() == 1); // the connected one stays
	auto results =
		nlohmann::json::parse(run("nvmeofctl " + both + " --idempotent --json 2>/dev/null").text)["results"];
	CHECK(results[0].contains("controller"));
	CHECK(results[1]["error"]["exit_code"].get<int>() != 0);
	CHECK(ctl(toTest + "-a " + here() + ":4499 -a " + here() + ":4498 --timeout 20").status != done);
}

TEST_CASE("an address that never answers does not delay one that does", "[control][command][black-hole]")
{
	BlackHole hole;
	Rig rig;
	const std::string both =
		toTest + "-a " + hole.address() + " -a " + here() + ":4420 --connect-tmo 60 --timeout ";
	Stopwatch stopwatch;
	auto out = ctl(both + "50");
	INFO(out.text);
	CHECK(stopwatch.elapsed() < scaled(10s));
	CHECK(out.status == done);
	CHECK(namesIt(out.text, "not connected yet"));
	auto there = take(rig.host.client().controllers());
	REQUIRE(there.size() == 2); // the silent one keeps trying
	CHECK(std::ranges::count(there, ControllerState::connecting, &nvmeof::Controller::state) == 1);
	CHECK(std::ranges::count(there, ControllerState::live, &nvmeof::Controller::state) == 1);
	rig.host.disconnectAll();
	CHECK(ctl(both + "3 --require all").status == timedOut);
}

TEST_CASE("an interrupted connect does not remove the controller of another process", "[control][command][black-hole]")
{
	BlackHole hole;
	Host host;
	const std::string silent = "exec nvmeofctl " + toTest + "-a " + hole.address() + " --keep-trying";
	auto count = [&] { return take(host.client().controllers()).size(); };
	Background first(silent);
	REQUIRE(eventually([&] { return count() == 1; }));
	const std::string made = take(host.client().controllers())[0].name;
	Background second(silent + " --duplicate-connect");
	REQUIRE(eventually([&] { return count() == 2; }));
	first.signal(SIGINT);
	CHECK(first.wait(scaled(10s)).status == 128 + SIGINT);
	auto left = take(host.client().controllers());
	REQUIRE(left.size() == 1);
	CHECK(left[0].name != made);
	second.signal(SIGINT);
	CHECK(second.wait(scaled(10s)).status == 128 + SIGINT);
	CHECK(count() == 0);
}

TEST_CASE("a first connect is retried for as long as --keep-trying says", "[control][command]")
{
	Rig rig;
	const std::string later = toTest + "-a " + here() + ":4421 --reconnect-delay 0.2 --timeout 1 ";
	auto out = ctl(later + "--keep-trying");
	INFO(out.text);
	CHECK(out.status == timedOut);
	CHECK(namesIt(out.text, "it keeps retrying"));
	auto there = take(rig.host.client().controllers());
	REQUIRE(there.size() == 1);
	CHECK(there[0].state == ControllerState::connecting);
	CHECK(there[0].firstConnect == there[0].ctrlLoss); // the same bound as for a reconnect
	{
		nvmet::Port late(2, here(), 4421);
		late.link(rig.subsystem);
		CHECK(rig.host.waitState(there[0].name, ControllerState::live));
		rig.host.disconnectAll();
	}
	// With another path live it is not a failure.
	out = ctl(later + "--keep-trying=-1 -a " + here() + ":4420");
	CHECK(out.status == done);
	there = take(rig.host.client().controllers());
	REQUIRE(there.size() == 2);
	CHECK((there[0].firstConnect == -1ms && there[1].firstConnect == -1ms));
	rig.host.disconnectAll();
	// The attempts end when the time is over.
	CHECK(ctl(toTest + "-a " + here() + ":4421 --reconnect-delay 0.2 --keep-trying=1 --timeout 20").status != done);
	CHECK(eventually([&] { return take(rig.host.client().controllers()).empty(); }));
}

TEST_CASE("an interrupted connect keeps the live controller and removes the other", "[control][command]")
{
	Netns netns("far");
	Link link(netns, "v", 9);
	link.impair("loss 100%");
	Rig rig;
	int number = GENERATE(SIGINT, SIGTERM);
	Background connect("exec nvmeofctl " + toTest + "-a " + here() + ":4420 -a " + link.targetAddress() +
			   " --keep-trying");
	auto live = [&] {
		auto all = take(rig.host.client().controllers());
		return all.size() == 2 &&
		       std::ranges::count(all, ControllerState::live, &nvmeof::Controller::state) == 1;
	};
	REQUIRE(eventually(live));
	connect.signal(number);
	auto out = connect.wait(scaled(10s));
	INFO(out.text);
	CHECK(out.status == 128 + number);
	CHECK(namesIt(out.text, "was connecting; removed"));
	CHECK(namesIt(out.text, "connected before the interruption; kept"));
	auto left = take(rig.host.client().controllers());
	REQUIRE(left.size() == 1);
	CHECK(left[0].state == ControllerState::live);
}

TEST_CASE("slow commands show progress on a terminal, and only there", "[control][command]")
{
	Netns netns("far");
	Link link(netns, "v", 9);
	link.impair("loss 100%");
	Host host;
	const std::string silent =
		toTest + "-a " + link.targetAddress() + " --timeout 2"; // before ARP reports it as unreachable
	{
		Tmux terminal("nvmeofctl " + silent);
		CHECK(terminal.shows("connect: 0 of 1 live, "));
		CHECK(terminal.wait(scaled(20s)) == timedOut);
		CHECK_FALSE(terminal.shows("0 of 1 live", 0ms)); // erased
	}
	host.disconnectAll();
	CHECK_FALSE(namesIt(ctl(silent).text, "of 1 live"));
	host.disconnectAll();
	const std::string services =
		"discover -t " + transport() + " -a " + link.targetAddress() + " -a " + here() + ":1 --timeout 2";
	Tmux terminal("nvmeofctl " + services);
	CHECK(terminal.shows("discover: 1 of 2 read, ")); // the silent one comes first, and delays no other
	CHECK(terminal.wait(scaled(30s)) != done);
	CHECK(take(host.client().controllers()).empty());
}

TEST_CASE("poll queues that are not granted are reported", "[control][command]")
{
	Rig rig;
	rig.connect(); // the disks of the subsystem have no poll queues now
	auto out = ctl(connectArgs() + " -D -P 1");
	INFO(out.text);
	REQUIRE(out.status == done);
	auto all = take(rig.host.client().controllers());
	auto &polled = all.at(0).wantedPollQueues ? all.at(0) : all.at(1);
	CHECK(polled.wantedPollQueues == 1);
	bool granted = polled.pollQueues == 1;
	CHECK(namesIt(out.text, "0 of 1 poll queues") == !granted);
	CHECK(namesIt(ctl("show " + polled.name).text, "0 of 1 requested") == !granted);
}

TEST_CASE("monitor, show and metrics report a disk without a path, and since when", "[control][command][events]")
{
	Rig rig;
	auto c = rig.connect();
	auto disk = subsystem0() + "n1";
	run("rm -f /tmp/monitor.out");
	auto before = listeners();
	Background monitor("exec nvmeofctl monitor > /tmp/monitor.out");
	REQUIRE(eventually([&] { return listeners() > before; }));
	rig.port.unlink(rig.subsystem); // which ends the association
	REQUIRE(eventually([&] { return rig.host.state(c.name) != ControllerState::live; }));
	auto metric = [](const std::string &name) {
		return run("nvmeofctl stats --prometheus | grep '^nvmeof_namespace_" + name + "{' | awk '{print $NF}'")
			.text;
	};
	CHECK(eventually([&] { return namesIt(readFile("/tmp/monitor.out"), disk + " no_path none of "); }));
	CHECK(namesIt(ctl("show " + disk).text, "none usable for "));
	CHECK(namesIt(metric("expected_paths"), "1"));
	CHECK(namesIt(metric("live_paths"), "0"));
	CHECK(std::stod(metric("no_path_seconds")) > 0);
	rig.port.link(rig.subsystem);
	CHECK(eventually([&] { return namesIt(readFile("/tmp/monitor.out"), disk + " path_back 1 of 1"); }, 20s));
	CHECK(std::stod(metric("no_path_seconds")) == 0);
	CHECK_FALSE(namesIt(ctl("show " + disk).text, "none usable"));
}

TEST_CASE("an error in policy.conf that udev meets is written to the system log", "[control][command][policy][udev]")
{
	Rig rig;
	SystemLog log;
	must("mkdir -p /etc/nvmeof && printf '* degrade=on\\n* spill-us=lots\\n' > /etc/nvmeof/policy.conf");
	must("mkdir -p /run/udev/rules.d && cp /nvmeof/tests/90-nvmeof-policy.rules /run/udev/rules.d/");
	must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon --resolve-names=never");
	must("udevadm control --reload");
	rig.connect();
	CHECK(log.hears("/etc/nvmeof/policy.conf:2: spill-us: 'lots'"));
	INFO(log.heard());
	CHECK(namesIt(log.heard(), "nvmeofctl["));
	must("rm /etc/nvmeof/policy.conf /run/udev/rules.d/90-nvmeof-policy.rules && udevadm control --reload");
}

TEST_CASE("a host name is resolved to its addresses", "[control][command]")
{
	Rig rig;
	must("printf '" + here() + " target.example\\n' >> /etc/hosts");
	auto out = ctl(toTest + "-a target.example");
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, "connect target.example: resolves to " + here() + ":4420"));
	CHECK(json(toTest + "-a target.example:4420 --idempotent 2>/dev/null")["results"][0]["host"] ==
	      "target.example:4420");
	CHECK(namesIt(ctl("discover -t " + transport() + " -a target.example:4420").text, testNqn));
	out = ctl(toTest + "-a nowhere.invalid");
	CHECK(out.status == failed);
	CHECK(namesIt(out.text, "nowhere.invalid"));
	CHECK(namesIt(out.text, "check the name"));
}

TEST_CASE("doctor finds nothing on a healthy host, and names a dead path and the next step", "[control][doctor]")
{
	Multi multi;
	multi.connectAll();
	const std::string disk = multi.disk().substr(5);
	// udev makes the links of the disk in the meantime
	CHECK(eventually([&] { return ctl("doctor").status == done; }));
	auto out = ctl("doctor");
	INFO(out.text);
	CHECK(out.status == done);
	CHECK(namesIt(out.text, "no problems found; checked: 1 subsystem, 2 controllers, 1 namespace, 2 paths\n"));
	CHECK(json("doctor")["findings"].empty());
	CHECK(json("doctor")["checked"]["paths"] == 2);
	if (!overRdma())
		CHECK(json("doctor")["skipped"].empty()); // the targets answer pings
	CHECK(namesIt(ctl("doctor --no-probe").text, "--no-probe is given") != overRdma());

	const std::string dead = multi.name(1), other = multi.name(0);
	multi.lane(1).close();
	REQUIRE(multi.host.waitState(dead, ControllerState::connecting));
	CHECK(eventually([&] { return !multi.host.controller(dead).lastError.empty(); }));
	out = ctl("doctor");
	INFO(out.text);
	CHECK(out.status == 1);
	CHECK(namesIt(out.text, "warning: " + dead + ": no connection to " + transport() + " " +
					multi.lane(1).address() + ":4420: connecting"));
	CHECK(namesIt(out.text, "last error: "));
	CHECK(namesIt(out.text, disk + " has 1 of 2 paths"));
	CHECK(namesIt(out.text, "'nvmeofctl events " + dead + "'")); // the next step
	CHECK_FALSE(namesIt(out.text, "warning: " + other));
	CHECK(namesIt(out.text, "\n0 problems, 1 warning; checked: "));

	multi.lane(0).close();
	REQUIRE(eventually([&] { return multi.host.nameSpace(1)->usablePaths == 0; }));
	out = run("nvmeofctl doctor --json 2>/dev/null");
	INFO(out.text);
	CHECK(out.status == 2);
	auto worst = nlohmann::json::parse(out.text)["findings"][0];
	CHECK(worst["severity"] == "problem");
	CHECK(worst["check"] == "no_usable_path");
	CHECK(worst["object"] == disk);
	CHECK(namesIt(worst["advice"], other));

	multi.lane(0).open();
	multi.lane(1).open();
	REQUIRE(multi.allLive(60s));
	CHECK(eventually([&] { return ctl("doctor").status == done; }, 30s));
}

TEST_CASE("doctor finds an MTU that differs on the way, and an interface without carrier", "[control][doctor][tcp]")
{
	Multi multi;
	multi.connectAll();
	const std::string name = multi.name(1);
	multi.lane(1).link().swallowToTarget(1024);
	Stopwatch stopwatch;
	auto out = ctl("doctor");
	INFO(out.text);
	CHECK(stopwatch.elapsed() < scaled(5s));
	CHECK(out.status == 1);
	CHECK(namesIt(out.text, "warning: " + name + ": packets of 1500 bytes"));
	multi.lane(1).link().repair();
	CHECK(eventually([&] { return !namesIt(ctl("doctor").text, "packets of"); }));
	multi.lane(1).link().targetDown();
	out = ctl("doctor");
	INFO(out.text);
	CHECK(namesIt(out.text, "warning: " + multi.lane(1).link().hostIface() + ": no carrier"));
	multi.lane(1).link().repair();
	REQUIRE(multi.allLive(60s));
}

} // namespace guest::control_command
