// SPDX-License-Identifier: LGPL-2.1-or-later
// Block I/O that fail_make_request makes fail, below the target and on the driver's own disk. The application gets the
// error, retries are bounded, and good data stay unchanged.
#include "support/block.h"
#include "support/multi.h"
#include "support/rig.h"

#include <catch2/catch.hpp>

#include <cstdio>

namespace guest::faults_io {

using nvmeof::ControllerState;

namespace {

constexpr std::size_t length = 4096;

// While this object exists, every n-th I/O to a disk fails, at most the given number of times (-1: unlimited).
class FailIo {
public:
	explicit FailIo(const std::string &node, unsigned interval = 1, int times = -1)
		: file_("/sys/block/" + node.substr(5) + "/make-it-fail")
	{
		set("verbose", "0"); // it would print a call trace for each
		set("probability", "100");
		set("interval", std::to_string(interval));
		set("times", std::to_string(times));
		writeFile(file_, "1");
	}
	~FailIo()
	{
		set("probability", "0");
		if (exists(file_))
			writeFile(file_, "0");
	}
	FailIo(const FailIo &) = delete;
	FailIo &operator=(const FailIo &) = delete;

	static int timesLeft() { return std::stoi(readFile(dir() + "times")); }

private:
	static std::string dir() { return "/sys/kernel/debug/fail_make_request/"; }
	static void set(const char *name, const std::string &value) { writeFile(dir() + name, value); }

	std::string file_;
};

struct Ends {
	unsigned good = 0, eio = 0, other = 0;

	void count(int err)
	{
		good += err == 0;
		eio += err == -EIO;
		other += err != 0 && err != -EIO;
	}
};

std::uint64_t at(unsigned block)
{
	return std::uint64_t(block) * length;
}

int writeBlock(const Disk &disk, unsigned block, std::uint32_t seed)
{
	Buffer b(length);
	b.fill(seed);
	return disk.write(at(block), b);
}

// The blocks that were written successfully have their data.
void expectBlocks(const Disk &disk, const std::vector<std::uint32_t> &seeds)
{
	Buffer in(length);
	for (unsigned n = 0; n < seeds.size(); n++) {
		INFO("block " << n);
		REQUIRE(disk.read(at(n), in) == 0);
		CHECK(in.holds(seeds[n]));
	}
}

// The loop device behind the only namespace
std::string backing()
{
	auto name = must("basename $(dirname /sys/block/loop*/loop)");
	return "/dev/" + name.substr(0, name.find('\n'));
}

void expectWhole(Multi &rig)
{
	CHECK(rig.allLive());
	CHECK(eventually([&] { return rig.host.busy() == 0; }));
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 65536, 9) == 0);
}

} // namespace

TEST_CASE("I/O that fails behind the target fails with EIO, and no path is reset", "[faults][make_request]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Disk disk(rig.disk());
	REQUIRE(writeBlock(disk, 0, 1) == 0);
	{
		FailIo fail(backing());
		Stopwatch watch;
		Buffer in(length);
		CHECK(writeBlock(disk, 0, 2) == -EIO);
		CHECK(disk.read(at(0), in) == -EIO);
		CHECK(disk.flush() == -EIO);
		CHECK(disk.zeroOut(at(0), length) != 0);
		CHECK(watch.elapsed() < 20s);
	}
	for (auto &c : take(rig.host.client().controllers()))
		CHECK(c.reconnects == 0); // the target works, its disk does not
	expectBlocks(disk, {1});
	expectWhole(rig);
}

TEST_CASE("one I/O in seven fails behind the target: the others succeed with the right data", "[faults][make_request]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	Disk disk(rig.disk());
	std::vector<std::uint32_t> seeds(64, 1);
	for (unsigned n = 0; n < seeds.size(); n++)
		REQUIRE(writeBlock(disk, n, 1) == 0);
	Ends writes, reads;
	{
		FailIo fail(backing(), 7);
		Buffer in(length);
		for (unsigned i = 0; i < 400; i++) {
			auto n = i % seeds.size();
			int err = writeBlock(disk, static_cast<unsigned>(n), 2 + i);
			writes.count(err);
			if (!err)
				seeds[n] = 2 + i;
			err = disk.read(at(static_cast<unsigned>(n)), in);
			reads.count(err);
			if (!err)
				CHECK(in.holds(seeds[n]));
		}
	}
	std::printf("make_request: writes %u good, %u EIO, %u other; reads %u, %u, %u\n", writes.good, writes.eio,
		    writes.other, reads.good, reads.eio, reads.other);
	CHECK(writes.eio + reads.eio > 80); // of 800; one command may become several I/Os there
	CHECK(writes.other + reads.other == 0);
	CHECK(writes.good > 0);
	CHECK(reads.good > 0);
	expectBlocks(disk, seeds);
	expectWhole(rig);
}

TEST_CASE("a load ends with the error that occurs behind the target", "[faults][make_request]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	auto job = verifiedJob(rig.disk(), 60);
	job.verify = false;
	FioLoad load(job);
	REQUIRE(rig.waitForLoad());
	{
		FailIo fail(backing(), 50, 3);
		CHECK(eventually([&] { return !load.running(); }, 60s));
		CHECK(FailIo::timesLeft() < 3);
	}
	auto result = load.wait(30s);
	INFO(result.text);
	CHECK(result.error == EIO);
	expectWhole(rig);
}

TEST_CASE("I/O errors above the driver do not affect the controller", "[faults][make_request]")
{
	Rig rig;
	auto c = rig.connect();
	auto node = rig.disk();
	{
		Disk disk(node);
		REQUIRE(writeBlock(disk, 0, 1) == 0);
		FailIo fail(node);
		Buffer in(length);
		CHECK(writeBlock(disk, 0, 2) == -EIO);
		CHECK(disk.read(at(0), in) == -EIO);
		CHECK(disk.flush() == -EIO);
		CHECK(disk.discard(at(0), length) != 0);
		CHECK(run("dd if=" + node + " of=/dev/null bs=4k count=1").status != 0); // through the page cache
		CHECK(rig.host.client().rescan(c.name).ok());
		REQUIRE(rig.host.client().reset(c.name).ok());
		CHECK(rig.host.waitState(c.name, ControllerState::live, 60s));
		CHECK(rig.host.busy() == 0);
	}
	{
		Disk disk(node);
		expectBlocks(disk, {1});
	}
	// The writeback of the disconnect fails.
	FailIo fail(node);
	run("dd if=/dev/zero of=" + node + " bs=64k count=16");
	CHECK(rig.host.client().disconnect(c.name).ok());
	CHECK(eventually([&] { return !exists(node); }));
}

} // namespace guest::faults_io
