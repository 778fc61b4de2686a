// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe commands by io_uring on a disk's generic node act on the same data as the disk
#include "formats.h"
#include "support/block.h"
#include "support/multi.h"
#include "support/rig.h"
#include "support/ring.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cstdio>

namespace guest::passthru {

namespace {

constexpr std::uint8_t opFlush = 0, opWrite = 1, opRead = 2, opFabrics = 0x7f, adminIdentify = 6;
constexpr std::size_t block = 4096;
constexpr int invalidOpcode = 1;

struct File {
	int fd;
	explicit File(const std::string &node, int flags = O_RDWR) : fd(::open(node.c_str(), flags | O_CLOEXEC))
	{
		if (fd < 0)
			throw std::runtime_error(node + ": " + std::strerror(errno));
	}
	~File() { ::close(fd); }
	File(const File &) = delete;
	File &operator=(const File &) = delete;
};

struct Kind {
	const char *name;
	unsigned flags;
	unsigned pollQueues;
};

const Kind kinds[] = {
	{"interrupts", 0, 0},
	{"a thread of the kernel submits", IORING_SETUP_SQPOLL, 0},
	{"polled, and so are the queues", IORING_SETUP_IOPOLL, 1},
	{"polled, and no queue is", IORING_SETUP_IOPOLL, 0},
};

// Transfers the same data in each way, at block n of the disk
void verifyWays(Ring &ring, const File &node, const Disk &disk, unsigned n)
{
	auto slba = n * block / 512;
	Buffer plain(block), parts(block), fixed(block), seen(block);
	iovec vec[] = {{parts.data(), 512}, {parts.data() + 512, 1024}, {parts.data() + 1536, block - 1536}};
	ring.registerBuffers({{fixed.data(), block}});
	auto vectors = [&](std::uint8_t opcode) {
		auto cmd = blocksCommand(opcode, slba, block, vec);
		cmd.data_len = std::size(vec);
		return cmd;
	};
	auto same = [&](std::uint32_t seed) { return disk.read(n * block, seen) == 0 && seen.holds(seed); };

	plain.fill(n + 1);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opWrite, slba, block, plain.data())).res == 0);
	CHECK(same(n + 1));
	parts.fill(n + 2);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO_VEC, vectors(opWrite)).res == 0);
	CHECK(same(n + 2));
	fixed.fill(n + 3);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opWrite, slba, block, fixed.data()), 0).res == 0);
	CHECK(same(n + 3));

	plain.fill(n + 4);
	REQUIRE(disk.write(n * block, plain) == 0);
	plain.fill(0), parts.fill(0), fixed.fill(0);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opRead, slba, block, plain.data())).res == 0);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO_VEC, vectors(opRead)).res == 0);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opRead, slba, block, fixed.data()), 0).res == 0);
	CHECK(plain.holds(n + 4));
	CHECK(parts.holds(n + 4));
	CHECK(fixed.holds(n + 4));

	// an address that the transport cannot transfer to: the data are bounced in the submitting task
	Buffer odd(2 * block);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opRead, slba, block, odd.data() + 1)).res == 0);
	CHECK(!std::memcmp(odd.data() + 1, plain.data(), block));
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opFlush, 0, 512)).res == 0);
}

// Many reads in flight at a time
void verifyDepth(Ring &ring, const File &node, const Disk &disk, unsigned depth)
{
	std::vector<std::unique_ptr<Buffer>> buffers;
	for (unsigned i = 0; i < depth; i++) {
		buffers.push_back(std::make_unique<Buffer>(block));
		buffers[i]->fill(1000 + i);
		REQUIRE(disk.write(i * block, *buffers[i]) == 0);
		buffers[i]->fill(0);
		ring.add(node.fd, NVME_URING_CMD_IO, blocksCommand(opRead, i * block / 512, block, buffers[i]->data()),
			 i);
	}
	ring.submit();
	unsigned good = 0;
	for (unsigned i = 0; i < depth; i++) {
		auto done = ring.next();
		good += done.res == 0 && buffers.at(done.tag)->holds(1000 + static_cast<std::uint32_t>(done.tag));
	}
	CHECK(good == depth);
}

} // namespace

TEST_CASE("a disk's generic node exists as long as the disk", "[passthru][short]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	auto node = genericOf(disk);
	REQUIRE(exists(node));
	struct stat st {};
	REQUIRE(::stat(node.c_str(), &st) == 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK(st.st_uid == 0);
	CHECK((st.st_mode & 0077) == 0);
	CHECK(exists("/sys/class/nvmeof-generic" + node.substr(4) + "/dev"));
	File file(node);
	CHECK(::ioctl(file.fd, NVME_IOCTL_ID) == 1);
	Ring ring(4);
	Buffer data(block);
	CHECK(ring.one(file.fd, NVME_URING_CMD_IO, blocksCommand(opRead, 0, block, data.data())).res == 0);
	rig.host.disconnectAll();
	CHECK_FALSE(exists(node));
	// open files get ENODEV
	CHECK(ring.one(file.fd, NVME_URING_CMD_IO, blocksCommand(opRead, 0, block, data.data())).res == -ENODEV);
	CHECK(::open(node.c_str(), O_RDWR) < 0);
	rig.connect();
	CHECK(exists(genericOf(rig.disk())));
	CHECK(ring.one(file.fd, NVME_URING_CMD_IO, blocksCommand(opRead, 0, block, data.data())).res == -ENODEV);
}

TEST_CASE("io_uring commands read and write the data of the disk", "[passthru][short]")
{
	Rig rig;
	for (auto &kind : kinds) {
		INFO(kind.name);
		auto o = rig.options();
		o.pollQueues = kind.pollQueues;
		rig.host.connect(o);
		auto node = rig.disk();
		{
			Disk disk(node);
			File file(genericOf(node));
			Ring ring(64, kind.flags);
			verifyWays(ring, file, disk, 0);
			verifyDepth(ring, file, disk, 64);
		}
		rig.host.disconnectAll();
	}
}

TEST_CASE("more commands than tags wait, and none fails", "[passthru]")
{
	Rig rig;
	auto o = rig.options();
	o.ioQueues = 1;
	o.queueSize = 16;
	rig.host.connect(o);
	auto node = rig.disk();
	Disk disk(node);
	File file(genericOf(node));
	Ring ring(512);
	verifyDepth(ring, file, disk, 512);
}

TEST_CASE("admin commands work by io_uring", "[passthru][short]")
{
	Rig rig;
	auto c = rig.connect();
	File node("/dev/" + c.name), disk(genericOf(rig.disk()));
	Buffer plain(block), parts(block), fixed(block);
	Ring ring(4);
	ring.registerBuffers({{fixed.data(), block}});
	iovec vec[] = {{parts.data(), 100}, {parts.data() + 100, block - 100}};
	nvme_uring_cmd cmd{};
	cmd.opcode = adminIdentify;
	cmd.cdw10 = 1; // Identify Controller
	cmd.data_len = block;
	cmd.addr = reinterpret_cast<std::uintptr_t>(plain.data());
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN, cmd).res == 0);
	CHECK(std::string(reinterpret_cast<char *>(plain.data()) + 768) == testNqn);
	CHECK(ring.one(disk.fd, NVME_URING_CMD_ADMIN, cmd).res == -ENOTTY);
	auto fixedCmd = cmd;
	fixedCmd.addr = reinterpret_cast<std::uintptr_t>(fixed.data());
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN, fixedCmd, 0).res == 0);
	CHECK(!std::memcmp(plain.data(), fixed.data(), block));
	auto vecCmd = cmd;
	vecCmd.addr = reinterpret_cast<std::uintptr_t>(vec);
	vecCmd.data_len = std::size(vec);
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN_VEC, vecCmd).res == 0);
	CHECK(!std::memcmp(plain.data(), parts.data(), block));
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN_VEC, vecCmd, 0).res == -EINVAL);
	std::memset(parts.data(), 0, block);
	vec[0] = {parts.data(), block}; // the kernel treats a single element differently
	vecCmd.data_len = 1;
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN_VEC, vecCmd).res == 0);
	CHECK(!std::memcmp(plain.data(), parts.data(), block));
	// a feature value is in the completion, without data
	nvme_uring_cmd feature{};
	feature.opcode = 0x0a;
	feature.cdw10 = 7; // number of queues
	auto done = ring.one(node.fd, NVME_URING_CMD_ADMIN, feature);
	CHECK(done.res == 0);
	CHECK(done.result != 0);
	CHECK(ring.one(node.fd, NVME_URING_CMD_IO, blocksCommand(opRead, 0, block, plain.data())).res == -ENOTTY);
	nvme_uring_cmd vendor{};
	vendor.opcode = 0xc4;
	CHECK((ring.one(node.fd, NVME_URING_CMD_ADMIN, vendor).res & 0x7ff) == invalidOpcode);
	cmd.metadata_len = 8;
	CHECK(ring.one(node.fd, NVME_URING_CMD_ADMIN, cmd).res == -EOPNOTSUPP);
	Ring polled(4, IORING_SETUP_IOPOLL);
	// newer kernels take commands that are not polled on such a ring, too
	auto res = polled.one(node.fd, NVME_URING_CMD_ADMIN, feature).res;
	CHECK((res == -EOPNOTSUPP || (res == 0 && formats::kernelFrom(6, 13))));
}

TEST_CASE("an invalid command fails before it is sent", "[passthru][short]")
{
	Rig rig;
	rig.connect();
	auto node = rig.disk();
	File file(genericOf(node)), plain(node);
	Buffer data(block);
	Ring ring(4);
	ring.registerBuffers({{data.data(), block}});
	auto good = blocksCommand(opRead, 0, block, data.data());
	struct {
		const char *what;
		void (*change)(nvme_uring_cmd &);
		int res;
		unsigned long op = NVME_URING_CMD_IO;
		int buffer = -1;
	} const cases[] = {
		{"nothing", [](auto &) {}, 0},
		{"another namespace", [](auto &c) { c.nsid = 2; }, -EINVAL},
		{"all namespaces", [](auto &c) { c.nsid = ~0u; }, -EINVAL},
		{"fused", [](auto &c) { c.flags = 1; }, -EINVAL},
		{"format of the data pointer", [](auto &c) { c.flags = 0x40; }, -EINVAL},
		{"metadata", [](auto &c) { c.metadata_len = 64; }, -EOPNOTSUPP},
		{"longer than its blocks", [](auto &c) { c.cdw12 = 0; }, -EINVAL},
		{"shorter than its blocks", [](auto &c) { c.cdw12 = 100; }, -EINVAL},
		{"no data", [](auto &c) { c.data_len = 0; }, -EINVAL},
		{"data where there are none", [](auto &c) { c.opcode = opFlush; }, -EINVAL},
		{"more than a request has", [](auto &c) { c.data_len = 1 << 30; }, -EINVAL},
		{"both ways", [](auto &c) { c.opcode = 0x83; }, -EINVAL},
		{"fabrics", [](auto &c) { c.opcode = opFabrics; }, -EINVAL},
		{"no memory there", [](auto &c) { c.addr = 8; }, -EFAULT},
		{"the kernel's memory", [](auto &c) { c.addr = 0xffff888000000000; }, -EFAULT},
		{"vectors that are none", [](auto &c) { c.addr = 8, c.data_len = 1; }, -EFAULT, NVME_URING_CMD_IO_VEC},
		{"too many vectors", [](auto &c) { c.data_len = 5000; }, -EINVAL, NVME_URING_CMD_IO_VEC},
		{"vectors in a registered buffer", [](auto &) {}, -EINVAL, NVME_URING_CMD_IO_VEC, 0},
		{"beyond a registered buffer", [](auto &c) { c.addr += 512; }, -EFAULT, NVME_URING_CMD_IO, 0},
		{"no such registered buffer", [](auto &) {}, -EFAULT, NVME_URING_CMD_IO, 1},
		{"an ioctl's number", [](auto &) {}, -ENOTTY, NVME_IOCTL_IO64_CMD},
	};
	for (auto &c : cases) {
		INFO(c.what);
		auto cmd = good;
		c.change(cmd);
		CHECK(ring.one(file.fd, c.op, cmd, c.buffer).res == c.res);
	}
	Ring small(4, 0, 0), halfSmall(4, 0, IORING_SETUP_SQE128);
	CHECK(small.one(file.fd, NVME_URING_CMD_IO, good).res == -EOPNOTSUPP);
	CHECK(halfSmall.one(file.fd, NVME_URING_CMD_IO, good).res == -EOPNOTSUPP);
	CHECK(ring.one(plain.fd, NVME_URING_CMD_IO, good).res < 0); // the disk node supports ioctls only
	// an error of the target is an NVMe status
	auto vendor = blocksCommand(0x80, 0, 512);
	CHECK((ring.one(file.fd, NVME_URING_CMD_IO, vendor).res & 0x7ff) == invalidOpcode);
	// vectored ioctl
	iovec vec[] = {{data.data(), 512}, {data.data() + 512, block - 512}};
	nvme_passthru_cmd64 p{};
	p.opcode = opRead;
	p.nsid = 1;
	p.addr = reinterpret_cast<std::uintptr_t>(vec);
	p.data_len = std::size(vec);
	p.cdw12 = block / 512 - 1;
	CHECK(::ioctl(file.fd, NVME_IOCTL_IO64_CMD_VEC, &p) == 0);
	CHECK(::ioctl(plain.fd, NVME_IOCTL_IO64_CMD_VEC, &p) == 0);
}

} // namespace guest::passthru
