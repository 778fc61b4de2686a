// SPDX-License-Identifier: LGPL-2.1-or-later
// Several paths to one namespace: how they join one disk, and what happens when paths are added or removed.
#include "multipath_setup.h"
#include "support/block.h"
#include "support/multi.h"
#include "target/acts.h"
#include "target/identify.h"
#include "target/misbehaviour.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>

namespace guest::multipath {

using nvmeof::AnaState;
using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::string queueAttribute(const std::string &disk, const std::string &name)
{
	return readFile("/sys/block/" + disk.substr(5) + "/queue/" + name);
}

// Reports an MDTS of 64 KiB to the first Identify Controller, and 32 KiB to all later ones.
std::atomic<unsigned> narrowings;
const target::Misbehaviour narrow{"narrow",
				  0,
				  target::Hook::adminData,
				  target::When::connecting,
				  target::Expect::harmless,
				  target::Needs::nothing,
				  [](target::Strike &s) {
					  return s.identify(target::cns_ctrl) &&
						 target::acts::poke<std::uint8_t>(true, s, target::at::mdts,
										  narrowings++ ? 3 : 4);
				  }};

const target::Misbehaviour holdRead{"hold-read",
				    0,
				    target::Hook::command,
				    target::When::io,
				    target::Expect::harmless,
				    target::Needs::nothing,
				    [](target::Strike &s) {
					    return target::acts::verdict(s.ioRead() && s.cmd->slba() == 12 * mib / 512,
									 s, target::Verdict::hold);
				    }};

const target::Misbehaviour narrowAll{"narrow-all",
				     0,
				     target::Hook::adminData,
				     target::When::connecting,
				     target::Expect::harmless,
				     target::Needs::nothing,
				     [](target::Strike &s) {
					     return target::acts::poke<std::uint8_t>(s.identify(target::cns_ctrl), s,
										     target::at::mdts, 4); // 64 KiB
				     }};

const target::Misbehaviour holdWrite{
	"hold-write",
	0,
	target::Hook::command,
	target::When::io,
	target::Expect::harmless,
	target::Needs::nothing,
	[](target::Strike &s) { return target::acts::verdict(s.ioWrite(), s, target::Verdict::hold); }};

} // namespace

TEST_CASE("paths with different queue counts and sizes join one disk", "[multipath][join]")
{
	Multi rig({.lanes = 4});
	auto small = rig.options(1), few = rig.options(2), flow = rig.options(3);
	small.queueSize = 16;
	few.ioQueues = 1;
	flow.sqFlow = true;
	flow.hdrDigest = !overRdma();
	rig.connect(0);
	rig.host.connect(small);
	rig.host.connect(few);
	rig.host.connect(flow);
	REQUIRE(rig.waitPaths(4));
	CHECK(take(rig.host.client().namespaces()).size() == 1);
	CHECK(take(rig.host.client().subsystems()).size() == 1);
	auto disk = rig.disk();
	CHECK(must("ls /sys/block/" + disk.substr(5) + "/paths | wc -l") == "4\n");
	rig.set("iopolicy=round-robin");
	auto job = verifiedJob(disk, 3, 64);
	job.blocks = "4k";
	auto shares = rig.shares([&] {
		FioLoad load(job);
		expectGood(load);
	});
	INFO(percent(shares));
	for (auto share : shares)
		CHECK(share > 0.02);
}

TEST_CASE("verified load runs over eight paths under each policy", "[multipath][join][short]")
{
	Multi rig({.lanes = 8});
	rig.connectAll();
	REQUIRE(rig.waitPaths(8));
	for (auto &policy : rig.policies()) {
		INFO(policy);
		rig.set("iopolicy=" + policy);
		auto job = verifiedJob(rig.disk(), 1, 32);
		job.blocks = "4k";
		job.size = "2m";
		auto shares = rig.shares([&] {
			auto result = runFio(job);
			INFO(result.text);
			CHECK(result.good());
		});
		INFO(percent(shares));
		if (policy == "round-robin")
			for (auto share : shares)
				CHECK(share == Approx(0.125).margin(0.05));
	}
}

TEST_CASE("namespaces that are not shared stay separate", "[multipath][join]")
{
	target::Server servers[] = {target::Server(reachable()), target::Server(reachable())};
	servers[1].associations().create(); // so that the controller IDs differ
	Host host;
	for (int i = 0; i < 2; i++) {
		auto &server = servers[i];
		server.stores().add(1, 8 * mib);
		server.script().arm(privateNs[i], target::Script::forever);
		host.connect(Host::options(here(), std::to_string(server.port()), server.config().nqn));
	}
	CHECK(take(host.client().subsystems()).size() == 1);
	auto both = take(host.client().namespaces());
	REQUIRE(both.size() == 2);
	CHECK(both[0].wwid != both[1].wwid);
	for (auto &n : both) {
		CHECK(n.paths == 1);
		CHECK(n.nsid == 1);
	}
	Disk a("/dev/" + both[0].name), b("/dev/" + both[1].name);
	CHECK(a.verified(0, 65536, 1) == 0);
	CHECK(b.verified(0, 65536, 2) == 0);
	Buffer left(65536);
	REQUIRE(a.read(0, left) == 0);
	CHECK(left.holds(1));
}

TEST_CASE("a later path that takes less in one command narrows the disk, under load",
	  "[multipath][join][limits][short]")
{
	target::Server server(reachable());
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
	host.connect(o);
	auto disk = host.disk(1, 10s, server.config().nqn);
	REQUIRE(std::stoul("0" + queueAttribute(disk, "max_hw_sectors_kb")) == 1024);
	FioLoad load({.file = disk, .blocks = "512k", .depth = 4, .size = "8m", .seconds = 60});
	CHECK(eventually([&] { return host.paths().front().ios > 20; }, 20s));
	server.script().arm(narrow, target::Script::forever);
	o.duplicateConnect = true;
	std::size_t more = 1;
	SECTION("one")
	{
		narrowings = 1;
	}
	SECTION("two at the same time, to different sizes")
	{
		narrowings = 0;
		more = 2;
	}
	for (auto &c : host.client().connectAll(std::vector(more, o), nvmeof::WaitFor::namespaces, scaled(30s)))
		take(c);
	CHECK(eventually([&] { return host.nameSpace(1, server.config().nqn)->usablePaths == 1 + more; }, 15s));
	CHECK(queueAttribute(disk, "max_hw_sectors_kb") == "32");
	CHECK(std::stoul("0" + queueAttribute(disk, "max_sectors_kb")) <= 32);
	must("nvmeofctl set " + take(host.client().subsystems()).front().name + " iopolicy=round-robin");
	for (auto &p : host.paths())
		CHECK(eventually([&] { return take(host.client().path(p.name)).ios > p.ios + 10; }, 10s));
	expectGoodUntilNow(load);
	for (auto &text : server.violations())
		FAIL_CHECK("the host broke the protocol: " << text);
}

TEST_CASE("a disk with a stuck request is not narrowed; the path joins once the request ends",
	  "[multipath][join][limits][short]")
{
	target::Server server(reachable());
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
	o.stallTimeout = 0ms;
	auto first = host.connect(o);
	auto node = host.disk(1, 10s, server.config().nqn);
	writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", std::to_string(scaled(60s).count()));
	server.script().arm(holdWrite);
	int written = -1;
	std::jthread writer([&] { written = Disk(node).verified(0, 4096, 1); });
	REQUIRE(server.script().waitStrikes(1, scaled(5s)));
	narrowings = 0;
	server.script().arm(narrow, target::Script::forever);
	Watch watch;
	o.duplicateConnect = true;
	auto second = take(host.client().connect(o, nvmeof::WaitFor::controller, scaled(10s)));
	CHECK(watch.find([](auto &e) { return e.type == EventType::refused; }, 20s));
	CHECK(host.controller(second.name).lastError.find("requests do not complete") != std::string::npos);
	CHECK(host.state(second.name) == ControllerState::live);
	CHECK(host.nameSpace(1, server.config().nqn)->usablePaths == 1);
	CHECK(queueAttribute(node, "max_hw_sectors_kb") == "1024");
	// The disk stays usable: it is not frozen repeatedly.
	Disk disk(node);
	Millis frozen = 0ms;
	for (Stopwatch all; all.elapsed() < 5s;) {
		Stopwatch one;
		REQUIRE(disk.verified(65536, 4096, 7) == 0);
		if (one.elapsed() > 1s)
			frozen += one.elapsed();
	}
	CHECK(frozen < 3s);
	server.releaseHeld();
	CHECK(eventually([&] { return host.nameSpace(1, server.config().nqn)->usablePaths == 2; }, 40s));
	CHECK(queueAttribute(node, "max_hw_sectors_kb") == "64");
	writer.join();
	CHECK(written == 0);
	CHECK(host.controller(first.name).reconnects == 0);
	for (auto &text : server.violations())
		FAIL_CHECK("the host broke the protocol: " << text);
}

// The path reconnected with a smaller MDTS while outstanding requests kept the disk from being narrowed.
TEST_CASE("a path below the limits of the disk is the last resort", "[multipath][join][limits][short]")
{
	target::Server server(reachable());
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
	o.stallTimeout = 0ms;
	o.duplicateConnect = true;
	host.connect(o);
	host.connect(o);
	auto node = host.disk(1, 10s, server.config().nqn);
	writeFile("/sys/block/" + node.substr(5) + "/queue/io_timeout", std::to_string(scaled(60s).count()));
	server.script().arm(holdRead);
	Disk disk(node);
	int held = -1;
	std::jthread reader([&] {
		Buffer buffer(65536);
		held = disk.read(12 * mib, buffer); // an offset no other read uses
	});
	REQUIRE(server.script().waitStrikes(1, scaled(5s)));
	auto paths = host.paths();
	REQUIRE(paths.size() == 2);
	auto &busy = paths[0].inflight ? paths[0] : paths[1], &other = paths[0].inflight ? paths[1] : paths[0];
	server.script().arm(narrowAll, target::Script::forever);
	REQUIRE(host.client().reset(other.controller).ok());
	auto now = [&] { return take(host.client().path(other.name)); };
	REQUIRE(eventually([&] { return now().reconnects == 1 && now().controllerState == ControllerState::live; },
			   10s));
	REQUIRE(eventually([&] { return !now().usable; }, 15s));
	CHECK(disk.verified(1 * mib, 1 * mib, 1) == 0); // by the other path
	REQUIRE_FALSE(now().usable);
	REQUIRE(host.client().disconnect(busy.controller).ok());
	CHECK(eventually([&] { return now().usable; }, 10s));
	Buffer large(262144); // within the limit of the disk, but too large for this path: not sent
	auto promised = queueAttribute(node, "max_hw_sectors_kb");
	int err = disk.read(0, large);
	CHECK((err < 0 || promised == "64" || queueAttribute(node, "max_hw_sectors_kb") == "64"));
	reader.join();
	CHECK(held == 0);
	CHECK(disk.verified(1 * mib, 65536, 2) == 0);
	CHECK(eventually([&] { return queueAttribute(node, "max_hw_sectors_kb") == "64"; }, 40s));
	CHECK(disk.read(0, large) == 0);
	CHECK(now().reconnects == 1);
	for (auto &text : server.violations())
		FAIL_CHECK("the host broke the protocol: " << text);
}

TEST_CASE("two paths to a target without ANA are used equally", "[multipath][join]")
{
	target::Server server(reachable());
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
	o.duplicateConnect = true;
	auto first = host.connect(o);
	host.connect(o);
	auto disk = host.disk(1, 10s, server.config().nqn);
	must("nvmeofctl set " + take(host.client().subsystems()).front().name + " iopolicy=round-robin");
	FioLoad load(verifiedJob(disk, 60));
	for (auto &p : host.paths()) {
		CHECK(p.anaState == AnaState::none);
		CHECK(p.usable);
		CHECK(eventually([&] { return take(host.client().path(p.name)).ios > 10; }, 3s));
	}
	server.dropConnections(true);
	CHECK(host.waitState(first.name, ControllerState::live));
	expectGoodUntilNow(load);
}

TEST_CASE("a path added at run time takes load at once", "[multipath][change]")
{
	Multi rig;
	rig.connect(0);
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60));
	REQUIRE(rig.waitForLoad());
	rig.connect(1);
	auto shares = rig.shares([] { pause(1s); });
	INFO(percent(shares));
	CHECK(shares[1] > 0.3);
	expectGoodUntilNow(load);
}

TEST_CASE("disconnect of one path under load moves or finishes its I/O", "[multipath][change]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	for (unsigned i = 0; i < 4; i++) {
		pause(500ms);
		Stopwatch watch;
		CHECK(rig.host.client().disconnect(rig.name(i % 2)).ok());
		CHECK(watch.elapsed() < scaled(3s));
		CHECK(rig.host.nameSpace(1)->paths == 1);
		pause(300ms);
		rig.connect(i % 2);
	}
	expectGoodUntilNow(load);
}

// A task that sends for other submitters of a shared queue must not do so without a bound.
TEST_CASE("the recovery of one path does not wait for the load on another", "[multipath][change]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.ioQueues = 1; });
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=numa");
	FioLoad load({.file = rig.disk(),
		      .rw = "randwrite",
		      .depth = 32,
		      .verify = false,
		      .seconds = 60,
		      .more = "--numjobs=8 --thread"});
	REQUIRE(rig.waitForLoad());
	unsigned idle = rig.path(0).ios > rig.path(1).ios ? 1 : 0;
	Millis longest = 0ms;
	for (int i = 0; i < 10; i++) {
		Stopwatch watch;
		auto before = rig.host.controller(rig.name(idle)).reconnects;
		REQUIRE(rig.host.client().reset(rig.name(idle)).ok());
		REQUIRE(eventually([&] { return rig.host.controller(rig.name(idle)).reconnects > before; }, 30s));
		longest = std::max(longest, watch.elapsed());
		REQUIRE(rig.waitPaths(2));
	}
	std::printf("recovery next to a load: %ld ms at most\n", static_cast<long>(longest.count()));
	CHECK(longest < scaled(2s));
	expectGoodUntilNow(load);
}

} // namespace guest::multipath
