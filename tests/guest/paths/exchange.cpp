// SPDX-License-Identifier: LGPL-2.1-or-later
// Exchanges the module of a transport for another build, while controllers, disks and I/O stay.
#include "support/block.h"
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "support/multi.h"
#include "target/acts.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace guest::exchange {

using nvmeof::ControllerState;
using Json = nlohmann::json;

namespace {

constexpr int failed = 1, noModule = 8; // exit codes

std::string module()
{
	return "nvmeof_" + transport();
}

std::string installed(const std::string &name = module())
{
	return must("modinfo -n " + name + " | tr -d '\\n'");
}

std::string loadedVersion()
{
	return readFile("/sys/module/" + module() + "/version");
}

// A copy of the module file with one text replaced by another of the same length, like another build.
std::string changed(const std::string &from, const std::string &to)
{
	std::string file = "/run/" + module() + ".ko";
	must("sed s/" + from + "/" + to + "/g " + installed() + " > " + file + " && ! cmp -s " + installed() + " " +
	     file);
	return file;
}

std::string build(char number)
{
	return changed("version=" + readFile("/sys/module/nvmeof/version"), std::string("version=7.0.") + number);
}

Output upgrade(const std::string &file, const std::string &more = "")
{
	return run("nvmeofctl upgrade " + transport() + " --file " + file + " " + more);
}

// All controllers are live, and I/O works.
void usable(Multi &rig)
{
	for (unsigned i = 0; i < rig.lanes(); i++)
		CHECK(rig.host.state(rig.name(i)) == ControllerState::live);
	Disk disk(rig.disk());
	CHECK(disk.verified(32 << 20, 65536, 7) == 0);
}

void asItWas(Multi &rig, const std::string &version)
{
	CHECK(loadedVersion() == version);
	for (unsigned i = 0; i < rig.lanes(); i++)
		CHECK(rig.host.controller(rig.name(i)).reconnects == 0);
	usable(rig);
}

} // namespace

TEST_CASE("the transport is exchanged repeatedly under verified I/O", "[exchange][short]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	Millis longest(0);
	{
		FioLoad load({.file = rig.disk(), .rw = "randrw", .depth = 8, .seconds = 60});
		Probe probe(rig.disk(), {.offset = 48 << 20});
		REQUIRE(rig.waitForLoad());
		probe.mark();
		for (char number : {'1', '2', '3'}) {
			auto out = upgrade(build(number), "--json");
			INFO(out.text);
			REQUIRE(out.status == 0);
			auto told = Json::parse(out.text);
			CHECK(told["to"]["version"] == std::string("7.0.") + number);
			CHECK(told["controllers"].size() == 2);
			CHECK(told["missing"].empty());
			CHECK(loadedVersion() == told["to"]["version"]);
			REQUIRE(rig.waitForLoad());
		}
		longest = probe.longest();
		expectGood(probe);
		expectGoodUntilNow(load);
	}
	std::printf("figure: upgrade/%s-gap: %ld ms that an I/O took at most\n", transport().c_str(),
		    static_cast<long>(longest.count()));
	CHECK(longest < scaled(1s));
	for (unsigned i = 0; i < rig.lanes(); i++)
		CHECK(rig.host.controller(rig.name(i)).reconnects == 3);
	CHECK(rig.host.busy() == 0);
	usable(rig);
}

TEST_CASE("an exchange completes although its caller is killed", "[exchange]")
{
	Multi rig({.lanes = 1});
	rig.connectAll();
	FioLoad load({.file = rig.disk(), .rw = "randrw", .depth = 8, .seconds = 60});
	REQUIRE(rig.waitForLoad());
	auto file = build('9');
	// A shell that only SIGKILL ends, and the command in its process group.
	must("rm -f /run/upgrade.pid");
	Background session(
		"exec setsid bash -c 'trap \"\" HUP INT TERM; (trap - HUP INT TERM; exec nvmeofctl upgrade " +
		transport() + " --file " + file + ") & echo $! > /run/upgrade.pid; wait'");
	std::string pid;
	REQUIRE(eventually([&] {
		pid = exists("/run/upgrade.pid") ? readFile("/run/upgrade.pid") : "";
		return !pid.empty();
	}));
	auto group = must("cut -d ' ' -f 5 /proc/" + pid + "/stat 2>/dev/null || true");
	// The exchange has begun, by a child in its own session, or is over.
	CHECK(eventually([&] {
		auto children = "/proc/" + pid + "/task/" + pid + "/children";
		return !exists(children) || !readFile(children).empty();
	}));
	run("kill -HUP -- -" + group + "; kill -INT -- -" + group + "; kill -KILL -- -" + group);
	CHECK(eventually([] { return loadedVersion() == "7.0.9"; }, 30s));
	CHECK(rig.host.waitState(rig.name(0), ControllerState::live, 30s));
	expectGoodUntilNow(load);
	usable(rig);
	CHECK(upgrade(installed()).status == 0);
}

TEST_CASE("the build that is loaded is exchanged only with --force", "[exchange]")
{
	Multi rig({.lanes = 1});
	rig.connectAll();
	auto out = run("nvmeofctl upgrade " + transport());
	INFO(out.text);
	CHECK(out.status == 0);
	CHECK(out.text.find("is already build") != std::string::npos);
	CHECK(rig.host.controller(rig.name(0)).reconnects == 0);
	CHECK(run("nvmeofctl upgrade " + transport() + " --force").status == 0);
	CHECK(rig.host.controller(rig.name(0)).reconnects == 1);
	usable(rig);
}

TEST_CASE("a file system stays mounted during an exchange", "[exchange]")
{
	Multi rig({.lanes = 1});
	rig.connectAll();
	must("mkfs.ext4 -q -F " + rig.disk() + " && mkdir -p /mnt && mount " + rig.disk() + " /mnt");
	must("head -c 3000000 /dev/urandom > /mnt/dirty && md5sum < /mnt/dirty > /tmp/sum");
	auto out = upgrade(build('4'));
	INFO(out.text);
	CHECK(out.status == 0);
	CHECK(out.text.find("1 controllers live again") != std::string::npos);
	must("sync -f /mnt && umount /mnt && fsck.ext4 -fn " + rig.disk() + " && mount " + rig.disk() + " /mnt");
	CHECK(must("md5sum < /mnt/dirty") == readFile("/tmp/sum") + "\n");
	must("umount /mnt");
}

TEST_CASE("a module that does not fit is refused, and nothing is changed", "[exchange][short]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	auto version = loadedVersion();
	auto refused = [&](const std::string &file, const std::string &why) {
		auto out = upgrade(file);
		INFO(out.text);
		CHECK(out.status == failed);
		CHECK(out.text.find(why) != std::string::npos);
		asItWas(rig, version);
	};
	std::string contract = must("modinfo -F nvmeof_contract " + module() + " | tr -d '\\n'");
	REQUIRE(contract.size() == 16);
	refused(changed(contract, "0123456789abcdef"), "was built for another version of nvmeof");
	refused(installed("nvmeof"), "is the module nvmeof, not " + module());
	refused("/etc/passwd", "is not a kernel module");
	refused("/nonexistent.ko", "the file does not exist");
	refused(changed("vermagic=" + must("uname -r | cut -c 1-3 | tr -d '\\n'"), "vermagic=9.9"),
		"it was built for kernel");
	// The kernel finds this before it finds that a module of that name is loaded.
	refused(changed("linkonce.this_module", "linkonce.this_modulE"), "cannot load " + module());
	auto dry = upgrade(build('5'), "--dry-run");
	CHECK(dry.status == 0);
	CHECK(dry.text.find("would be 7.0.5") != std::string::npos);
	asItWas(rig, version);
	CHECK(run("nvmeofctl upgrade carrier-pigeons").status == 2);
	auto other = transport() == "tcp" ? "rdma" : "tcp";
	if (!exists(std::string("/sys/module/nvmeof_") + other))
		CHECK(run(std::string("nvmeofctl upgrade ") + other).status == noModule);
}

// All checks of the command pass, but the kernel refuses the module.
TEST_CASE("a module that cannot be loaded: the previous one is loaded again", "[exchange]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	FioLoad load({.file = rig.disk(), .rw = "randrw", .depth = 8, .seconds = 60});
	REQUIRE(rig.waitForLoad());
	auto out = upgrade(changed("nof_queue_error", "nof_queue_errox")); // resolved after the check of the name
	INFO(out.text);
	CHECK(out.status == failed);
	CHECK(out.text.find("the previous module has been loaded again") != std::string::npos);
	for (unsigned i = 0; i < rig.lanes(); i++)
		CHECK(rig.host.waitState(rig.name(i), ControllerState::live));
	expectGoodUntilNow(load);
	usable(rig);
}

TEST_CASE("without a module controllers wait within their bounds, and can be removed", "[exchange][short]")
{
	Multi rig({.lanes = 2});
	rig.connect(0);
	auto o = rig.options(1);
	o.ctrlLoss = 3s;
	auto bounded = rig.host.connect(o).name;
	REQUIRE(eventually([&] { return rig.host.paths().size() == 2; }));
	auto disk = rig.disk();
	auto patient = rig.name(0);
	CHECK(take(rig.host.client().version()).transports.size() >= 1);
	CHECK(rig.host.client().keepTransport("carrier-pigeons").error().code == nvmeof::ErrorCode::noSuchObject);
	REQUIRE(rig.host.client().keepTransport(transport()).ok());
	REQUIRE(run("rmmod " + module()).status == 0);
	CHECK_FALSE(exists("/sys/module/" + module()));
	CHECK(rig.host.state(patient) == ControllerState::connecting);
	Background read("dd if=" + disk + " of=/dev/null bs=4k count=1 iflag=direct");
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	CHECK(eventually([&] {
		return rig.host.controller(patient).lastError.find("waits for the module of its transport") !=
		       std::string::npos;
	}));
	CHECK(run("rmmod nvmeof").status != 0); // its controllers keep it
	CHECK(rig.host.waitLost(bounded, 10s));
	CHECK(read.running());
	SECTION("the module is loaded later")
	{
		must("modprobe " + module());
		CHECK(rig.host.waitState(patient, ControllerState::live));
		CHECK(read.wait(20s).status == 0);
		Disk again(disk);
		CHECK(again.verified(0, 65536, 3) == 0);
		// It can be unloaded as usual.
		rig.host.forget();
		CHECK(eventually([] { return run("rmmod " + module()).status == 0; }));
		CHECK(run("ls /sys/class/nvmeof/ | grep .").status != 0);
		must("modprobe " + module());
		rig.host.reopen();
	}
	SECTION("a connect to the same address loads the module")
	{
		auto out = run("nvmeofctl connect -t " + transport() + " -n " + std::string(testNqn) + " -a " +
			       rig.lane(0).address() + ":4420");
		INFO(out.text);
		CHECK(rig.host.waitState(patient, ControllerState::live));
		CHECK(read.wait(20s).status == 0);
		CHECK(rig.host.waitState(bounded, ControllerState::live, 70s)); // although it was lost
		CHECK(take(rig.host.client().controllers()).size() == 2);
	}
	SECTION("it is disconnected")
	{
		CHECK(rig.host.client().disconnect(patient).ok());
		CHECK(rig.host.client().disconnect(bounded).ok());
		CHECK(read.wait(20s).status > 0);
		rig.host.forget();
		CHECK(eventually([] { return run("rmmod nvmeof").status == 0; }));
		Host::load();
		rig.host.reopen();
	}
}

// The target executes a write that was outstanding at the unload, as late as it may.
TEST_CASE("a write that is stuck at its target does not overwrite newer data after an exchange",
	  "[exchange][fencing][trap53]")
{
	static const auto stuck = target::acts::always(target::Hook::execute, [](target::Strike &s) {
		return target::acts::verdict(s.ioWrite(), s, target::Verdict::stall);
	});
	target::Config config;
	config.kas = 1;
	config.lateExpiry = true;
	Ports ports(std::vector<target::Config>{config});
	auto o = ports.options(0);
	o.keepAlive = scaled(2s);
	auto name = ports.host.connect(o).name;
	auto disk = std::make_shared<Disk>(ports.disk());
	REQUIRE(writeTo(*disk, 0, 1) == 0);
	auto file = build('8');
	ports[0].script().arm(stuck);
	Pending pending([disk] {
		int err = writeTo(*disk, 0, 2);
		return err ? err : writeTo(*disk, 0, 3);
	});
	REQUIRE(ports.stalledWrites().wait(1, scaled(5s)));
	Background exchange("nvmeofctl upgrade " + transport() + " --file " + file + " --timeout 60");
	std::this_thread::sleep_until(ports.stalledWrites().deadline() - 200ms);
	CHECK(ports.stalledWrites().execute() == 1);
	REQUIRE(pending.join(scaled(90s)));
	CHECK(pending.status() == 0);
	CHECK(exchange.wait(scaled(60s)).status == 0);
	CHECK(loadedVersion() == "7.0.8");
	CHECK(ports.stored(0, length, 3));
	CHECK(ports.live(name));
}

TEST_CASE("the transport is exchanged while one path is silent or being deleted", "[exchange][tcp]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	rig.set("iopolicy=round-robin fencing=immediate");
	FioLoad load({.file = rig.disk(), .rw = "randrw", .depth = 8, .seconds = 60});
	REQUIRE(rig.waitForLoad());
	rig.lane(1).link().impair("loss 100%");
	SECTION("one of two paths is silent: the other returns at once")
	{
		auto out = upgrade(build('6'), "--timeout 3");
		INFO(out.text);
		CHECK((out.status == 0 || out.status == 6)); // 0 if the silence was noticed before
		CHECK(loadedVersion() == "7.0.6");
		CHECK(rig.host.waitState(rig.name(0), ControllerState::live));
		REQUIRE(rig.waitForLoad());
	}
	SECTION("the silent path is being deleted")
	{
		Background leaves("nvmeofctl disconnect -d " + rig.name(1));
		pause(50ms);
		auto out = upgrade(build('7'), "--timeout 20");
		INFO(out.text);
		CHECK(loadedVersion() == "7.0.7");
		CHECK(leaves.wait(15s).status == 0);
		CHECK(rig.host.waitState(rig.name(0), ControllerState::live));
		REQUIRE(rig.waitForLoad());
	}
	rig.lane(1).repair();
	expectGoodUntilNow(load);
}

} // namespace guest::exchange
