// SPDX-License-Identifier: LGPL-2.1-or-later
// Scarce or unusual resources: little memory, CPU hotplug, queue counts, a clock that jumps, a suspended target.
#include "support/block.h"
#include "support/multi.h"
#include "support/ports.h"

#include <catch2/catch.hpp>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>

namespace guest::limits {

using nvmeof::ControllerState;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// A memory control group with a limit, for the processes that join it.
class MemoryGroup {
public:
	explicit MemoryGroup(std::uint64_t limit)
	{
		must("mkdir -p /tmp/cg && mount -t cgroup2 none /tmp/cg && echo +memory > "
		     "/tmp/cg/cgroup.subtree_control"
		     " && mkdir -p " +
		     dir);
		writeFile(dir + "/memory.max", std::to_string(limit));
	}
	~MemoryGroup() { run("rmdir " + dir + "; umount /tmp/cg"); }
	MemoryGroup(const MemoryGroup &) = delete;
	MemoryGroup &operator=(const MemoryGroup &) = delete;

	void join() const { writeFile(dir + "/cgroup.procs", std::to_string(::getpid())); }
	std::uint64_t swapped() const { return std::stoull("0" + readFile(dir + "/memory.swap.current")); }
	std::string events() const { return readFile(dir + "/memory.events"); }

private:
	const std::string dir = "/tmp/cg/few";
};

class Swap {
public:
	explicit Swap(std::string disk) : disk_(std::move(disk)) { must("mkswap " + disk_ + " && swapon " + disk_); }
	~Swap()
	{
		auto out = run("swapoff " + disk_);
		INFO(out.text);
		CHECK(out.status == 0);
	}
	Swap(const Swap &) = delete;
	Swap &operator=(const Swap &) = delete;

private:
	std::string disk_;
};

std::uint64_t word(std::uint64_t who, std::uint64_t round, std::uint64_t at)
{
	auto x = (who << 56 ^ round << 40 ^ at) * 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

// Writes a mapping repeatedly, at least twice, and checks the previous contents each time. Returns 0 if they were
// always right.
int useMemory(std::size_t bytes, std::uint64_t who, Millis time)
{
	auto count = bytes / sizeof(std::uint64_t);
	auto *memory = static_cast<std::uint64_t *>(
		::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	if (memory == MAP_FAILED)
		return 2;
	Stopwatch watch;
	for (std::uint64_t round = 1; round <= 2 || watch.elapsed() < time; round++)
		for (std::size_t i = 0; i < count; i++) {
			if (memory[i] != (round > 1 ? word(who, round - 1, i) : 0))
				return 3;
			memory[i] = word(who, round, i);
		}
	return 0;
}

// Processes that together use more memory than their group allows
class MemoryLoad {
public:
	MemoryLoad(const MemoryGroup &group, unsigned count, std::size_t bytes, Millis time)
	{
		for (unsigned i = 0; i < count; i++) {
			auto pid = ::fork();
			if (pid == 0) {
				group.join();
				::_exit(useMemory(bytes, i + 1, time));
			}
			pids_.push_back(pid);
		}
	}
	~MemoryLoad()
	{
		for (auto pid : pids_)
			::kill(pid, SIGKILL);
		join();
	}
	MemoryLoad(const MemoryLoad &) = delete;
	MemoryLoad &operator=(const MemoryLoad &) = delete;

	// The number of processes that failed or were killed
	int join()
	{
		int bad = 0;
		for (auto pid : pids_) {
			int status = 0;
			::waitpid(pid, &status, 0);
			bad += status != 0;
		}
		pids_.clear();
		return bad;
	}

private:
	std::vector<pid_t> pids_;
};

std::uint64_t written(Multi &rig, std::uint32_t nsid)
{
	std::uint64_t sum = 0;
	for (unsigned n = 0; n < rig.lanes(); n++)
		sum += rig.path(n, nsid).bytesWritten;
	return sum;
}

} // namespace

TEST_CASE("swap on two paths, of which one is silent for a while, and then both are gone",
	  "[limits][swap][trap13][tcp]")
{
	Multi rig({.namespaces = {256 * mib, 32 * mib}});
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	Swap swap(rig.disk(1));
	MemoryGroup group(40 * mib);
	FioLoad writes(verifiedJob(rig.disk(2), 300, 4));
	auto before = written(rig, 1);
	MemoryLoad memoryLoad(group, 4, 24 * mib, scaled(14s));
	REQUIRE(eventually([&] { return group.swapped() > 16 * mib; }, 15s));
	rig.lane(0).link().impair("loss 100%");
	pause(2s);
	rig.lane(0).link().repair();
	CHECK(rig.waitPaths(2));
	rig.lane(0).close();
	rig.lane(1).close();
	CHECK(rig.waitPaths(0));
	pause(1s);
	rig.lane(1).open();
	rig.lane(0).open();
	CHECK(rig.waitPaths(2));
	auto still = group.swapped();
	INFO(group.events());
	CHECK(memoryLoad.join() == 0);
	auto out = written(rig, 1) - before;
	std::printf("swap: %lu MiB written, %lu MiB out at a time\n", out / mib, still / mib);
	CHECK(out > 32 * mib);
	expectGoodUntilNow(writes);
}

TEST_CASE("data are copied where the target may be on this machine", "[limits][trap3][tcp]")
{
	Netns far("far");
	Link link(far, "far", 77);
	target::Config config;
	config.address = link.targetAddress();
	SECTION("loopback")
	{
		config.address = "127.0.0.1";
	}
	SECTION("veth") {}
	SECTION("behind a bridge")
	{
		must("ip link add br77 type bridge && ip addr flush dev " + link.hostIface() + " && ip link set " +
		     link.hostIface() + " master br77 && ip addr add " + link.hostAddress() +
		     "/24 dev br77 && ip link set br77 up");
	}
	std::optional<InNetns> inside;
	if (config.address != "127.0.0.1")
		inside.emplace(far.name());
	target::Server server(config);
	inside.reset();
	server.stores().add(1, 16 * mib);
	Host host;
	auto c = host.connect(Host::options(config.address, std::to_string(server.port()), config.nqn));
	CHECK(c.copies);
	CHECK(must("nvmeofctl show " + c.name).find(": no, data are copied") != std::string::npos);
	CHECK(Disk(host.disk(1, 10s, config.nqn)).verified(0, 1 * mib, 1) == 0);
	host.disconnectAll();
	run("ip link del br77");
}

// The target is a process outside the guest (tests/guest/outer). It has its own memory, so the whole guest may run out
// of memory.
TEST_CASE("swap of a machine that is out of memory", "[.outer][limits][swap][trap13]")
{
	auto address = environment("NVMEOF_TARGET", "");
	REQUIRE_FALSE(address.empty());
	Host host;
	auto colon = address.rfind(':');
	auto o = Host::options(address.substr(0, colon), address.substr(colon + 1), "nqn.2024-01.io.nvmeof:target");
	o.stallTimeout = 0ms;
	auto c = host.connect(o);
	CHECK_FALSE(c.copies); // reached over a network card
	auto disk = host.disk(1, 10s, o.subsysnqn);
	auto total = std::stoul(must("awk '/^MemTotal:/ { print $2 }' /proc/meminfo")) * 1024;
	Swap swap(disk);
	MemoryGroup group(2 * total); // above the memory of the machine: no limit
	const unsigned count = 4;
	MemoryLoad memoryLoad(group, count, total / count / mib * mib, scaled(25s));
	CHECK(eventually([&] { return group.swapped() > total / 16; }, 60s));
	pause(2s);
	(void)host.client().reset(c.name); // reconnects while memory is short
	CHECK(eventually([&] { return host.controller(c.name).reconnects == 1; }, 20s));
	CHECK(host.waitState(c.name, ControllerState::live));
	CHECK(memoryLoad.join() == 0);
	auto p = host.paths().at(0);
	std::printf("swap of a machine of %lu MiB: %lu MiB out, %lu MiB in\n", total / mib, p.bytesWritten / mib,
		    p.bytesRead / mib);
	CHECK(p.bytesWritten > total / 4);
	CHECK(p.bytesRead > total / 8);
	CHECK(host.controller(c.name).reconnects == 1);
}

namespace {

struct Shape {
	unsigned io, poll;
};

std::vector<std::string> hotpluggableCpus()
{
	std::vector<std::string> found;
	for (int i = 1; i < 64; i++)
		if (auto file = "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/online"; exists(file))
			found.push_back(file);
	return found;
}

FioJob polledJob(const std::string &disk)
{
	return {.file = disk,
		.blocks = "4k",
		.depth = 8,
		.size = "4m",
		.engine = "io_uring",
		.seconds = 60,
		.more = "--hipri --offset=32m"};
}

} // namespace

TEST_CASE("CPUs go offline and online, two paths, several queue counts and kinds", "[limits][cpus][trap23]")
{
	auto cpus = hotpluggableCpus();
	REQUIRE_FALSE(cpus.empty());
	auto shape = GENERATE(Shape{1, 0}, Shape{2, 2}, Shape{5, 1});
	INFO(shape.io << " queues, " << shape.poll << " of them polled");
	Multi rig;
	std::vector<nvmeof::ConnectOptions> all;
	for (unsigned lane = 0; lane < 2; lane++) {
		all.push_back(rig.options(lane));
		all.back().ioQueues = shape.io;
		all.back().pollQueues = shape.poll;
	}
	all[1].ioQueues = shape.io + 1; // paths may differ
	for (auto &c : rig.host.client().connectAll(all, nvmeof::WaitFor::namespaces, scaled(30s)))
		CHECK(take(c).pollQueues == shape.poll);
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 60, 8));
	std::optional<FioLoad> polled;
	if (shape.poll)
		polled.emplace(polledJob(rig.disk()));
	REQUIRE(rig.waitForLoad());
	for (int round = 0; round < 2; round++) {
		for (auto &cpu : cpus)
			writeFile(cpu, "0");
		CHECK(rig.waitForLoad());
		if (round == 0)
			CHECK(rig.host.client().reset(rig.name(0)).ok()); // reconnects with few CPUs online
		for (auto &cpu : cpus)
			writeFile(cpu, "1");
		CHECK(rig.waitForLoad());
	}
	CHECK(rig.waitPaths(2));
	expectGoodUntilNow(load);
	if (polled)
		expectGoodUntilNow(*polled);
}

namespace {

// Binds the calling thread to one CPU for the lifetime of the object.
class OnCpu {
public:
	explicit OnCpu(int cpu)
	{
		::sched_getaffinity(0, sizeof(before_), &before_);
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
	}
	~OnCpu() { ::sched_setaffinity(0, sizeof(before_), &before_); }
	OnCpu(const OnCpu &) = delete;
	OnCpu &operator=(const OnCpu &) = delete;

private:
	cpu_set_t before_;
};

// "0-63", or "0"
std::uint32_t possibleCpus()
{
	auto text = readFile("/sys/devices/system/cpu/possible");
	return static_cast<std::uint32_t>(std::stoul(text.substr(text.find('-') + 1))) + 1;
}

} // namespace

TEST_CASE("1 queue and 64: all granted queues are connected, and every CPU completes I/O", "[limits][queues]")
{
	target::Server server(reachable());
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
	const auto cpus = possibleCpus(); // 64 queues need --smp 4,maxcpus=64
	REQUIRE(cpus >= std::stoul(environment("NVMEOF_CPUS", "1")));
	auto check = [&](std::uint32_t asked, std::uint32_t offered) {
		auto granted = std::min({asked, offered, cpus}); // further queues would have no CPU
		INFO(asked << " queues asked for, " << offered << " to be had, " << cpus << " CPUs");
		auto connects = server.counters().ioConnects.load();
		o.ioQueues = asked;
		auto c = host.connect(o, 60s);
		CHECK(c.ioQueues == granted);
		CHECK(server.counters().ioConnects - connects == granted);
		// All requests together may use 16 MiB; each takes more than 512 bytes.
		auto requests = take(host.client().subsystems()).front().tags * std::uint64_t(granted);
		CHECK(requests <= std::max<std::uint64_t>(16 * mib / 512, 64 * granted));
		auto disk = host.disk(1, 10s, o.subsysnqn);
		for (int cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
			OnCpu here(cpu);
			Disk one(disk);
			INFO("CPU " << cpu);
			for (std::uint32_t seed = 0; seed < 16; seed++)
				CHECK(one.verified(seed * 131072, seed % 2 ? 131072 : 4096, seed) == 0);
		}
		auto load = runFio({.file = disk, .blocks = "4k", .depth = 64, .size = "2m"});
		INFO(load.text);
		CHECK(load.good());
		server.dropConnections(); // all queues reconnect
		CHECK(eventually([&] { return host.controller(c.name).reconnects == 1; }));
		CHECK(host.controller(c.name).ioQueues == granted);
		std::printf("queues: %u asked for, %u offered, %u used by %u CPUs\n", asked, offered, granted, cpus);
		Disk again(disk);
		CHECK(again.verified(0, 65536, asked) == 0);
		host.disconnectAll();
	};
	check(1, 64);
	check(64, 64);
	server.setMaxIoQueues(3);
	check(64, 3);
	server.setMaxIoQueues(1);
	check(64, 1);
	o.ioQueues = 1025;
	auto refused = host.client().connect(o, nvmeof::WaitFor::controller, 5s);
	REQUIRE_FALSE(refused.ok());
	CHECK_FALSE(refused.error().message.empty());
	for (auto &text : server.violations())
		FAIL_CHECK("the host broke the protocol: " << text);
}

TEST_CASE("a path with one queue serves a disk of many hardware contexts", "[limits][queues]")
{
	target::Config config;
	config.queueEntries = 1024;
	target::Server server(reachable(config));
	server.stores().add(1, 16 * mib);
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), config.nqn);
	o.ioQueues = 64;
	o.queueSize = 1024;
	o.tags = 1024;
	auto first = host.connect(o, 60s);
	REQUIRE(first.queueSize == 1024);
	server.setMaxIoQueues(1);
	o.duplicateConnect = true;
	auto second = host.connect(o, 60s);
	CHECK(second.ioQueues == 1);
	auto disk = host.disk(1, 10s, config.nqn);
	REQUIRE(host.client().disconnect(first.name).ok());
	for (int cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		OnCpu here(cpu);
		CHECK(Disk(disk).verified(0, 65536, static_cast<std::uint32_t>(cpu) + 1) == 0);
	}
}

namespace {

// Changes CLOCK_REALTIME and restores it at the end.
class WallClock {
public:
	WallClock() : right_(now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME)) {}
	~WallClock() { set(now(CLOCK_BOOTTIME) + right_); }
	WallClock(const WallClock &) = delete;
	WallClock &operator=(const WallClock &) = delete;

	void jump(std::chrono::seconds by) { set(now(CLOCK_REALTIME) + by); }
	void toEpoch() { set(now(CLOCK_BOOTTIME) + 1s); } // the earliest time that the kernel accepts

private:
	static std::chrono::nanoseconds now(clockid_t clock)
	{
		timespec t{};
		::clock_gettime(clock, &t);
		return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
	}
	static void set(std::chrono::nanoseconds time)
	{
		timespec t{.tv_sec = time / 1s, .tv_nsec = (time % 1s).count()};
		if (::clock_settime(CLOCK_REALTIME, &t))
			std::perror("clock_settime");
	}

	const std::chrono::nanoseconds right_;
};

// Jumps forwards, backwards and to the epoch
void jumpAbout(WallClock &clock, Millis between)
{
	for (auto by : {86400s, -2 * 86400s, 400 * 86400s, -1s}) {
		clock.jump(by);
		pause(between);
	}
	clock.toEpoch();
	pause(between);
}

} // namespace

TEST_CASE("a clock that jumps causes no loss and no timeout", "[limits][clock]")
{
	Multi rig;
	WallClock clock;
	Watch watch;
	std::uint32_t reconnects = 0;
	auto options = [&](unsigned lane) {
		auto o = rig.options(lane);
		o.keepAlive = scaled(1s);
		o.stallTimeout = scaled(300ms);
		o.ctrlLoss = scaled(30s);
		o.fastIoFail = scaled(20s);
		return o;
	};
	auto c = rig.host.connect(options(0));
	SECTION("idle, for longer than the keep-alive time")
	{
		jumpAbout(clock, scaled(600ms));
	}
	SECTION("under I/O, on two paths")
	{
		rig.host.connect(options(1));
		rig.set("iopolicy=round-robin");
		FioLoad load(verifiedJob(rig.disk(), 60, 8));
		REQUIRE(rig.waitForLoad());
		jumpAbout(clock, 400ms);
		expectGoodUntilNow(load);
		CHECK(rig.path(1).reconnects == 0);
	}
	SECTION("while the controller reconnects, and I/O waits")
	{
		FioLoad load(verifiedJob(rig.disk(), 60, 8));
		REQUIRE(rig.waitForLoad());
		rig.lane(0).close();
		REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
		jumpAbout(clock, 300ms);
		CHECK(rig.host.state(c.name) ==
		      ControllerState::connecting); // days have passed, but it is not given up
		rig.lane(0).open();
		Stopwatch back;
		CHECK(rig.host.waitState(c.name, ControllerState::live)); // the reconnect is not delayed
		CHECK(back.elapsed() < scaled(5s));
		expectGoodUntilNow(load);
		reconnects = 1;
	}
	CHECK(rig.host.state(c.name) == ControllerState::live);
	CHECK(rig.host.controller(c.name).reconnects == reconnects);
	std::chrono::nanoseconds last{0};
	for (auto &e : watch.drain()) {
		CHECK(e.time >= last); // event times do not come from CLOCK_REALTIME
		last = e.time;
	}
	CHECK(last > 0ns);
}

namespace {

constexpr const char *sleeper = "nqn.2024-01.io.nvmeof:sleeper";

// The scriptable target in its own process, which can be stopped and continued.
class SuspendableTarget {
public:
	explicit SuspendableTarget(unsigned ports)
		: process_("exec /nvmeof/tests/nvmeof-target --transport " + transport() + " -a " + here() +
			   " -p 4470 -n " + std::string(sleeper) + " -P " + std::to_string(ports))
	{
		REQUIRE(eventually([] {
			return run(overRdma() ? "rdma res show cm_id | grep -q :4470" : "ss -Hltn | grep -q :4470")
				       .status == 0;
		}));
	}
	void sleep() { process_.signal(SIGSTOP); }
	void wake() { process_.signal(SIGCONT); }

	static nvmeof::ConnectOptions options(unsigned port, Millis keepAlive)
	{
		auto o = Host::options(here(), std::to_string(4470 + port), sleeper);
		o.keepAlive = keepAlive;
		o.connectTimeout = scaled(2s);
		o.ctrlLoss = scaled(60s);
		return o;
	}

private:
	Background process_;
};

} // namespace

TEST_CASE("a target that is suspended for a while", "[limits][suspend][trap22]")
{
	SuspendableTarget target(2);
	Host host;
	auto connect = [&](unsigned port, Millis keepAlive) {
		return host.connect(SuspendableTarget::options(port, keepAlive)).name;
	};
	auto disk = [&] { return host.disk(1, 10s, sleeper); };
	auto load = [&] { return FioJob{.file = disk(), .blocks = "16k", .depth = 8, .size = "8m", .seconds = 90}; };
	auto flows = [&](const std::string &name) {
		auto ios = [&] {
			for (auto &p : host.paths())
				if (p.controller == name)
					return p.ios;
			return std::uint64_t(0);
		};
		auto before = ios();
		return eventually([&] { return ios() > before + 20; }, 15s);
	};
	SECTION("5 s, less than the keep-alive timeout: the host waits")
	{
		auto name = connect(0, 60s);
		FioLoad writes(load());
		REQUIRE(flows(name));
		target.sleep();
		pause(5s);
		CHECK(host.state(name) == ControllerState::live);
		target.wake();
		CHECK(flows(name));
		expectGoodUntilNow(writes);
		CHECK(host.controller(name).reconnects == 0);
	}
	SECTION("longer than the keep-alive timeout: it is lost and reconnects")
	{
		auto name = connect(0, scaled(1500ms));
		FioLoad writes(load());
		REQUIRE(flows(name));
		target.sleep();
		CHECK(host.waitState(name, ControllerState::connecting, 6s));
		pause(scaled(3s)); // connect attempts are accepted by the kernel, but not answered by the target
		CHECK(host.state(name) == ControllerState::connecting);
		target.wake();
		CHECK(host.waitState(name, ControllerState::live));
		CHECK(flows(name));
		expectGoodUntilNow(writes);
		CHECK(host.controller(name).reconnects >= 1);
	}
	SECTION("both paths lead to it: I/O waits and continues without an error")
	{
		std::vector names{connect(0, 60s), connect(1, 60s)};
		FioLoad writes(load());
		REQUIRE((flows(names[0]) || flows(names[1])));
		target.sleep();
		pause(6s);
		target.wake();
		for (auto &name : names)
			CHECK(host.waitState(name, ControllerState::live));
		CHECK((flows(names[0]) || flows(names[1])));
		expectGoodUntilNow(writes);
	}
	SECTION("idle, and disconnected while it is suspended")
	{
		connect(0, 60s);
		{
			Disk one(disk());
			REQUIRE(one.verified(0, 65536, 1) == 0);
		}
		target.sleep();
		pause(500ms);
		Stopwatch watch;
		host.disconnectAll();
		CHECK(watch.elapsed() < scaled(6s));
		target.wake();
		connect(0, 60s);
		Disk one(disk());
		CHECK(one.verified(0, 65536, 2) == 0);
	}
}

} // namespace guest::limits
