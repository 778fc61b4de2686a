// SPDX-License-Identifier: LGPL-2.1-or-later
// Data on the wire: commands of the block layer, digests, pages that change, data that must not be sent.
#include "hostile_stage.h"
#include "support/fio.h"

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace guest::hostile_data {

using target::Bytes;
using target::Expect;
using target::Misbehaviour;
using target::Needs;
using target::When;

namespace {

constexpr std::uint64_t mib = 1 << 20;

// Keeps changing all pages of a mapped file. Runs in its own process: a page fault that waits for writeback may hold
// the mmap lock, and the target, which completes the writeback, needs the mmap lock of this process.
class Scribbler {
public:
	Scribbler(int fd, std::size_t length) : pid_(::fork())
	{
		if (pid_ == 0)
			scribble(fd, length);
		if (pid_ < 0)
			throw std::system_error(errno, std::generic_category(), "fork");
	}
	~Scribbler()
	{
		::kill(pid_, SIGKILL);
		::waitpid(pid_, nullptr, 0);
	}
	Scribbler(const Scribbler &) = delete;
	Scribbler &operator=(const Scribbler &) = delete;

	bool running() const { return ::kill(pid_, 0) == 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0; }

private:
	[[noreturn]] static void scribble(int fd, std::size_t length)
	{
		void *at = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (at == MAP_FAILED)
			::_exit(1);
		::close_range(3, ~0u, 0); // inherited sockets of the target would stay open after it closes them
		auto *map = static_cast<volatile std::uint8_t *>(at);
		for (std::uint8_t v = 0;; v++)
			for (std::size_t i = v; i < length; i += 509)
				map[i] = v;
	}

	pid_t pid_;
};

} // namespace

TEST_CASE("every limit of the target is kept", "[hostile][limits][trap29]")
{
	auto sqflowOff = GENERATE(false, true); // Catch 2.13 crashes when this follows sections
	target::Config config;
	config.queueEntries = 32;
	SECTION("a small queue") {}
	SECTION("MAXCMD below the queue size")
	{
		config.maxcmd = 8;
	}
	SECTION("small data PDUs and R2Ts")
	{
		config.maxH2cData = 4096;
		config.r2tBytes = 16384;
		config.c2hBytes = 4096;
	}
	SECTION("no data in the capsule, small transfers")
	{
		config.inCapsule = 0;
		config.mdts = 1;
	}
	SECTION("neither digests nor disabled SQ flow control")
	{
		config.allowDigests = config.allowSqflowOff = false;
	}
	Stage stage(config);
	auto o = stage.options();
	o.ioQueues = 1;
	o.queueSize = 1024;
	o.sqFlow = !sqflowOff;
	auto c = stage.host.connect(o);
	CHECK(c.queueSize <= 32);
	stage.server.setLatency(3ms); // so that commands queue up
	auto result =
		runFio({.file = stage.disk(), .blocks = "4k", .depth = 128, .size = "4m", .more = "--bsrange=512-64k"});
	INFO(result.text);
	CHECK(result.good());
	CHECK(stage.server.counters().maxInflight <= (config.maxcmd ? config.maxcmd : 31u));
	CHECK(stage.server.counters().maxInflight >= 4);
	if (!config.inCapsule)
		CHECK(stage.server.counters().inCapsuleWrites == 0);
}

TEST_CASE("block layer operations become the matching NVMe commands", "[hostile][commands][short]")
{
	Stage stage;
	stage.host.connect(stage.options());
	auto disk = stage.disk();
	auto &count = stage.server.counters();
	Disk d(disk, O_DSYNC);
	Buffer b(4096);
	b.fill(1);
	REQUIRE(d.write(0, b) == 0);
	CHECK(count.fua + count.flushes >= 1);
	REQUIRE(d.discard(0, 65536) == 0);
	CHECK(count.discards >= 1);
	REQUIRE(d.zeroOut(131072, 65536) == 0);
	CHECK(count.zeroes >= 1);
	CHECK(count.inCapsuleWrites >= 1);
	Buffer large(mib);
	large.fill(2);
	REQUIRE(d.write(0, large) == 0);
	CHECK(count.r2ts + count.remoteReads >= 1);
	auto before = count.shutdowns.load();
	stage.host.disconnectAll();
	CHECK(count.shutdowns == before + 1); // orderly, with CC.SHN
}

TEST_CASE("data that was not sent when a connection ends is never sent", "[hostile][zerocopy][trap3][short][race][tcp]")
{
	Stage stage;
	auto o = stage.options();
	o.ioQueues = 1;
	auto c = stage.host.connect(o);
	Disk disk(stage.disk());
	Buffer first(mib);
	first.fill(100);
	REQUIRE(disk.write(0, first) == 0);

	// The target sends an R2T and then stops reading: the data of this write fill the sockets on both sides, and
	// the rest waits to be sent.
	static const Misbehaviour stopReading{
		"stop-reading", 3, target::Hook::r2t, When::io, Expect::reset, Needs::nothing, [](target::Strike &s) {
			if (!s.ioWrite())
				return false;
			auto *server = &s.conn.server();
			s.after = [server] { server->stallReads(true); };
			return true;
		}};
	stage.server.script().arm(stopReading);
	std::atomic<int> status{1};
	Buffer second(mib);
	second.fill(200);
	std::thread writer([&] { status = disk.write(0, second); });
	REQUIRE(stage.server.script().waitStrikes(1, scaled(5s)));
	auto arrived = [&] { return stage.server.unreadBytes(); };
	CHECK(eventually([&] { return arrived() > 0; }));
	std::this_thread::sleep_for(300ms); // the sockets are full now
	auto before = stage.server.counters().adminConnects.load();
	REQUIRE(stage.host.client().reset(c.name).ok());
	// The host has closed the old connection before it makes a new association. The target still does not read.
	REQUIRE(eventually([&] { return stage.server.counters().adminConnects > before; }));
	auto unread = arrived();
	std::this_thread::sleep_for(500ms);
	// The Connect command of the new I/O queue may have arrived, about 1,100 bytes. Data that waited on the host
	// must not.
	CHECK(arrived() < unread + 4096);
	CHECK(status == 1);
	stage.server.stallReads(false);
	writer.join();
	CHECK(status == 0);
	CHECK(stage.server.stores().find(1)->peek(0, mib) == Bytes(second.data(), second.data() + mib));
}

TEST_CASE("pages of a mapped file that change during the write do not break the digest",
	  "[hostile][stable][trap10][short][tcp]")
{
	Stage stage;
	stage.server.stores().add(2, 64 * mib);
	auto c = stage.host.connect(stage.options(Needs::dataDigest));
	auto node = stage.host.disk(2, 10s, stage.server.config().nqn);
	must("mkfs.ext4 -q -F " + node + " && mkdir -p /mnt && mount " + node + " /mnt");
	int fd = ::open("/mnt/mapped", O_RDWR | O_CREAT, 0644);
	REQUIRE(::ftruncate(fd, 4 * mib) == 0);
	{
		Scribbler scribbler(fd, 4 * mib);
		Stopwatch time;
		while (time.elapsed() < 3s)
			CHECK(::fdatasync(fd) == 0);
		CHECK(scribbler.running());
	}
	::close(fd);
	must("umount /mnt && fsck.ext4 -f -n " + node);
	CHECK(stage.server.counters().digestErrors == 0);
	CHECK(stage.server.counters().adminConnects == 1);
}

TEST_CASE("the log of xfs, in slab pages, goes over the wire", "[hostile][slab][trap11][short]")
{
	target::Config config;
	Stage stage(config);
	stage.server.stores().add(2, 384 * mib);
	auto o = stage.options(overRdma() ? Needs::nothing : Needs::dataDigest);
	stage.host.connect(o);
	auto node = stage.host.disk(2, 10s, stage.server.config().nqn);
	must("mkfs.xfs -q -f " + node + " && mkdir -p /mnt && mount " + node + " /mnt");
	must("mkdir /mnt/d && for i in $(seq 200); do echo $i > /mnt/d/$i; [ $((i % 10)) != 0 ] || sync; done");
	must("umount /mnt && xfs_repair -n " + node + " && mount " + node +
	     " /mnt && [ \"$(cat /mnt/d/* | wc -l)\" = 200 ] && umount /mnt");
}

// SPDK discards a range only up to its limit and reports success: the rest would silently keep its data.
TEST_CASE("limits of Dataset Management and Write Zeroes are respected", "[hostile][limits][trap44]")
{
	target::Config config;
	SECTION("per discard range, and of Write Zeroes")
	{
		config.rangeBlocks = 64;
		config.writeZeroes = 1;
	}
	SECTION("of all discard ranges together")
	{
		config.discardBlocks = 128;
	}
	Stage stage(config);
	stage.host.connect(stage.options());
	Disk disk(stage.disk());
	const auto node = stage.disk().substr(5);
	auto zeroed = [&] { return stage.server.stores().find(1)->peek(0, mib) == target::Bytes(mib); };
	Buffer full(mib);
	full.fill(1);
	REQUIRE(disk.write(0, full) == 0);
	CHECK(disk.discard(0, mib) == 0);
	CHECK(zeroed());
	CHECK(readFile("/sys/block/" + node + "/queue/discard_max_hw_bytes") ==
	      (config.rangeBlocks ? "32768" : "65536"));
	if (!config.writeZeroes)
		return;
	REQUIRE(disk.write(0, full) == 0);
	auto writes = stage.server.counters().writes.load();
	CHECK(disk.zeroOut(0, mib) == 0);
	CHECK(zeroed());
	CHECK(stage.server.counters().zeroes == mib / 8192);
	CHECK(stage.server.counters().writes == writes); // no Write replaces a Write Zeroes
}

TEST_CASE("small writes answered at once, at depth", "[hostile][fast][trap12][short][race]")
{
	Stage stage;
	auto o = stage.options(Needs::noSqflow);
	stage.host.connect(o);
	auto result =
		runFio({.file = stage.disk(), .rw = "randrw", .blocks = "4k", .depth = 64, .size = "8m", .seconds = 4});
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("data with SUCCESS under flow control are taken, because targets in use send them",
	  "[hostile][success][trap6][short][race]")
{
	target::Config config;
	config.successAlways = true;
	config.queueEntries = 32;
	Stage stage(config);
	auto o = stage.options();
	o.sqFlow = true;
	stage.host.connect(o);
	auto result = runFio({.file = stage.disk(),
			      .rw = "randrw",
			      .blocks = "4k",
			      .depth = 64,
			      .size = "1m",
			      .more = "--bsrange=512-64k"});
	INFO(result.text);
	CHECK(result.good());
	CHECK(stage.server.counters().adminConnects == 1);
}

} // namespace guest::hostile_data
