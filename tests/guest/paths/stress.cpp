// SPDX-License-Identifier: LGPL-2.1-or-later
// Many cycles, many controllers, and CPU hotplug.
#include "support/block.h"
#include "support/fio.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <thread>

namespace guest::stress {

using nvmeof::ControllerState;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// Kernel memory in which a leak would show, KiB
long kernelMemory()
{
	writeFile("/proc/sys/vm/drop_caches", "3");
	long sum = 0;
	for (auto *field : {"SUnreclaim:", "Percpu:", "KernelStack:", "VmallocUsed:"})
		sum += std::stol(must("awk '/^" + std::string(field) + "/ { print $2 }' /proc/meminfo"));
	return sum;
}

// Free memory in KiB, for leaks of pages that no statistic counts
long freeMemory()
{
	writeFile("/proc/sys/vm/drop_caches", "3");
	writeFile("/proc/sys/vm/compact_memory", "1");
	return std::stol(must("awk '/^MemFree:/ { print $2 }' /proc/meminfo"));
}

std::vector<nvmeof::ConnectOptions> several(const Rig &rig, int count)
{
	std::vector<nvmeof::ConnectOptions> all;
	for (int i = 0; i < count; i++) {
		auto o = rig.options();
		o.duplicateConnect = true;
		o.ioQueues = 1;
		all.push_back(o);
	}
	return all;
}

} // namespace

TEST_CASE("repeated connect and disconnect leave nothing behind", "[stress][cycles][short]")
{
	Rig rig;
	const int cycles = std::stoi(environment("NVMEOF_CYCLES", "100"));
	const int together = 5;
	auto round = [&] {
		for (auto &c :
		     rig.host.client().connectAll(several(rig, together), nvmeof::WaitFor::controller, scaled(60s)))
			REQUIRE(c.ok());
		rig.host.disconnectAll();
	};
	for (int i = 0; i < 4; i++) // fills caches
		round();
	std::this_thread::sleep_for(1s);
	auto before = kernelMemory(), freeBefore = freeMemory();
	for (int done = 0; done < cycles; done += together)
		round();
	std::this_thread::sleep_for(1s);
	auto grown = kernelMemory() - before, lost = freeBefore - freeMemory();
	INFO(cycles << " cycles: kernel memory grew by " << grown << " KiB, free memory fell by " << lost << " KiB");
	CHECK(grown < 2048 + cycles * 4);
	CHECK(lost < 8192 + cycles * 8);
	CHECK(take(rig.host.client().subsystems()).empty());
}

TEST_CASE("many controllers connect in parallel", "[stress][parallel]")
{
	Rig rig;
	Stopwatch watch;
	for (auto &c : rig.host.client().connectAll(several(rig, 32), nvmeof::WaitFor::namespaces, scaled(60s))) {
		INFO((c ? "" : c.error().message));
		CHECK(c.ok());
	}
	CHECK(watch.elapsed() < scaled(30s));
	CHECK(rig.host.nameSpace(1)->paths == 32);
	Disk disk(rig.disk());
	for (std::uint32_t i = 0; i < 64; i++)
		CHECK(disk.verified(i * 4096, 4096, i) == 0);
	Stopwatch leaving;
	rig.host.disconnectAll();
	CHECK(leaving.elapsed() < scaled(20s));
}

TEST_CASE("several clients list, connect and disconnect at the same time", "[stress][parallel]")
{
	Rig rig;
	Background lists("for i in $(seq 100); do nvmeofctl list --json > /dev/null || exit 1; done");
	Background watchers("timeout 5 nvmeofctl monitor > /dev/null; true");
	for (int i = 0; i < 10; i++) {
		rig.connect();
		rig.host.disconnectAll();
	}
	CHECK(lists.wait(60s).status == 0);
}

TEST_CASE("CPUs go offline and online under verified load", "[stress][hotplug][trap23][short]")
{
	const std::string cpu1 = "/sys/devices/system/cpu/cpu1/online";
	REQUIRE(exists(cpu1));
	Rig rig;
	auto c = rig.connect();
	FioLoad load({.file = rig.disk(), .blocks = "8k", .depth = 16, .size = "8m", .seconds = 8});
	for (int i = 0; i < 4; i++) {
		std::this_thread::sleep_for(700ms);
		writeFile(cpu1, "0");
		std::this_thread::sleep_for(500ms);
		if (i == 1)
			CHECK(rig.host.client().reset(c.name).ok()); // reconnects with one CPU less
		std::this_thread::sleep_for(300ms);
		writeFile(cpu1, "1");
	}
	auto result = load.wait(60s);
	INFO(result.text);
	CHECK(result.good());
	CHECK(rig.host.waitState(c.name, ControllerState::live));
}

// Taking a CPU offline waits for its requests (block layer), and a connect waits for that (network layer).
TEST_CASE("a CPU goes offline while its I/O waits for a path, and the path returns", "[stress][hotplug][trap23][short]")
{
	const std::string cpu1 = "/sys/devices/system/cpu/cpu1/online";
	Rig rig;
	auto c = rig.connect();
	auto disk = rig.disk();
	rig.port.unlink(rig.subsystem);
	REQUIRE(rig.host.waitState(c.name, ControllerState::connecting));
	Background write("exec taskset -c 1 dd if=/dev/zero of=" + disk + " bs=4k count=1 oflag=direct");
	REQUIRE(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	Background offline("echo 0 > " + cpu1);
	CHECK(eventually([&] { return !offline.running(); }, 3s));
	rig.port.link(rig.subsystem);
	CHECK(rig.host.waitState(c.name, ControllerState::live));
	CHECK(write.wait(scaled(20s)).status == 0);
	CHECK(offline.wait(scaled(20s)).status == 0);
	rig.host.disconnectAll(); // ends I/O that hangs
	writeFile(cpu1, "1");
}

TEST_CASE("a reconnect to nvmet with fewer queues works", "[stress][trap23]")
{
	Rig rig;
	if (!exists("/sys/kernel/config/nvmet/subsystems/" + std::string(testNqn) + "/attr_qid_max")) {
		WARN("skipped: this kernel's target cannot change its queues; \"fewer queues after a reconnect\" "
		     "in hostile does");
		return;
	}
	auto c = rig.connect();
	REQUIRE(c.ioQueues == 2);
	FioLoad load({.file = rig.disk(), .blocks = "8k", .depth = 16, .size = "8m", .seconds = 5});
	std::this_thread::sleep_for(1s);
	rig.subsystem.set("attr_qid_max", "1");
	(void)rig.host.client().reset(c.name); // some targets drop the controllers by themselves, others do not
	CHECK(eventually([&] { return rig.host.controller(c.name).ioQueues == 1; }));
	rig.subsystem.set("attr_qid_max", "8");
	auto result = load.wait(60s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("writeback makes progress under memory pressure", "[stress][pressure][trap13][short]")
{
	Rig rig({.size = 256 * mib});
	rig.connect();
	auto disk = rig.disk();
	must("mkdir -p /mnt /tmp/cg && mkfs.ext4 -q -F " + disk + " && mount " + disk + " /mnt");
	must("mount -t cgroup2 none /tmp/cg; echo +memory > /tmp/cg/cgroup.subtree_control && mkdir -p /tmp/cg/small");
	writeFile("/tmp/cg/small/memory.max", std::to_string(24 * mib));
	auto bytes = std::to_string(48 * mib); // far above the memory limit
	auto out = run("echo $BASHPID; bash -c 'echo $$ > /tmp/cg/small/cgroup.procs; "
		       "head -c " +
		       bytes +
		       " /dev/urandom | tee /mnt/big | md5sum > /tmp/sum'; sync; "
		       "echo 3 > /proc/sys/vm/drop_caches; md5sum < /mnt/big | cmp - /tmp/sum");
	INFO(out.text);
	CHECK(out.status == 0);
	must("umount /mnt && fsck.ext4 -f -n " + disk);
	run("rmdir /tmp/cg/small; umount /tmp/cg");
}

} // namespace guest::stress
