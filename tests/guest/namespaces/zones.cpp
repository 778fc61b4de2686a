// SPDX-License-Identifier: LGPL-2.1-or-later
// Zoned namespaces of the kernel's target (on a zoned null_blk), used by applications over two paths.
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "support/loop.h"
#include "support/multi.h"
#include "support/zoned.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

namespace guest::zones {

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned zone = 2048; // sectors

struct Zoned {
	NullDisk drive;
	Multi rig;
	std::string node;

	explicit Zoned(const NullZones &z = {}) : drive(z), rig(options(drive))
	{
		rig.connectAll();
		node = rig.disk();
		REQUIRE_FALSE(node.empty());
		REQUIRE(rig.waitPaths(rig.lanes()));
	}

	static MultiOptions options(const NullDisk &drive)
	{
		MultiOptions o;
		o.device = drive.device();
		return o;
	}

	std::string queue(const char *attribute) const
	{
		return readFile("/sys/block/" + node.substr(5) + "/queue/" + attribute);
	}

	// Loses a path during writes and restores it
	void change(unsigned lane)
	{
		if (overRdma())
			rig.lane(lane).reopen();
		else
			rig.lane(lane).run("ss -K sport = :4420");
	}

	// 6.1 sends Zone Append natively, and fails one that is lost
	bool appends() const { return queue("scheduler").find("[mq-deadline]") != std::string::npos; }
};

int writeAt(const Disk &disk, std::uint64_t sector, std::size_t bytes, std::uint32_t seed)
{
	Buffer buffer(bytes);
	buffer.fill(seed);
	return disk.write(sector * 512, buffer);
}

bool readsAs(const Disk &disk, std::uint64_t sector, std::size_t bytes, std::uint32_t seed)
{
	Buffer buffer(bytes);
	return disk.read(sector * 512, buffer) == 0 && buffer.holds(seed);
}

struct blk_zone zoneOf(const Disk &disk, unsigned n)
{
	auto zones = reportZones(disk, std::uint64_t(n) * zone, 1);
	REQUIRE(zones.size() == 1);
	return zones[0];
}

std::uint32_t crc(const std::uint8_t *data, std::size_t size)
{
	std::uint32_t crc = ~0u;
	for (std::size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return crc;
}

// Stands in for mkfs.zonefs, which is not available: writes the superblock to the first zone.
int makeZonefs(const Disk &disk)
{
	Buffer super(4096);
	std::memset(super.data(), 0, super.size());
	const std::uint32_t magic = 0x5a4f4653;
	std::memcpy(super.data(), &magic, 4);
	std::memset(super.data() + 72, 0x42, 16); // UUID
	auto sum = crc(super.data(), super.size());
	std::memcpy(super.data() + 4, &sum, 4);
	return disk.write(0, super);
}

} // namespace

TEST_CASE("a zoned namespace is a zoned block device", "[zones][short]")
{
	Zoned z({.mib = 16, .maxOpen = 3, .maxActive = 4});
	CHECK(z.queue("zoned") == "host-managed");
	CHECK(z.queue("chunk_sectors") == std::to_string(zone));
	CHECK(z.queue("nr_zones") == "16");
	CHECK(z.queue("max_open_zones") == "3");
	CHECK(z.queue("max_active_zones") == "4");
	CHECK(std::stoul(z.queue("zone_append_max_bytes")) > 0);
	auto ns = z.rig.host.nameSpace(1);
	REQUIRE(ns);
	REQUIRE(ns->zones);
	CHECK(ns->zones->size == mib);
	CHECK(ns->zones->count == 16);
	CHECK(ns->zones->maxOpen == 3);
	CHECK(ns->zones->maxActive == 4);
	CHECK(ns->zones->maxAppend == std::stoul(z.queue("zone_append_max_bytes")));
	auto shown = must("nvmeofctl show " + z.node.substr(5));
	CHECK(shown.find("16 of 1") != std::string::npos);
	auto json = must("nvmeofctl show --json " + z.node.substr(5));
	CHECK(json.find("\"max_active\": 4") != std::string::npos);

	Disk disk(z.node);
	auto zones = reportZones(disk, 0, 100);
	REQUIRE(zones.size() == 16);
	for (unsigned i = 0; i < zones.size(); i++) {
		CHECK(zones[i].start == std::uint64_t(i) * zone);
		CHECK(zones[i].len == zone);
		CHECK(zones[i].wp == zones[i].start);
		CHECK(zones[i].cond == BLK_ZONE_COND_EMPTY);
		CHECK(zones[i].type == BLK_ZONE_TYPE_SEQWRITE_REQ);
	}
	CHECK(reportZones(disk, 15 * zone, 100).size() == 1);
	CHECK(reportZones(disk, 3 * zone + 5, 2).at(0).start == 3 * zone);
}

TEST_CASE("zones are written sequentially, opened, closed, finished and reset", "[zones][short]")
{
	Zoned z({.mib = 16, .maxOpen = 3, .maxActive = 4});
	Disk disk(z.node);
	auto state = [&](unsigned n) { return static_cast<int>(zoneOf(disk, n).cond); };
	auto manage = [&](unsigned long what, unsigned n) {
		return manageZones(disk, what, std::uint64_t(n) * zone, zone);
	};
	CHECK(writeAt(disk, 0, 65536, 1) == 0);
	CHECK(writeAt(disk, 128, 4096, 2) == 0);
	CHECK(readsAs(disk, 0, 65536, 1));
	CHECK(readsAs(disk, 128, 4096, 2));
	CHECK(zoneOf(disk, 0).wp == 136);
	CHECK(writeAt(disk, 200, 4096, 3) == -EIO); // not at the write pointer
	CHECK(zoneOf(disk, 0).wp == 136);           // the kernel re-reads the write pointer by a zone report
	CHECK(writeAt(disk, 136, 4096, 4) == 0);

	CHECK(manage(BLKOPENZONE, 1) == 0);
	CHECK(state(1) == BLK_ZONE_COND_EXP_OPEN);
	CHECK(writeAt(disk, zone, 4096, 5) == 0);
	CHECK(manage(BLKCLOSEZONE, 1) == 0);
	CHECK(state(1) == BLK_ZONE_COND_CLOSED);
	CHECK(manage(BLKFINISHZONE, 1) == 0);
	CHECK(state(1) == BLK_ZONE_COND_FULL);
	CHECK(writeAt(disk, zone + 8, 4096, 5) == -EIO);
	CHECK(manage(BLKRESETZONE, 1) == 0);
	CHECK(state(1) == BLK_ZONE_COND_EMPTY);
	CHECK(writeAt(disk, zone, 4096, 6) == 0);
	CHECK(readsAs(disk, zone, 4096, 6));

	// more open zones than the drive permits
	CHECK(manage(BLKRESETZONE, 0) == 0);
	for (unsigned n : {2u, 3u, 4u})
		CHECK(manage(BLKOPENZONE, n) == 0);
	CHECK(manage(BLKOPENZONE, 5) < 0);                         // nvmet reports an internal error
	CHECK(manageZones(disk, BLKRESETZONE, 0, 16 * zone) == 0); // all zones
	for (unsigned n = 0; n < 16; n++)
		CHECK(state(n) == BLK_ZONE_COND_EMPTY);

	auto text = must("blkzone report -c 2 " + z.node);
	CHECK(text.find("SEQ_WRITE_REQUIRED") != std::string::npos);
	must("blkzone open -c 1 " + z.node + " && blkzone close -c 1 " + z.node + " && blkzone finish -c 1 " + z.node +
	     " && blkzone reset -c 1 " + z.node);
}

TEST_CASE("fio writes many zones at once, with a capacity below the zone size", "[zones][short]")
{
	Zoned z({.mib = 32, .zoneMib = 4, .capacityMib = 3});
	auto zones = reportZones(Disk(z.node), 0, 1);
	REQUIRE(zones.size() == 1);
	CHECK(zones[0].capacity == 3 * mib / 512);
	FioJob job{.file = z.node, .rw = "write", .blocks = "16k", .size = "24m"};
	job.more = "--zonemode=zbd --max_open_zones=4";
	auto result = runFio(job);
	INFO(result.text);
	CHECK(result.good());
	CHECK(result.written >= 18 * mib);
}

TEST_CASE("writes to zones survive path changes", "[zones][changes]")
{
	auto changes = std::stoul(environment("NVMEOF_ZONES_CHANGES", "25"));
	Zoned z({.mib = 64, .zoneMib = 4, .capacityMib = 4});
	z.rig.set("iopolicy=round-robin");
	unsigned done = 0;
	Stopwatch all;
	// fio verifies its data at the end of each run
	while (done < changes) {
		FioJob job{.file = z.node, .rw = "write", .blocks = "4k", .depth = 8, .size = "12m"};
		job.more = "--zonemode=zbd --max_open_zones=3 --rate_iops=1000";
		FioLoad load(job);
		for (unsigned n = 0; n < 12 && load.running() && done < changes; n++) {
			z.change(done++ % 2);
			CHECK(z.rig.waitPaths(2, 1, 20s));
			std::this_thread::sleep_for(60ms);
		}
		auto result = load.wait(scaled(120s));
		INFO(result.text);
		REQUIRE(result.good());
		CHECK(result.written == 12 * mib);
		REQUIRE(manageZones(Disk(z.node), BLKRESETZONE, 0, 64 * mib / 512) == 0);
	}
	std::uint64_t retries = 0;
	for (auto &p : z.rig.host.paths())
		retries += p.retries;
	CHECK(retries > 0);
	std::printf("figure: zones: %u path changes in %ld ms, %lu requests sent again\n", done, all.elapsed().count(),
		    retries);
}

// A file written while a path is lost is intact after remounting
static void keepsFiles(Zoned &z, const std::string &mount)
{
	must("mkdir -p /tmp/fs && " + mount);
	FioJob job{.file = "/tmp/fs/file", .rw = "write", .blocks = "64k", .size = "24m"};
	job.more = "--rate_iops=400 --end_fsync=1";
	FioLoad load(job);
	std::this_thread::sleep_for(300ms);
	z.change(0);
	auto result = load.wait(scaled(120s));
	INFO(result.text);
	REQUIRE(result.good());
	auto sum = must("md5sum < /tmp/fs/file");
	must("umount /tmp/fs && " + mount);
	CHECK(must("md5sum < /tmp/fs/file") == sum);
	must("umount /tmp/fs");
	CHECK(z.rig.waitPaths(2, 1, 20s));
}

TEST_CASE("a write to an ordinary namespace does not wait for the fence of zone writes", "[zones][lost][tcp]")
{
	Zoned z;
	Loop loop(16 * mib);
	z.rig.subsystem().addNamespace(2, loop.device(), {.anaGroup = 1});
	z.rig.lane(1).setAna(1, "non-optimized");
	auto node = z.rig.disk(2);
	REQUIRE_FALSE(node.empty());
	REQUIRE(z.rig.waitPaths(2));
	REQUIRE(z.rig.waitPaths(2, 2));
	auto zones = std::make_shared<Disk>(z.node), plain = std::make_shared<Disk>(node);
	auto onFirst = [&] {
		return z.rig.path(1).anaState == nvmeof::AnaState::nonOptimized &&
		       z.rig.path(1, 2).anaState == nvmeof::AnaState::nonOptimized;
	};
	REQUIRE(eventually(onFirst));
	REQUIRE(writeAt(*zones, 0, 4096, 1) == 0);
	REQUIRE(writeAt(*plain, 0, 4096, 1) == 0);
	auto name = z.rig.name(0);
	z.rig.lane(0).link().impair("loss 100%");
	Pending inZone([zones] { return writeAt(*zones, 8, 4096, 2); });
	Pending beside([plain] { return writeAt(*plain, 8, 4096, 2); });
	pause(800ms); // long enough that the target cannot be reached
	REQUIRE(inZone.waits());
	REQUIRE(beside.waits());
	Stopwatch lost;
	CHECK(z.rig.host.client().reset(name).ok());
	// the rest of the keep-alive timeout of 2 s; three times that for the zone, because the write pointer is read
	REQUIRE(beside.join(3s));
	CHECK(beside.status() == 0);
	CHECK(lost.elapsed() > 300ms);
	CHECK(inZone.waits());
	CHECK(kernelLogHas(name + ": lost association: released 1 requests after .* ms, 1 still held"));
	z.rig.lane(0).link().repair();
	REQUIRE(inZone.join(10s));
	CHECK(inZone.status() == 0);
	CHECK(lost.elapsed() > 5900ms);
	CHECK(readsAs(*zones, 8, 4096, 2));
	CHECK(zoneOf(*zones, 0).wp == 16);
	CHECK(z.rig.waitPaths(2));
}

TEST_CASE("btrfs works on zones", "[zones][filesystems]")
{
	Zoned z({.mib = 512, .zoneMib = 4, .capacityMib = 4});
	must("modprobe btrfs && mkfs.btrfs -q -O zoned -d single -m single " + z.node);
	keepsFiles(z, "mount -t btrfs " + z.node + " /tmp/fs");
}

TEST_CASE("f2fs works with its files on zones", "[zones][filesystems]")
{
	Zoned z({.mib = 512, .zoneMib = 4, .capacityMib = 4});
	// its in-place metadata are on an ordinary disk
	Loop plain(256 * mib);
	must("modprobe f2fs && mkfs.f2fs -q -f -m -c " + z.node + " " + plain.device());
	keepsFiles(z, "mount -t f2fs " + plain.device() + " /tmp/fs");
}

TEST_CASE("dm-linear over zones is zoned", "[zones][dm]")
{
	Zoned z({.mib = 16});
	must("modprobe dm-mod");
	must("DM_DISABLE_UDEV=1 dmsetup create linear --table \"0 16384 linear " + z.node + " 8192\"");
	{
		Disk disk("/dev/mapper/linear");
		CHECK(reportZones(disk, 0, 100).size() == 8);
		CHECK(writeAt(disk, zone, 65536, 7) == 0);
		CHECK(zoneOf(disk, 1).wp == zone + 128);
		CHECK(readsAs(Disk(z.node), 8192 + zone, 65536, 7));
		CHECK(manageZones(disk, BLKRESETZONE, zone, zone) == 0);
		CHECK(zoneOf(Disk(z.node), 5).cond == BLK_ZONE_COND_EMPTY);
	}
	must("DM_DISABLE_UDEV=1 dmsetup remove linear");
}

TEST_CASE("zonefs works", "[zones][zonefs]")
{
	Zoned z({.mib = 16});
	REQUIRE(makeZonefs(Disk(z.node)) == 0);
	must("modprobe zonefs && mkdir -p /tmp/zonefs && mount -t zonefs " + z.node + " /tmp/zonefs");
	{
		std::string file = "/tmp/zonefs/seq/2";
		Disk seq(file);
		REQUIRE(seq.fd() >= 0);
		for (std::uint32_t i = 0; i < 8; i++) {
			CHECK(writeAt(seq, i * 128, 65536, i + 1) == 0);
			if (i == 3 && !z.appends())
				z.change(0);
		}
		for (std::uint32_t i = 0; i < 8; i++)
			CHECK(readsAs(seq, i * 128, 65536, i + 1));
		struct stat is = {};
		REQUIRE(::stat(file.c_str(), &is) == 0);
		CHECK(is.st_size == 8 * 65536);
		CHECK(writeAt(seq, 4096, 65536, 9) < 0); // not at the end of the file
		REQUIRE(::truncate(file.c_str(), 0) == 0);
		CHECK(writeAt(seq, 0, 65536, 10) == 0);
	}
	must("umount /tmp/zonefs");
}

} // namespace guest::zones
