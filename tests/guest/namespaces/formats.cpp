// SPDX-License-Identifier: LGPL-2.1-or-later
// Discards, atomic writes, Write Zeroes, and namespaces that change while in use.
#include "formats.h"
#include "hostile/hostile_format.h"
#include "support/fio.h"
#include "support/stalled_writes.h"
#include "support/ring.h"
#include "target/acts.h"
#include "target/connection.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

namespace guest::formats {

using target::Expect;

namespace {

// pwritev2() of glibc does not know RWF_ATOMIC.
int writeWhole(const Disk &disk, std::uint64_t offset, std::size_t bytes)
{
	constexpr int rwfAtomic = 0x40;
	Buffer buffer(bytes);
	buffer.fill(1);
	iovec vec{buffer.data(), buffer.size()};
	auto n = ::syscall(SYS_pwritev2, disk.fd(), &vec, 1, offset, 0, rwfAtomic);
	return n < 0 ? -errno : n == static_cast<long>(bytes) ? 0 : -EMSGSIZE;
}

} // namespace

TEST_CASE("simultaneous discards become ranges of one command", "[formats][discard]")
{
	constexpr unsigned count = 64;
	constexpr std::uint64_t piece = 4096, stride = 65536;
	auto config = plain();
	config.discardRanges = GENERATE(std::uint8_t(0), std::uint8_t(10), std::uint8_t(1));
	INFO("DMRL " << int(config.discardRanges));
	Scene s({}, config);
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	Buffer full(count * stride);
	std::memset(full.data(), 1, full.size());
	REQUIRE(s.disk->write(0, full) == 0);
	auto commands = [&] { return s.ports[0].counters().discards + s.ports[1].counters().discards; };
	auto before = commands();
	Ring ring(count);
	for (unsigned n = 0; n < count; n++)
		ring.addDiscard(s.disk->fd(), n * stride, piece);
	ring.submit();
	bool known = true;
	for (unsigned n = 0; n < count; n++) {
		auto got = ring.next().res;
		known &= got != -EOPNOTSUPP;
		CHECK((got == 0 || got == -EOPNOTSUPP));
	}
	CHECK(known == kernelFrom(6, 12)); // io_uring has discards
	if (!known)
		return;
	auto sent = commands() - before;
	INFO(sent << " commands");
	CHECK(sent >= (config.discardRanges ? count / config.discardRanges : 1));
	CHECK(sent < (config.discardRanges == 1 ? count + 1 : count / 2));
	REQUIRE(s.disk->read(0, full) == 0);
	for (std::uint64_t at = 0; at < full.size(); at += 512)
		if ((full.data()[at] == 0) != (at % stride < piece))
			FAIL("at " << at << ": " << int(full.data()[at]));
}

TEST_CASE("the host handles a target that misreports its format", "[formats][hostile][table]")
{
	for (auto &m : target::formatMisbehaviours()) {
		if (!isSelected("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
		{
			recordChoice("NVMEOF_MISBEHAVIOUR", m.name);
			Ports ports(std::vector<target::Config>{plain()});
			expectConnectResult(ports, m);
			if (m.expect == Expect::nsRefused)
				continue;
			Disk disk(ports.disk());
			CHECK(ports.work(disk) == 0);
		}
	}
}

TEST_CASE("atomic writes are limited to those of the weakest path", "[formats][atomic][short]")
{
	auto strong = plain(), weak = plain();
	strong.nawupf = 31, strong.nabspf = 127;
	weak.nawupf = 15, weak.nabspf = 63;
	Ports ports(std::vector<target::Config>{strong, weak});
	ports.connect(0);
	auto node = ports.disk();
	REQUIRE_FALSE(node.empty());
	auto queue = [&](const char *attribute) {
		return readFile("/sys/block/" + node.substr(5) + "/queue/" + attribute);
	};
	// some distributions have added atomic writes to older kernels
	if (!kernelFrom(6, 11) && queue("atomic_write_unit_max_bytes").empty())
		return;
	CHECK(queue("atomic_write_unit_max_bytes") == std::to_string(32 * 512));
	CHECK(queue("atomic_write_unit_min_bytes") == "512");
	CHECK(queue("atomic_write_boundary_bytes") == std::to_string(128 * 512));
	{
		Disk disk(node);
		CHECK(writeWhole(disk, 16384, 16384) == 0);
		CHECK(writeWhole(disk, 0, 32768) == -EINVAL);   // more than the maximum
		CHECK(writeWhole(disk, 512, 16384) == -EINVAL); // not naturally aligned
	}
	ports.connect(1);
	CHECK(eventually([&] { return queue("atomic_write_unit_max_bytes") == std::to_string(16 * 512); }));
	{
		Disk disk(node);
		CHECK(writeWhole(disk, 16384, 16384) == -EINVAL);
		CHECK(writeWhole(disk, 8192, 8192) == 0);
	}
	// without the weak path
	ports.host.disconnectAll();
	ports.connect(0);
	REQUIRE_FALSE(ports.disk().empty());
}

TEST_CASE("a disk has atomic writes only if its controllers report them; AWUPF alone suffices", "[formats][atomic]")
{
	{
		Scene s;
		CHECK((s.queue("atomic_write_unit_max_bytes") == "0" ||
		       s.queue("atomic_write_unit_max_bytes").empty()));
	}
	auto config = plain();
	config.awupf = 7;
	Scene s({}, config);
	REQUIRE(s.ns());
	CHECK(s.ns()->atomicWrite == 8 * 512);
	CHECK(s.ns()->atomicBoundary == 0);
	CHECK(must("nvmeofctl show --json " + s.node.substr(5)).find("\"atomic_write\"") != std::string::npos);
	auto max = s.queue("atomic_write_unit_max_bytes");
	CHECK((max == std::to_string(8 * 512) || max.empty()));
}

TEST_CASE("Write Zeroes deallocates only where the caller allows it", "[formats][zeroes][short]")
{
	Scene s;
	auto deallocated = [&] { return s.ports[0].counters().deallocated + s.ports[1].counters().deallocated; };
	auto zeroes = [&] { return s.ports[0].counters().zeroes + s.ports[1].counters().zeroes; };
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	CHECK(s.disk->zeroOut(0, 4096) == 0); // BLKZEROOUT does not deallocate
	CHECK(zeroes() == 1);
	CHECK(deallocated() == 0);
	// Punching a hole may deallocate.
	CHECK(::fallocate(s.disk->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 65536) == 0);
	CHECK(zeroes() >= 2);
	CHECK(deallocated() >= 1);
	Buffer buffer(4096);
	REQUIRE(s.disk->read(0, buffer) == 0);
	CHECK(buffer.zero());
}

TEST_CASE("passthrough sends Copy with a list of ranges, and Verify without data", "[formats][copy][short]")
{
	Scene s;
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	REQUIRE(writeTo(*s.disk, 8192, 2) == 0);
	auto send = [&](std::uint8_t opcode, std::uint64_t block, std::uint32_t cdw12, void *data, std::uint32_t len) {
		nvme_passthru_cmd cmd{};
		cmd.opcode = opcode;
		cmd.nsid = 1;
		cmd.addr = reinterpret_cast<std::uintptr_t>(data);
		cmd.data_len = len;
		cmd.cdw10 = static_cast<std::uint32_t>(block);
		cmd.cdw12 = cdw12;
		int ret = ::ioctl(s.disk->fd(), NVME_IOCTL_IO_CMD, &cmd);
		return ret < 0 ? -errno : ret;
	};
	struct Range {
		std::uint64_t reserved, slba;
		std::uint16_t blocks;
		std::uint8_t rest[14];
	} ranges[2] = {{0, 16, 7, {}}, {0, 0, 7, {}}};
	static_assert(sizeof(Range) == 32);
	CHECK(send(0x19, 64, 1, ranges, sizeof(ranges)) == 0);
	Buffer first(length), second(length);
	REQUIRE(s.disk->read(64 * 512, first) == 0);
	REQUIRE(s.disk->read(72 * 512, second) == 0);
	CHECK(first.holds(2));
	CHECK(second.holds(1));
	CHECK(send(0x0c, 0, 7, nullptr, 0) == 0);
	CHECK(send(0x0c, 8 * mib / 512, 7, nullptr, 0) > 0); // beyond the end
	CHECK(send(0x0c, 0, 7, ranges, sizeof(ranges)) == -EINVAL);
}

TEST_CASE("write protection is set and cleared under I/O", "[formats][changes][short]")
{
	Scene s;
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	auto tell = [&] {
		for (std::size_t port : {0u, 1u})
			s.ports[port].namespacesChanged();
	};
	FioJob job{.file = s.node, .rw = "randread", .depth = 4, .verify = false, .seconds = 4};
	FioLoad load(job);
	s.ports.store().writeProtect(true);
	CHECK(writeTo(*s.disk, 0, 2) < 0); // before the event
	tell();
	CHECK(eventually([&] { return s.ns()->readOnly; }));
	CHECK(readFile("/sys/block/" + s.node.substr(5) + "/ro") == "1");
	s.ports.store().writeProtect(false);
	tell();
	CHECK(eventually([&] { return !s.ns()->readOnly; }));
	CHECK(writeTo(*s.disk, 0, 3) == 0);
	auto result = load.wait(scaled(30s));
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a namespace is detached under I/O, attached with another block size, and formatted back",
	  "[formats][changes]")
{
	Scene s;
	auto &stores = s.ports.subsystem().stores();
	auto tell = [&] {
		for (std::size_t port : {0u, 1u})
			s.ports[port].namespacesChanged();
	};
	auto sizeOf = [&] {
		auto ns = s.ns();
		return ns ? ns->lbaSize : 0u;
	};
	FioJob job{.file = s.node, .rw = "randread", .depth = 4, .verify = false, .seconds = 60};
	auto load = std::make_unique<FioLoad>(job);
	REQUIRE(eventually([&] { return s.ports[0].counters().reads + s.ports[1].counters().reads > 20; }));
	stores.remove(1);
	tell();
	auto lost = load->wait(scaled(30s));
	CHECK(lost.status >= 0);
	CHECK_FALSE(lost.good());
	s.disk.reset();
	load.reset();
	CHECK(eventually([&] { return !s.ns(); }, 15s));
	stores.put(1, std::make_shared<target::Store>(1, 8 * mib, 12));
	tell();
	CHECK(eventually([&] { return sizeOf() == 4096; }, 15s));
	{
		Disk disk(s.ports.disk());
		CHECK(disk.blockSize() == 4096);
		CHECK(disk.verified(0, 65536, 5) == 0);
	}
	// Formatted while it is attached.
	stores.add(1, 16 * mib);
	tell();
	CHECK(eventually([&] { return sizeOf() == 512; }, 15s));
	CHECK(s.both());
	CHECK(s.ns()->size == 16 * mib);
	Disk disk(s.ports.disk());
	CHECK(disk.verified(8 * mib, 65536, 6) == 0);
}

} // namespace guest::formats
