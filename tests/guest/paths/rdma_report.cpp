// SPDX-License-Identifier: LGPL-2.1-or-later
// The host over RDMA: queue limits, connection details that are reported, rejected options, module removal
#include "support/direct.h"
#include "support/multi.h"
#include "support/rig.h"
#include "support/shell.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace guest::rdma_report {

using nvmeof::ControllerState;

namespace {

std::string limit(const std::string &disk, const std::string &name)
{
	std::string value;
	std::getline(std::ifstream("/sys/block/" + disk.substr(5) + "/queue/" + name), value);
	return value;
}

nvmeof::Controller at(Multi &multi, unsigned lane)
{
	return take(multi.host.client().controller(multi.name(lane)));
}

} // namespace

TEST_CASE("a path over RDMA that joins one over TCP lowers the queue limits, under load", "[rdma][told]")
{
	Multi multi({.lanes = 2, .transports = {"tcp", "rdma"}});
	multi.connect(0);
	multi.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(multi.disk(), 60));
	REQUIRE(multi.waitForLoad());
	CHECK(limit(multi.disk(), "virt_boundary_mask") == "0");
	multi.connect(1); // under load
	REQUIRE(multi.waitPaths(2));
	CHECK(limit(multi.disk(), "virt_boundary_mask") == "4095");
	CHECK(limit(multi.disk(), "max_segments") == "256");
	// when the path is removed, the limits return to their previous values
	auto max = limit(multi.disk(), "max_hw_sectors_kb");
	CHECK(multi.host.client().disconnect(multi.name(1)).ok());
	CHECK(eventually([&] { return limit(multi.disk(), "virt_boundary_mask") == "0"; }));
	CHECK(std::stoul(limit(multi.disk(), "max_segments")) > 256);
	CHECK(std::stoul(limit(multi.disk(), "max_hw_sectors_kb")) > std::stoul(max));
	CHECK(multi.waitForLoad());
	multi.connect(1);
	REQUIRE(multi.waitPaths(2));
	CHECK(limit(multi.disk(), "virt_boundary_mask") == "4095");
	expectGoodUntilNow(load);
}

TEST_CASE("a busy queue moderates its completion interrupts", "[rdma][told][claims]")
{
	Multi multi({.lanes = 1});
	Claims claims(multi.lane(0).nic().name(), "moderation=1");
	multi.connect(0);
	for (unsigned depth : {1u, 16u, 32u})
		CHECK(runFio({.file = multi.disk(), .depth = depth, .size = "4m"}).good());
	CHECK(std::stoi(Claims::get("moderated")) > 0);
	multi.host.disconnectAll();
}

// Requests built without a virtual boundary: 512 bytes in the middle of each of several pages, which no single memory
// region can map
TEST_CASE("requests with gaps that wait for any path are also sent over RDMA", "[rdma][told]")
{
	constexpr std::size_t pages = 8, piece = 512, page = 4096;
	Multi multi({.lanes = 2, .transports = {"tcp", "rdma"}});
	multi.connect(0);
	const auto node = multi.disk();
	int fd = ::open(node.c_str(), O_RDWR | O_DIRECT);
	REQUIRE(fd >= 0);
	auto buffer = static_cast<char *>(std::aligned_alloc(page, pages * page));
	std::vector<iovec> parts;
	for (std::size_t i = 0; i < pages; i++) {
		std::memset(buffer + i * page, static_cast<int>('a' + i), page);
		parts.push_back({buffer + i * page + 1024, piece});
	}
	multi.lane(0).close();
	REQUIRE(eventually([&] { return at(multi, 0).state != ControllerState::live; }));
	auto written = std::async(std::launch::async,
				  [&] { return ::pwritev(fd, parts.data(), static_cast<int>(parts.size()), 0); });
	pause(300ms);
	multi.connect(1);
	REQUIRE(written.wait_for(scaled(10s)) == std::future_status::ready);
	CHECK(written.get() == static_cast<ssize_t>(pages * piece));
	std::memset(buffer, 0, pages * page);
	CHECK(::preadv(fd, parts.data(), static_cast<int>(parts.size()), 0) == static_cast<ssize_t>(pages * piece));
	for (std::size_t i = 0; i < pages; i++) {
		CHECK(std::string(buffer + i * page + 1024, piece) == std::string(piece, static_cast<char>('a' + i)));
		CHECK(buffer[i * page + 1023] == 0);
	}
	::close(fd);
	std::free(buffer);
}

TEST_CASE("the RDMA details of a connection are reported", "[rdma][told]")
{
	Multi multi;
	multi.connect(0);
	auto options = multi.options(1);
	options.ackTimeout = 20ms;
	options.retryCount = 3;
	multi.host.connect(options);
	auto first = at(multi, 0), second = at(multi, 1);
	REQUIRE(first.rdma);
	REQUIRE(second.rdma);
	CHECK(first.rdma->device == multi.lane(0).nic().name());
	CHECK(first.rdma->gid == "::ffff:" + multi.lane(0).address());
	CHECK(first.rdma->ackTimeout == 134ms);
	CHECK(second.rdma->ackTimeout == 20ms);
	CHECK(second.rdma->retryCount == 3);
	CHECK(first.rdma->inCapsule > 0);
	CHECK(runFio({.file = multi.disk(), .depth = 16, .size = "4m"}).good());
	auto later = at(multi, 0);
	REQUIRE(later.rdma);
	auto &before = *first.rdma, &after = *later.rdma;
	CHECK(after.posts > before.posts);
	CHECK(after.workRequests - before.workRequests > after.posts - before.posts); // batches
	CHECK(after.completions > before.completions);
	// each registration is invalidated, locally or remotely
	CHECK(after.registrations == after.invalidations + after.remoteInvalidations);
	CHECK(run("nvmeofctl show " + later.name).text.find("rdma device") != std::string::npos);
}

// The admin queue has only one memory region for that much data: a second command waits until it is free.
TEST_CASE("several large log pages are read at the same time", "[rdma][told]")
{
	Multi multi;
	multi.connect(0);
	int fd = ::open(("/dev/" + multi.name(0)).c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	auto readLogs = [fd] {
		constexpr std::uint32_t bytes = 256 << 10;
		std::vector<char> data(bytes);
		for (int i = 0; i < 20; i++) {
			nvme_passthru_cmd cmd{};
			cmd.opcode = 0x02; // Get Log Page
			cmd.addr = reinterpret_cast<std::uintptr_t>(data.data());
			cmd.data_len = bytes;
			cmd.cdw10 = (bytes / 4 - 1) << 16 | 0x01; // Error Information log
			cmd.cdw11 = (bytes / 4 - 1) >> 16;
			if (int ret = ::ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd))
				return ret < 0 ? -errno : ret;
		}
		return 0;
	};
	std::vector<std::future<int>> readers;
	for (int i = 0; i < 4; i++)
		readers.push_back(std::async(std::launch::async, readLogs));
	for (auto &reader : readers)
		CHECK(reader.get() == 0);
	::close(fd);
}

TEST_CASE("rejected options and failed connects have a reason", "[rdma][told]")
{
	Rig rig;
	auto options = rig.options();
	options.ackTimeout = 20ms;
	options.transport = "tcp";
	auto refused = rig.host.client().connect(options, nvmeof::WaitFor::controller, 5s);
	REQUIRE_FALSE(refused);
	CHECK(refused.error().message.find("an option of another transport") != std::string::npos);

	options = rig.options();
	options.address.trsvcid = "4999";
	refused = rig.host.client().connect(options, nvmeof::WaitFor::controller, 10s);
	REQUIRE_FALSE(refused);
	CHECK(refused.error().message.find("no service listens") != std::string::npos);

	options = rig.options();
	options.address.traddr = "127.0.0.1"; // no RDMA device has this address
	refused = rig.host.client().connect(options, nvmeof::WaitFor::controller, 10s);
	REQUIRE_FALSE(refused);
	CHECK_FALSE(refused.error().message.empty());
	CHECK(take(rig.host.client().controllers()).empty());
}

TEST_CASE("the module is removed under load, and a path over TCP takes over", "[rdma][told]")
{
	Multi multi({.lanes = 2, .transports = {"rdma", "tcp"}});
	multi.connectAll();
	REQUIRE(multi.waitPaths(2));
	multi.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(multi.disk(), 60));
	REQUIRE(multi.waitForLoad());
	CHECK(run("rmmod nvmeof_rdma").status == 0);
	CHECK(take(multi.host.client().controllers()).size() == 1);
	CHECK(multi.waitForLoad());
	must("modprobe nvmeof_rdma");
	multi.connect(0);
	CHECK(multi.waitPaths(2));
	expectGoodUntilNow(load);
}

} // namespace guest::rdma_report
