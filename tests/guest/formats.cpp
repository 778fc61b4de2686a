// SPDX-License-Identifier: LGPL-2.1-or-later
// Protection information, atomic writes, Write Zeroes, and namespaces that change while they are used.
#include "hostile_format.h"
#include "support/again.h"
#include "support/fio.h"
#include "support/ghost.h"
#include "support/ring.h"
#include "target/acts.h"
#include "target/connection.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace guest::formats {

using target::Expect;

namespace {

constexpr std::uint64_t mib = 1 << 20;

target::Config plain()
{
	target::Config config;
	config.ana = true;
	return config;
}

struct Scene {
	Ports ports;
	std::string node;
	std::shared_ptr<Disk> disk;

	explicit Scene(const std::function<void(target::Store &)> &prepare = {}, const target::Config &config = plain())
		: ports(std::vector<target::Config>{config, config})
	{
		if (prepare)
			prepare(ports.store());
		ports.connectAll();
		node = ports.disk();
		REQUIRE_FALSE(node.empty());
		disk = std::make_shared<Disk>(node);
		REQUIRE(both());
	}
	std::uint32_t usable()
	{
		auto paths = ports.host.paths();
		return static_cast<std::uint32_t>(std::ranges::count_if(paths, [](auto &p) { return p.usable; }));
	}
	bool both()
	{
		return eventually([this] { return usable() == 2; }, 20s);
	}
	std::string queue(const char *attribute) const
	{
		return readFile("/sys/block/" + node.substr(5) + "/queue/" + attribute);
	}
	std::optional<nvmeof::Namespace> ns() { return ports.host.nameSpace(1, ports[0].config().nqn); }
};

// pwritev2 of glibc knows no RWF_ATOMIC; the disk has to be told by statx in addition
int writeWhole(const Disk &disk, std::uint64_t offset, std::size_t bytes)
{
	constexpr int rwfAtomic = 0x40;
	Buffer buffer(bytes);
	buffer.fill(1);
	iovec vec{buffer.data(), buffer.size()};
	auto n = ::syscall(SYS_pwritev2, disk.fd(), &vec, 1, offset, 0, rwfAtomic);
	return n < 0 ? -errno : n == static_cast<long>(bytes) ? 0 : -EMSGSIZE;
}

// By io_uring: Linux 6.12
bool hasRingDiscard()
{
	utsname kernel{};
	int major = 0, minor = 0;
	REQUIRE(::uname(&kernel) == 0);
	REQUIRE(std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2);
	return major > 6 || (major == 6 && minor >= 12);
}

} // namespace

TEST_CASE("protection information is made, checked and taken off by the controller", "[formats][pi][short]")
{
	std::uint8_t type = GENERATE(1, 2, 3);
	INFO("type " << int(type));
	Scene s([&](target::Store &store) { store.makeProtected(type); });
	auto &pi = *s.ports.store().protection();
	REQUIRE(s.ns());
	CHECK(s.ns()->protection == type);
	CHECK(must("nvmeofctl show " + s.node.substr(5)).find("type " + std::to_string(type)) != std::string::npos);
	for (std::size_t bytes : {512u, 4096u, 131072u})
		CHECK(s.disk->verified(mib, bytes, std::uint32_t(bytes)) == 0);
	CHECK(pi.checked() > 0);
	CHECK((pi.tagged() > 0) == (type != 3));
	CHECK(s.disk->zeroOut(mib, 65536) == 0);
	Buffer zeroes(65536);
	REQUIRE(s.disk->read(mib, zeroes) == 0);
	CHECK(zeroes.zero());
	CHECK(s.disk->discard(mib, 65536) == 0);
	CHECK(s.disk->read(mib, zeroes) == 0);

	// what went wrong on the medium is an error, and comes by each path
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	pi.spoilGuard(3);
	Buffer buffer(4096);
	CHECK(s.disk->read(0, buffer) == -EILSEQ);
	pi.spoilGuard(3);
	CHECK(s.disk->read(0, buffer) == 0);
	pi.spoilTag(3);
	CHECK(s.disk->read(0, buffer) == (type == 3 ? 0 : -EILSEQ));
	pi.spoilTag(3);
	CHECK(s.usable() == 2);
}

TEST_CASE("discards that come together are ranges of one command", "[formats][discard]")
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
	CHECK(known == hasRingDiscard());
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

TEST_CASE("protection information while a path goes", "[formats][pi]")
{
	Scene s([](target::Store &store) { store.makeProtected(1); });
	FioJob job{.file = s.node, .rw = "randwrite", .depth = 4, .size = "4m", .seconds = 4};
	FioLoad load(job);
	for (unsigned n = 0; n < 4; n++) {
		std::this_thread::sleep_for(400ms);
		s.ports[n % 2].dropConnections(true);
	}
	auto result = load.wait(slowly(60s));
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a target that is wrong about its format", "[formats][hostile][table]")
{
	for (auto &m : target::formatMisbehaviours()) {
		if (!chosen("NVMEOF_MISBEHAVIOUR", m.name))
			continue;
		DYNAMIC_SECTION(m.name << " (trap " << m.trap << "): " << toString(m.expect))
		{
			decided("NVMEOF_MISBEHAVIOUR", m.name);
			Ports ports(std::vector<target::Config>{plain()});
			connectsAsTold(ports, m);
			if (m.expect == Expect::nsRefused)
				continue;
			Disk disk(ports.disk());
			CHECK(ports.work(disk) == 0);
		}
	}
}

TEST_CASE("atomic writes: as much as the weakest path can", "[formats][atomic][short]")
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
	if (queue("atomic_write_unit_max_bytes").empty()) // a kernel without
		return;
	CHECK(queue("atomic_write_unit_max_bytes") == std::to_string(32 * 512));
	CHECK(queue("atomic_write_unit_min_bytes") == "512");
	CHECK(queue("atomic_write_boundary_bytes") == std::to_string(128 * 512));
	{
		Disk disk(node);
		CHECK(writeWhole(disk, 16384, 16384) == 0);
		CHECK(writeWhole(disk, 0, 32768) == -EINVAL);   // more than it has
		CHECK(writeWhole(disk, 512, 16384) == -EINVAL); // not at its own multiple
	}
	ports.connect(1);
	CHECK(eventually([&] { return queue("atomic_write_unit_max_bytes") == std::to_string(16 * 512); }));
	{
		Disk disk(node);
		CHECK(writeWhole(disk, 16384, 16384) == -EINVAL);
		CHECK(writeWhole(disk, 8192, 8192) == 0);
	}
	// the weak one has left
	ports.host.disconnectAll();
	ports.connect(0);
	REQUIRE_FALSE(ports.disk().empty());
}

TEST_CASE("a controller without atomic writes, and one that alone says so", "[formats][atomic]")
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
	auto most = s.queue("atomic_write_unit_max_bytes");
	CHECK((most == std::to_string(8 * 512) || most.empty()));
}

TEST_CASE("Write Zeroes deallocates only where that is not forbidden", "[formats][zeroes][short]")
{
	Scene s;
	auto deallocated = [&] { return s.ports[0].counters().deallocated + s.ports[1].counters().deallocated; };
	auto zeroes = [&] { return s.ports[0].counters().zeroes + s.ports[1].counters().zeroes; };
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	CHECK(s.disk->zeroOut(0, 4096) == 0); // BLKZEROOUT keeps what is allocated
	CHECK(zeroes() == 1);
	CHECK(deallocated() == 0);
	// a hole may go
	CHECK(::fallocate(s.disk->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 65536) == 0);
	CHECK(zeroes() >= 2);
	CHECK(deallocated() >= 1);
	Buffer buffer(4096);
	REQUIRE(s.disk->read(0, buffer) == 0);
	CHECK(buffer.zero());
}

TEST_CASE("Copy and Verify by passthrough: a list of ranges, and no data", "[formats][copy][short]")
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

TEST_CASE("write protection comes and goes under I/O", "[formats][changes][short]")
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
	CHECK(writeTo(*s.disk, 0, 2) < 0); // before anybody has told
	tell();
	CHECK(eventually([&] { return s.ns()->readOnly; }));
	CHECK(readFile("/sys/block/" + s.node.substr(5) + "/ro") == "1");
	s.ports.store().writeProtect(false);
	tell();
	CHECK(eventually([&] { return !s.ns()->readOnly; }));
	CHECK(writeTo(*s.disk, 0, 3) == 0);
	auto result = load.wait(slowly(30s));
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("detached under I/O, attached with another block size, formatted back", "[formats][changes]")
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
	auto lost = load->wait(slowly(30s));
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
	// formatted without having been away
	stores.add(1, 16 * mib);
	tell();
	CHECK(eventually([&] { return sizeOf() == 512; }, 15s));
	CHECK(s.both());
	CHECK(s.ns()->size == 16 * mib);
	Disk disk(s.ports.disk());
	CHECK(disk.verified(8 * mib, 65536, 6) == 0);
}

TEST_CASE("formatted with protection information", "[formats][pi][changes]")
{
	Scene s;
	auto other = std::make_shared<target::Store>(1, 8 * mib);
	other->makeProtected(1);
	s.disk.reset();
	s.ports.subsystem().stores().put(1, other);
	for (std::size_t port : {0u, 1u})
		s.ports[port].namespacesChanged();
	auto works = [&] {
		auto node = s.ports.disk();
		return !node.empty() && Disk(node).verified(0, 65536, 1) == 0 && other->protection()->checked() > 0;
	};
	CHECK(eventually(works, 15s));
	CHECK(s.both());
}

} // namespace guest::formats
