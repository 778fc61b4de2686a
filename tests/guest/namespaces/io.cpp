// SPDX-License-Identifier: LGPL-2.1-or-later
// Verified I/O with every option, block size and depth.
#include "support/block.h"
#include "support/fio.h"
#include "support/netns.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <thread>

namespace guest::io {

using nvmeof::ControllerState;

namespace {

constexpr std::uint64_t mib = 1 << 20;

void verify(const std::vector<FioJob> &jobs)
{
	auto result = runFio(jobs);
	INFO(result.text);
	REQUIRE(result.good());
	REQUIRE(result.writtenBy.size() == jobs.size());
	for (auto written : result.writtenBy)
		REQUIRE(written > 0);
}

std::string queueAttribute(const std::string &disk, const std::string &name)
{
	return readFile("/sys/block/" + disk.substr(5) + "/queue/" + name);
}

// A short check: sizes below and above the in-capsule limit, at high and low depth.
void quickLook(const std::string &disk)
{
	verify({{.file = disk, .blocks = "4k", .depth = 32, .size = "1m"},
		{.file = disk, .blocks = "256k", .depth = 4, .size = "4m"}});
}

struct Variant {
	const char *name;
	void (*set)(nvmeof::ConnectOptions &);
};

const Variant variants[] = {
	{"plain", [](nvmeof::ConnectOptions &) {}},
	{"header digest", [](nvmeof::ConnectOptions &o) { o.hdrDigest = true; }},
	{"data digest", [](nvmeof::ConnectOptions &o) { o.dataDigest = true; }},
	{"both digests", [](nvmeof::ConnectOptions &o) { o.hdrDigest = o.dataDigest = true; }},
	{"one queue", [](nvmeof::ConnectOptions &o) { o.ioQueues = 1; }},
	{"small queue", [](nvmeof::ConnectOptions &o) { o.queueSize = 16; }},
	{"large queue", [](nvmeof::ConnectOptions &o) { o.queueSize = 1024; }},
	{"flow control on", [](nvmeof::ConnectOptions &o) { o.sqFlow = true; }},
	{"no keep-alive", [](nvmeof::ConnectOptions &o) { o.keepAlive = 0ms; }},
	{"all at once",
	 [](nvmeof::ConnectOptions &o) {
		 o.hdrDigest = o.dataDigest = o.sqFlow = true;
		 o.queueSize = 32;
	 }},
};

} // namespace

TEST_CASE("verified I/O with each option", "[io][options][short]")
{
	Rig rig;
	for (auto &v : variants) {
		DYNAMIC_SECTION(v.name)
		{
			auto o = rig.options();
			v.set(o);
			if ((o.hdrDigest || o.dataDigest) && notOverRdma(v.name))
				continue;
			auto c = rig.host.connect(o);
			CHECK(c.hdrDigest == o.hdrDigest);
			CHECK(c.dataDigest == o.dataDigest);
			CHECK(c.sqFlow == o.sqFlow);
			if (o.ioQueues)
				CHECK(c.ioQueues == *o.ioQueues);
			if (o.queueSize)
				CHECK(c.queueSize <= *o.queueSize);
			quickLook(rig.disk());
		}
	}
}

TEST_CASE("verified I/O at every block size and depth", "[io][matrix][short]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	std::vector<FioJob> jobs;
	for (auto *blocks : {"4k", "12k", "128k", "1m"})
		for (auto depth : {1u, 8u, 64u})
			jobs.push_back({.file = disk,
					.blocks = blocks,
					.depth = depth,
					.size = std::string(blocks) == "1m" ? "4m" : "1m"});
	jobs.push_back({.file = disk,
			.rw = "randrw",
			.blocks = "4k",
			.depth = 32,
			.size = "2m",
			.more = "--bsrange=512-128k"});
	// merged by the block layer
	jobs.push_back({.file = disk, .rw = "write", .blocks = "4k", .depth = 64, .size = "4m"});
	jobs.push_back({.file = disk,
			.rw = "randwrite",
			.blocks = "4k",
			.depth = 1,
			.size = "512k",
			.engine = "psync",
			.direct = false,
			.more = "--fsync=16"});
	verify(jobs);
}

TEST_CASE("verified I/O with blocks of 4 KiB", "[io][blocksize][short]")
{
	Rig rig({.blockSize = 4096});
	rig.connect();
	auto disk = rig.disk();
	CHECK(rig.host.nameSpace(1)->lbaSize == 4096);
	CHECK(queueAttribute(disk, "logical_block_size") == "4096");
	quickLook(disk);
}

// Connect needs 1 KiB: the kernel's target accepts no host below it. hostile_data.cpp tests a target without
// in-capsule data.
TEST_CASE("verified I/O with a target that takes little in-capsule data", "[io][inline]")
{
	Rig rig({.inlineData = 1024});
	rig.connect();
	quickLook(rig.disk());
}

TEST_CASE("verified I/O with a target that takes much in-capsule data", "[io][inline]")
{
	Rig rig({.inlineData = 65536});
	rig.connect();
	quickLook(rig.disk());
}

TEST_CASE("IPv6", "[io][ipv6]")
{
	Rig rig({.address = here6()});
	rig.connect();
	quickLook(rig.disk());
}

TEST_CASE("polled queues and io_uring", "[io][poll][short]")
{
	Rig rig;
	auto o = rig.options();
	o.pollQueues = 2;
	auto c = rig.host.connect(o);
	CHECK(c.pollQueues >= 1);
	auto disk = rig.disk();
	CHECK(queueAttribute(disk, "io_poll") == "1");
	verify({{.file = disk, .blocks = "4k", .depth = 16, .size = "1m", .engine = "io_uring", .more = "--hipri"},
		{.file = disk, .blocks = "128k", .depth = 4, .size = "4m", .engine = "io_uring", .more = "--hipri"},
		{.file = disk, .blocks = "4k", .depth = 16, .size = "1m", .engine = "io_uring"}}); // not polled
}

TEST_CASE("the local address, the interface and the type of service are obeyed", "[io][address][tcp]")
{
	Netns netns("tgt");
	Link link(netns, "v", 5);
	Rig rig({.address = link.targetAddress(), .netns = "tgt"});
	auto sockets = [&] { return must("ss -tinOH dst " + link.targetAddress() + ":4420"); };

	SECTION("host-traddr")
	{
		must("ip addr add 10.5.0.77/24 dev " + link.hostIface());
		auto o = rig.options();
		o.hostTraddr = "10.5.0.77";
		rig.host.connect(o);
		CHECK(sockets().find("10.5.0.77") != std::string::npos);
		CHECK(sockets().find("10.5.0.1:") == std::string::npos);
		quickLook(rig.disk());
	}
	SECTION("host-iface")
	{
		auto o = rig.options();
		o.hostIface = link.hostIface();
		auto c = rig.host.connect(o);
		CHECK(c.hostIface == link.hostIface());
		CHECK(sockets().find("%" + link.hostIface()) != std::string::npos);
		quickLook(rig.disk());
	}
	SECTION("an interface that does not exist is refused")
	{
		auto o = rig.options();
		o.hostIface = "nosuch0";
		auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(5s));
		REQUIRE_FALSE(result.ok());
		CHECK_FALSE(result.error().message.empty());
	}
	SECTION("a local address of the other family, or of another host, is refused")
	{
		auto o = rig.options();
		o.ctrlLoss = 0ms;
		for (std::string address : {"2001:db8::10", "10.5.0.99"}) {
			o.hostTraddr = address;
			auto result = rig.host.client().connect(o, nvmeof::WaitFor::namespaces, scaled(5s));
			REQUIRE_FALSE(result.ok());
			INFO(result.error().message);
			bool families = result.error().message.find("different families") != std::string::npos;
			CHECK(families == (address != "10.5.0.99"));
		}
	}
	SECTION("tos")
	{
		must("tc qdisc add dev " + link.hostIface() + " root handle 1: prio");
		must("modprobe cls_u32; tc filter add dev " + link.hostIface() +
		     " parent 1: protocol ip u32 match ip tos 0x48 0xfc match ip dst " + link.targetAddress() +
		     " flowid 1:3");
		auto o = rig.options();
		o.tos = 0x48;
		rig.host.connect(o);
		quickLook(rig.disk());
		auto band = must("tc -s class show dev " + link.hostIface() + " classid 1:3");
		INFO(band);
		CHECK(band.find("Sent 0 bytes") == std::string::npos);
	}
	SECTION("a slow and lossy path")
	{
		link.impair("delay 2ms loss 2%");
		rig.connect();
		verify({{.file = rig.disk(), .blocks = "64k", .depth = 8, .size = "4m"}});
		link.repair();
	}
}

TEST_CASE("ext4 and xfs work, and are consistent afterwards", "[io][filesystem][short]")
{
	struct Kind {
		const char *make, *check;
	};
	auto kind = GENERATE(Kind{"mkfs.ext4 -q -F", "fsck.ext4 -f -n"}, Kind{"mkfs.xfs -q -f", "xfs_repair -n"});
	Rig rig({.size = 384 * mib});
	auto o = rig.options();
	o.dataDigest = !overRdma();
	rig.host.connect(o);
	auto disk = rig.disk();
	INFO(kind.make);
	must(std::string(kind.make) + " " + disk);
	must("mkdir -p /mnt && mount " + disk + " /mnt");
	verify({{.file = "/mnt/file",
		 .blocks = "16k",
		 .depth = 8,
		 .size = "16m",
		 .direct = false,
		 .more = "--fsync=32"}});
	must("mkdir /mnt/tree && for i in $(seq 40); do head -c 20000 /dev/urandom > /mnt/tree/$i; done");
	must("cd /mnt/tree && md5sum * > ../sums && sync");
	must("rm /mnt/tree/1? && fstrim /mnt 2>/dev/null || busybox fstrim /mnt");
	must("umount /mnt && mount " + disk +
	     " /mnt && cd /mnt/tree && grep -v '  1[0-9]$' ../sums | md5sum -c > /dev/null");
	must("umount /mnt && " + std::string(kind.check) + " " + disk);
}

TEST_CASE("discard, write zeroes, flush", "[io][discard][short]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	Disk d(disk);
	REQUIRE(d.verified(0, mib, 1) == 0);
	Buffer b(65536);

	REQUIRE(d.zeroOut(65536, 65536) == 0);
	REQUIRE(d.read(65536, b) == 0);
	CHECK(b.zero());
	REQUIRE(d.read(131072, b) == 0);
	CHECK_FALSE(b.zero()); // the next range is unchanged

	CHECK(std::stoull("0" + queueAttribute(disk, "discard_max_bytes")) > 0);
	REQUIRE(d.discard(262144, 65536) == 0);
	REQUIRE(d.read(262144, b) == 0);
	CHECK(b.zero()); // the file behind the target has a hole there
	REQUIRE(d.read(262144 + 65536, b) == 0);
	CHECK_FALSE(b.zero());
	must("blkdiscard " + disk);
	REQUIRE(d.read(0, b) == 0);
	CHECK(b.zero());
	CHECK(d.flush() == 0);
	CHECK(queueAttribute(disk, "write_cache") == "write back");
}

TEST_CASE("limits are those of the target", "[io][limits][short]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	CHECK(queueAttribute(disk, "logical_block_size") == "512");
	CHECK(std::stoul("0" + queueAttribute(disk, "max_sectors_kb")) >= 128);
	CHECK(std::stoul("0" + queueAttribute(disk, "io_timeout")) > 0);
	auto before = readFile("/sys/block/" + disk.substr(5) + "/stat");
	Disk d(disk);
	REQUIRE(d.verified(0, 65536, 1) == 0);
	CHECK(readFile("/sys/block/" + disk.substr(5) + "/stat") != before); // I/O accounting
}

TEST_CASE("a controller that is idle for longer than the keep-alive timeout stays connected", "[io][keepalive]")
{
	Rig rig;
	auto o = rig.options();
	o.keepAlive = scaled(1s);
	auto c = rig.host.connect(o);
	std::this_thread::sleep_for(scaled(5s));
	CHECK(rig.host.state(c.name) == ControllerState::live);
	CHECK(rig.host.controller(c.name).reconnects == 0);
	Disk d(rig.disk());
	CHECK(d.verified(0, 4096, 1) == 0);
}

TEST_CASE("data digests use memory only while data are sent, not for each queue", "[io][short][tcp]")
{
	Rig rig;
	auto o = rig.options();
	o.dataDigest = o.duplicateConnect = true;
	auto kilobytes = [] { return std::stol(must("awk '/^VmallocUsed:/ { print $2 }' /proc/meminfo")); };
	auto before = kilobytes();
	for (int i = 0; i < 8; i++)
		rig.host.connect(o);
	Disk d(rig.disk());
	/* more than one page of copies, and more than one batch */
	CHECK(d.verified(0, 1 << 20, 1) == 0);
	CHECK(d.verified(0, 4096, 2) == 0);
	CHECK(kilobytes() - before < 4096);
}

TEST_CASE("data digests stand a program that changes pages while they are written", "[io][trap10][short][tcp]")
{
	Rig rig;
	auto o = rig.options();
	o.dataDigest = true;
	std::string disk, name;
	auto mount = [&] {
		disk = rig.disk();
		must("mkfs.ext4 -q -F " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
	};
	SECTION("from the beginning")
	{
		name = rig.host.connect(o).name;
		mount();
	}
	SECTION("on a path that joins after a mount without digests")
	{
		auto first = rig.connect();
		mount();
		o.duplicateConnect = true;
		name = rig.host.connect(o).name;
		REQUIRE(rig.host.client().disconnect(first.name).ok());
	}
	auto result = runFio({.file = "/mnt/mapped",
			      .rw = "randwrite",
			      .blocks = "4k",
			      .depth = 1,
			      .size = "8m",
			      .engine = "mmap",
			      .verify = false,
			      .direct = false,
			      .seconds = 3,
			      .more = "--sync_file_range=write:8"});
	INFO(result.text);
	CHECK(result.good());
	must("umount /mnt");
	auto now = rig.host.controller(name);
	CHECK(now.reconnects == 0);
	CHECK(now.state == ControllerState::live);
}

} // namespace guest::io
