// SPDX-License-Identifier: LGPL-2.1-or-later
// Several paths to one namespace: how they join, which are used, and what happens when that changes.
#include "support/block.h"
#include "support/multi.h"
#include "support/ports.h"
#include "target/acts.h"
#include "target/identify.h"
#include "target/misbehaviour.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <sstream>

namespace guest::multipath {

using nvmeof::AnaState;
using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// No verification, so that the paths are the bottleneck.
FioJob traffic(const std::string &disk, unsigned seconds, unsigned depth = 16)
{
	return {.file = disk, .rw = "randrw", .depth = depth, .verify = false, .seconds = seconds};
}

void flow(const std::string &disk, unsigned seconds, unsigned depth = 16)
{
	auto result =
		runFio(traffic(disk, static_cast<unsigned>(scaled(Millis(seconds * 1000)).count() / 1000), depth));
	INFO(result.text);
	CHECK(result.good());
}

// A netem delay that is long compared with the kernel's own latency, on slow kernels as well.
std::string delay(Millis time)
{
	return "delay " + std::to_string(scaled(time).count()) + "ms";
}

std::string queueAttribute(const std::string &disk, const std::string &name)
{
	return readFile("/sys/block/" + disk.substr(5) + "/queue/" + name);
}

// Makes the namespace private: NMIC is 0, and identifiers differ between controllers that use the same NSID.
bool makePrivate(target::Strike &s, std::uint8_t mark)
{
	auto &data = *s.data;
	if (s.identify(target::cns_ns)) {
		data[target::at::nmic] = 0;
		data[119] = mark; // last byte of NGUID
	} else if (s.identify(target::cns_descs)) {
		data[19] = data[39] = mark; // last byte of NGUID and of UUID
	} else {
		return false;
	}
	return true;
}

const target::Misbehaviour privateNs[] = {
	{"private-1", 0, target::Hook::adminData, target::When::connecting, target::Expect::harmless,
	 target::Needs::nothing, [](target::Strike &s) { return makePrivate(s, 1); }},
	{"private-2", 0, target::Hook::adminData, target::When::connecting, target::Expect::harmless,
	 target::Needs::nothing, [](target::Strike &s) { return makePrivate(s, 2); }},
};

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

void connectWith(Multi &rig, const std::function<void(nvmeof::ConnectOptions &)> &change)
{
	for (unsigned n = 0; n < rig.lanes(); n++) {
		auto o = rig.options(n);
		change(o);
		rig.host.connect(o);
	}
}

// Enables trace events of the modules and searches the trace.
class Trace {
public:
	Trace()
	{
		run("mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing");
		must("cd /sys/kernel/tracing && echo 4096 > buffer_size_kb && echo > trace");
	}
	~Trace() { run("cd /sys/kernel/tracing && echo 0 > events/nvmeof/enable; echo > trace"); }

	static void enable(const std::string &event, bool on)
	{
		writeFile("/sys/kernel/tracing/events/nvmeof/" + event + "/enable", on ? "1" : "0");
	}
	// True if a line of this event matches the regular expression.
	static bool has(const std::string &event, const std::string &text)
	{
		return run("grep -qE ' " + event + ": .*" + text + "' /sys/kernel/tracing/trace").status == 0;
	}
};

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
	auto job = traffic(rig.disk(), 60, 32);
	job.rw = "randwrite";
	job.more = "--numjobs=8 --thread";
	FioLoad load(job);
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

TEST_CASE("numa uses one path, round-robin uses all equally", "[multipath][policy]")
{
	Multi rig({.lanes = 4});
	rig.connectAll();
	REQUIRE(rig.waitPaths(4));
	auto disk = rig.disk();
	rig.set("iopolicy=numa");
	auto shares = rig.shares([&] { flow(disk, 1); });
	INFO(percent(shares));
	CHECK(*std::max_element(shares.begin(), shares.end()) > 0.99);
	rig.set("iopolicy=round-robin");
	shares = rig.shares([&] { flow(disk, 1); });
	INFO(percent(shares));
	for (auto share : shares)
		CHECK(share == Approx(0.25).margin(0.05));
}

TEST_CASE("queue-depth and latency prefer the fast path", "[multipath][policy][tcp]")
{
	Multi rig;
	rig.connectAll();
	auto disk = rig.disk();
	for (auto *policy : {"queue-depth", "latency"}) {
		INFO(policy);
		rig.set("iopolicy=" + std::string(policy));
		rig.lane(1).link().impair(delay(20ms));
		auto shares = rig.shares([&] { flow(disk, 2, 8); });
		INFO("one of them slow: " << percent(shares));
		CHECK(shares[0] > 0.7);
		rig.lane(1).link().repair();
		shares = rig.shares([&] { flow(disk, 2, 8); });
		INFO("both fast: " << percent(shares));
		CHECK(shares[1] > 0.25);
		CHECK(shares[1] < 0.75);
	}
}

TEST_CASE("latency: a path that has recovered is back within a second", "[multipath][policy][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=latency");
	rig.lane(1).link().impair(delay(50ms));
	FioLoad load(traffic(rig.disk(), 60, 8));
	REQUIRE(rig.waitForLoad());
	pause(1s);
	auto slow = rig.shares([] { pause(500ms); });
	INFO("while slow: " << percent(slow));
	CHECK(slow[1] < 0.15);
	rig.lane(1).link().repair();
	pause(scaled(1s)); // requests in flight take longer on a slow kernel
	auto fast = rig.shares([] { pause(1s); });
	INFO("after that: " << percent(fast));
	CHECK(fast[1] > 0.2);
	expectGoodUntilNow(load);
}

TEST_CASE("spill: non-optimized paths take the load above the bound, and give it back",
	  "[multipath][policy][spill][tcp]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.stallTimeout = scaled(300ms); }); // the delay is not a stall
	rig.lane(1).setAna(1, "non-optimized");
	REQUIRE(rig.waitAna(1, AnaState::nonOptimized));
	auto disk = rig.disk();
	auto part = [&](unsigned depth) { return rig.shares([&] { flow(disk, 2, depth); })[1]; };
	rig.set("iopolicy=latency");
	SECTION("by expected time")
	{
		rig.lane(0).link().impair(delay(25ms));
		CHECK(part(8) == 0.0); // spilling is off
		rig.set("spill-us=" + std::to_string(scaled(20ms).count() * 1000));
		CHECK(part(8) > 0.3);
		rig.lane(0).link().repair();
		CHECK(eventually([&] { return part(2) < 0.05; }, 20s));
	}
	SECTION("by depth")
	{
		// long enough for commands to be outstanding at the same time
		for (unsigned n : {0, 1})
			rig.lane(n).link().impair(delay(5ms));
		rig.set("spill-depth=4");
		CHECK(part(32) > 0.1);
		CHECK(part(1) < 0.02);
		rig.set("spill-depth=0");
		CHECK(part(32) == 0.0);
	}
}

TEST_CASE("degrade: an outlier is avoided and restored, each with an event", "[multipath][policy][degrade][tcp]")
{
	Multi rig({.lanes = 3});
	connectWith(rig, [](auto &o) { o.stallTimeout = scaled(1s); }); // slow, but not stalled
	REQUIRE(rig.waitPaths(3));
	rig.set("iopolicy=round-robin degrade=on");
	Watch watch;
	FioLoad load(traffic(rig.disk(), 90));
	REQUIRE(rig.waitForLoad());
	pause(1s);
	auto outlier = rig.path(2).name;
	rig.lane(2).link().impair(delay(40ms));
	auto told = [&](EventType type) {
		return watch.find([&](auto &e) { return e.type == type && e.name() == outlier; }, scaled(10s))
			.has_value();
	};
	CHECK(told(EventType::degraded));
	CHECK(rig.path(2).degraded);
	auto shares = rig.shares([] { pause(scaled(1s)); });
	INFO("left out: " << percent(shares));
	CHECK(shares[2] < 0.1);
	CHECK(shares[2] > 0); // probes
	rig.lane(2).link().repair();
	CHECK(told(EventType::restored));
	CHECK_FALSE(rig.path(2).degraded);
	shares = rig.shares([] { pause(scaled(1s)); });
	INFO("back: " << percent(shares));
	CHECK(shares[2] > 0.2);
	expectGoodUntilNow(load);
}

TEST_CASE("degrade: the last good path stays in use, however slow", "[multipath][policy][degrade][tcp]")
{
	Multi rig;
	rig.connectAll();
	rig.set("iopolicy=round-robin degrade=on");
	FioLoad load(verifiedJob(rig.disk(), 60));
	REQUIRE(rig.waitForLoad());
	rig.lane(0).link().impair(delay(40ms));
	pause(2s);
	rig.lane(1).close(); // the remaining path is an outlier
	auto shares = rig.shares([] { pause(scaled(1500ms)); });
	INFO(percent(shares));
	CHECK(shares[0] > 0.9);
	rig.lane(1).open();
	expectGoodUntilNow(load);
	CHECK(rig.allLive());
}

TEST_CASE("a full queue does not block requests that another path can take", "[multipath][policy][tcp]")
{
	Multi rig;
	auto narrow = rig.options(1);
	narrow.queueSize = 16;
	narrow.ioQueues = 1;
	rig.connect(0); // the first path sets the number of tags
	rig.host.connect(narrow);
	CHECK(rig.host.client().disconnect(rig.name(0)).ok());
	rig.connect(0);
	for (unsigned n = 0; n < 2; n++)
		rig.lane(n).link().impair(delay(5ms));
	rig.set("iopolicy=numa"); // uses the oldest path until its queue is full
	auto shares = rig.shares([&] { flow(rig.disk(), 2, 4); });
	INFO("few: " << percent(shares));
	CHECK(shares[1] > 0.98);
	shares = rig.shares([&] { flow(rig.disk(), 2, 64); });
	INFO("many: " << percent(shares));
	CHECK(shares[0] > 0.3 / timeScale());
	CHECK(shares[1] > 0.05);
}

TEST_CASE("fast_io_fail_tmo bounds the wait when all paths are lost", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.fastIoFail = 1500ms; });
	Disk disk(rig.disk());
	Buffer b(4096);
	rig.lane(0).close();
	REQUIRE(rig.waitPaths(1));
	pause(2s);
	CHECK(disk.verified(0, 4096, 1) == 0); // one path is enough
	Stopwatch watch;                       // starts before the loss: closing takes time
	rig.lane(1).close();
	CHECK(disk.write(0, b) < 0);
	CHECK(watch.elapsed() > 1s);
	CHECK(watch.elapsed() < scaled(5s));
	rig.lane(0).open();
	rig.lane(1).open();
	REQUIRE(rig.waitPaths(2));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("fast_io_fail_tmo bounds the wait when all paths are connected and none is accessible", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.fastIoFail = 1500ms; });
	Disk disk(rig.disk());
	REQUIRE(disk.verified(0, 4096, 1) == 0);
	rig.setAna(1, "inaccessible");
	Stopwatch watch;
	Buffer b(4096);
	CHECK(eventually([&] { return disk.write(0, b) < 0; }, 10s));
	CHECK(watch.elapsed() > 1s);
	CHECK(watch.elapsed() < scaled(5s));
	CHECK(rig.allLive());
	Stopwatch second;
	CHECK(disk.write(0, b) < 0); // later requests do not wait again
	CHECK(second.elapsed() < scaled(1s));
	rig.lane(1).setAna(1, "optimized");
	REQUIRE(rig.waitPaths(1));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("a disk that was never accessible is not visible", "[multipath][bounds]")
{
	Multi rig;
	rig.setAna(1, "inaccessible");
	rig.host.connect(rig.options(0));
	CHECK_FALSE(rig.host.nameSpace(1));
	CHECK(run("ls -d /sys/block/nvmeof*").status != 0);
	rig.lane(0).setAna(1, "optimized");
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("fast_io_fail_tmo bounds a wait that began before it was set", "[multipath][bounds]")
{
	Multi rig;
	rig.connectAll();
	Disk disk(rig.disk());
	rig.setAna(1, "inaccessible");
	REQUIRE(rig.waitPaths(0));
	int written = 0;
	std::jthread writer([&] {
		Buffer b(4096);
		written = disk.write(0, b);
	});
	REQUIRE(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	nvmeof::ControllerSettings settings;
	settings.fastIoFail = 1s;
	Stopwatch watch;
	for (unsigned n = 0; n < 2; n++)
		CHECK(rig.host.client().set(rig.name(n), settings).ok());
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting == 0; }, 5s));
	CHECK(watch.elapsed() < scaled(5s));
	rig.lane(0).setAna(1, "optimized"); // lets the write end
	writer.join();
	CHECK(written < 0);
	CHECK(rig.allLive());
}

TEST_CASE("ctrl_loss_tmo: the disk survives one lost controller, and is removed with the last", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.ctrlLoss = 1500ms; });
	auto disk = rig.disk();
	Probe probe(disk);
	auto first = rig.name(0), second = rig.name(1);
	auto paths = [&] {
		auto n = rig.host.nameSpace(1);
		return n ? std::to_string(n->livePaths) + " of " + std::to_string(n->expectedPaths) : "no disk";
	};
	rig.lane(0).close();
	CHECK(rig.host.waitLost(first, 10s));
	CHECK(eventually([&] { return rig.host.nameSpace(1)->paths == 1; }, 5s));
	CHECK(paths() == "1 of 2"); // until it is disconnected
	auto attempts = rig.host.controller(first).attempts;
	must("nvmeofctl reset " + first);
	CHECK(eventually([&] { return rig.host.controller(first).attempts > attempts; }, 5s));
	pause(300ms);
	CHECK(paths() == "1 of 2"); // also after a failed attempt
	CHECK(probe.moves());
	CHECK(probe.error() == 0);
	rig.lane(1).close();
	CHECK(rig.host.waitLost(second, 10s));
	CHECK(eventually([&] { return probe.error() != 0; }, 5s));
	probe.stop();
	CHECK(eventually([&] { return !exists(disk); }, 5s));
	rig.lane(0).open();
	must("nvmeofctl reset " + first);
	CHECK(rig.host.waitState(first, ControllerState::live, 5s));
	CHECK(rig.disk() == disk);
	CHECK(eventually([&] { return paths() == "1 of 2"; }, 5s));
	must("nvmeofctl disconnect " + second);
	CHECK(eventually([&] { return paths() == "1 of 1"; }, 5s));
}

TEST_CASE("delayed removal: an open xfs survives a full outage, and resumes", "[multipath][bounds][delayed]")
{
	Multi rig({.namespaces = {384 * mib}});
	auto connect = [&](unsigned n) {
		auto o = rig.options(n);
		o.ctrlLoss = 1s;
		return rig.host.connect(o).name;
	};
	std::string names[] = {connect(0), connect(1)};
	auto disk = rig.disk();
	rig.set("delayed-removal-secs=60");
	must("mkfs.xfs -q -f " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
	Background writer("set -e; cd /mnt; for i in $(seq 60); do head -c 200000 /dev/urandom > $i; md5sum $i >> "
			  "/tmp/sums; [ $((i % 5)) != 0 ] || sync; done; sync");
	pause(1s);
	rig.lane(0).close();
	rig.lane(1).close();
	for (auto &name : names)
		CHECK(rig.host.waitLost(name, 10s));
	pause(1s);
	CHECK(exists(disk));
	auto n = rig.host.nameSpace(1);
	REQUIRE(n);
	CHECK(n->paths == 0);
	rig.lane(0).open();
	rig.lane(1).open();
	for (auto &name : names)
		must("nvmeofctl reset " + name);
	CHECK(eventually([&] { return rig.host.nameSpace(1)->livePaths == 2; }, 10s));
	CHECK(rig.disk() == disk);
	auto out = writer.wait(60s);
	INFO(out.text);
	CHECK(out.status == 0);
	must("umount /mnt && mount " + disk + " /mnt && cd /mnt && md5sum -c /tmp/sums");
	must("umount /mnt && xfs_repair -n " + disk + " && rm /tmp/sums");
}

TEST_CASE("delayed removal: a private namespace that returns gets its disk back", "[multipath][bounds][delayed]")
{
	target::Server server(reachable());
	server.stores().add(1, 8 * mib);
	server.script().arm(privateNs[0], target::Script::forever);
	auto nqn = server.config().nqn;
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), nqn);
	o.ctrlLoss = 1s;
	auto name = host.connect(o).name;
	auto node = host.disk(1, 10s, nqn);
	must("nvmeofctl set " + take(host.client().subsystems()).front().name + " delayed-removal-secs=60");
	Probe probe(node);
	REQUIRE(probe.moves());
	server.stop();
	REQUIRE(host.waitLost(name, 10s));
	CHECK(exists(node));
	server.start();
	must("nvmeofctl reset " + name);
	CHECK(host.disk(1, 10s, nqn) == node);
	CHECK(take(host.client().namespaces()).size() == 1);
	CHECK(probe.moves());
	expectGood(probe);
	// An explicit disconnect removes the disk without the delay.
	const Disk open(node);
	server.stop();
	REQUIRE(host.waitLost(name, 10s));
	CHECK(exists(node));
	const Output refused = run("nvmeofctl disconnect " + name);
	INFO(refused.text);
	CHECK(refused.status == 10); // it is open
	CHECK(exists(node));
	must("nvmeofctl disconnect --force " + name);
	CHECK(eventually([&] { return !exists(node); }, 5s));
}

TEST_CASE("delayed removal: waiting I/O fails when the delay ends", "[multipath][bounds][delayed][short]")
{
	Multi rig({.lanes = 1});
	auto o = rig.options(0);
	o.ctrlLoss = 500ms;
	auto c = rig.host.connect(o);
	auto node = rig.disk();
	rig.set("delayed-removal-secs=3");
	Probe probe(node);
	rig.lane(0).close();
	REQUIRE(rig.host.waitLost(c.name, 10s));
	Stopwatch watch;
	pause(1s);
	CHECK(probe.error() == 0);
	CHECK(exists(node));
	CHECK(eventually([&] { return probe.error() != 0; }, 10s));
	CHECK(watch.elapsed() > 1500ms);
	CHECK(watch.elapsed() < scaled(6s));
	probe.stop();
	CHECK(eventually([&] { return !exists(node); }, 5s));
}

TEST_CASE("delayed removal delays neither a disconnect nor unloading", "[multipath][bounds][delayed]")
{
	Multi rig;
	rig.connectAll();
	auto node = rig.disk();
	rig.set("delayed-removal-secs=60");
	SECTION("a disconnect of all")
	{
		Stopwatch watch;
		rig.host.disconnectAll();
		CHECK(watch.elapsed() < scaled(3s));
		CHECK(eventually([&] { return !exists(node); }, 1s));
		CHECK(take(rig.host.client().namespaces()).empty());
	}
	SECTION("a disconnect one by one")
	{
		CHECK(rig.host.client().disconnect(rig.name(0)).ok());
		CHECK(exists(node));
		CHECK(rig.host.client().disconnect(rig.name(1)).ok());
		CHECK(eventually([&] { return !exists(node); }, 1s));
	}
	SECTION("unloading")
	{
		rig.host.releaseLockdepReferences();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
		Host::load();
		rig.host.reopen();
		rig.connectAll();
	}
}

TEST_CASE("counters of the paths equal those of the disk, after failures and resets as well",
	  "[multipath][telemetry][short][tcp]")
{
	Multi rig({.lanes = 3});
	rig.connectAll();
	REQUIRE(rig.waitPaths(3));
	rig.set("iopolicy=round-robin");
	auto disk = rig.disk();
	must("udevadm settle 2>/dev/null; true");
	struct Sum {
		std::uint64_t ios = 0, bytes = 0;
		bool operator==(const Sum &) const = default;
	};
	auto paths = [&] {
		Sum sum;
		for (auto &p : rig.host.paths()) {
			sum.ios += p.ios;
			sum.bytes += p.bytesRead + p.bytesWritten;
		}
		return sum;
	};
	auto block = [&] {
		std::istringstream stat(readFile("/sys/block/" + disk.substr(5) + "/stat"));
		std::uint64_t f[17] = {};
		for (auto &value : f)
			stat >> value;
		return Sum{f[0] + f[4] + f[11] + f[15], (f[2] + f[6]) * 512};
	};
	pause(300ms);
	auto paths0 = paths(), block0 = block();
	FioLoad load(verifiedJob(disk, 60, 16));
	REQUIRE(rig.waitForLoad());
	rig.lane(0).link().impair("loss 100%"); // requests in flight there do not complete
	CHECK(rig.host.waitState(rig.name(0), ControllerState::connecting));
	rig.lane(0).link().repair();
	rig.lane(1).setAna(1, "inaccessible");
	pause(scaled(500ms));
	rig.lane(1).setAna(1, "optimized");
	CHECK(rig.host.client().reset(rig.name(2)).ok());
	expectGoodUntilNow(load);
	CHECK(rig.allLive());
	pause(300ms);
	auto paths1 = paths(), block1 = block();
	CHECK(paths1.ios - paths0.ios == block1.ios - block0.ios);
	CHECK(paths1.bytes - paths0.bytes == block1.bytes - block0.bytes);
	std::uint64_t retries = 0, from = 0, to = 0, latencies = 0;
	for (auto &p : rig.host.paths()) {
		CHECK(p.inflight == 0);
		retries += p.retries;
		from += p.failoversFrom;
		to += p.failoversTo;
		latencies += nvmeof::countOf(p.readLatency) + nvmeof::countOf(p.writeLatency);
	}
	CHECK(retries > 0);
	CHECK(from > 0);
	CHECK(to > 0);
	CHECK(to <= from);
	CHECK(latencies == paths1.ios);
}

TEST_CASE("trace events report path changes and requeued requests", "[multipath][trace][short][tcp]")
{
	Multi rig;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	auto first = rig.path(0).name, second = rig.path(1).name;
	auto lost = rig.name(0);
	Trace trace;
	for (auto *event : {"nof_requeue", "nof_failover", "nof_ctrl_state", "nof_path_set"})
		Trace::enable(event, true);
	FioLoad load(verifiedJob(rig.disk(), 60, 16));
	REQUIRE(rig.waitForLoad());
	CHECK_FALSE(Trace::has("nof_requeue", first));

	Trace::enable("nof_path_select", true); // one event per request: enabled only briefly
	for (auto &path : {first, second}) {
		INFO(path);
		CHECK(eventually([&] { return Trace::has("nof_path_select", path + ": context [0-9]+, tag [0-9]+"); },
				 10s));
	}
	Trace::enable("nof_path_select", false);

	rig.lane(0).link().impair("loss 100%"); // requests in flight there do not complete
	REQUIRE(rig.host.waitState(lost, ControllerState::connecting));
	bool told = eventually([&] { return Trace::has("nof_failover", "requests left " + first); });
	INFO(run("grep -v nof_path_select /sys/kernel/tracing/trace | head -n 40").text);
	CHECK(told);
	CHECK(Trace::has("nof_requeue", first + ": .*status 0x"));
	CHECK(Trace::has("nof_ctrl_state", lost + ": live -> "));
	CHECK(Trace::has("nof_path_set", ": 1 paths, 1 optimized"));
	rig.lane(0).link().repair();
	CHECK(rig.waitPaths(2));
	CHECK(eventually([&] { return Trace::has("nof_path_set", ": 2 paths, 2 optimized"); }));
	expectGoodUntilNow(load);
}

} // namespace guest::multipath
