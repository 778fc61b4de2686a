// SPDX-License-Identifier: LGPL-2.1-or-later
// PCI peer-to-peer memory through our disks: real pages of the CMB of emulated NVMe drives. No RDMA device here has
// DMA: paths that reach such memory are those of rxe devices that claim to, and the CPU copies. Needs a kernel of
// qemu/debug, in a guest with two drives that have a CMB.
#include "support/direct.h"
#include "support/multi.h"
#include "support/rig.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdio>
#include <future>
#include <linux/major.h>
#include <linux/raid/md_p.h>
#include <linux/raid/md_u.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace guest::direct {

using nvmeof::ControllerState;

namespace {

constexpr std::size_t kib = 1024, max = 1024 * kib;

class Cmb : public Mapped {
public:
	explicit Cmb(std::size_t size = max, std::size_t which = 0) : Mapped(file(which), size) {}

private:
	static std::string file(std::size_t which)
	{
		auto files = peerMemories();
		if (files.size() <= which)
			throw std::runtime_error("this machine has not so many devices with peer-to-peer memory");
		return files[which];
	}
};

bool refused(int err)
{
	return err == -EREMOTEIO || err == -EOPNOTSUPP;
}

bool p2p(Host &host)
{
	auto ns = host.nameSpace(1);
	return ns && ns->p2p;
}

std::string shown(const std::string &name)
{
	return must("nvmeofctl show " + name);
}

// Writes peer-to-peer memory to the disk and reads it back, compared through ordinary memory.
void expectTransferred(const Disk &disk, const Cmb &cmb, std::size_t length, std::uint32_t seed)
{
	INFO(length << " bytes");
	Buffer pattern(length), back(length);
	pattern.fill(seed);
	std::memcpy(cmb.data(), pattern.data(), length);
	CHECK(put(disk, seed * max, cmb.data(), length) == 0);
	REQUIRE(disk.read(seed * max, back) == 0);
	CHECK(back.holds(seed));
	std::memset(cmb.data(), 0, length);
	CHECK(get(disk, seed * max, cmb.data(), length) == 0);
	CHECK(std::memcmp(cmb.data(), pattern.data(), length) == 0);
}

// A thread that writes peer-to-peer memory and reads it back until end(), and counts the results.
class PeerMemoryLoad {
public:
	PeerMemoryLoad(const std::string &disk, std::uint64_t offset) : disk_(disk), offset_(offset), cmb_(64 * kib)
	{
		work_ = std::async(std::launch::async, [this] {
			Buffer pattern(cmb_.size());
			for (std::uint32_t seed = 1; !end_; seed++) {
				pattern.fill(seed);
				std::memcpy(cmb_.data(), pattern.data(), cmb_.size());
				int err = put(disk_, offset_, cmb_.data(), cmb_.size());
				std::memset(cmb_.data(), 0, cmb_.size());
				err = err ? err : get(disk_, offset_, cmb_.data(), cmb_.size());
				if (err)
					count(err);
				else if (std::memcmp(cmb_.data(), pattern.data(), cmb_.size()))
					wrong_++;
				else
					good_++;
			}
		});
	}
	~PeerMemoryLoad() { end(); }
	void end()
	{
		end_ = true;
		if (work_.valid())
			work_.get();
	}
	unsigned good() const { return good_; }
	unsigned refusals() const { return refusals_; }
	unsigned wrong() const { return wrong_; }
	int error() const { return error_; } // other than a refusal
	bool flows()
	{
		auto before = good();
		return eventually([&] { return good() > before + 2; });
	}

private:
	void count(int err)
	{
		if (refused(err))
			refusals_++;
		else
			error_ = err;
	}

	Disk disk_;
	std::uint64_t offset_;
	Cmb cmb_;
	std::atomic<unsigned> good_{0}, refusals_{0}, wrong_{0};
	std::atomic<int> error_{0};
	std::atomic<bool> end_{false};
	std::future<void> work_;
};

// RAID 0 of a single disk, without a superblock
void stripeOf(const std::string &array, const std::string &node)
{
	struct stat st {};
	REQUIRE(::stat(node.c_str(), &st) == 0);
	mdu_array_info_t info{};
	info.raid_disks = 1;
	info.not_persistent = 1;
	info.chunk_size = 64 * kib;
	mdu_disk_info_t disk{};
	disk.major = static_cast<int>(major(st.st_rdev));
	disk.minor = static_cast<int>(minor(st.st_rdev));
	disk.state = (1 << MD_DISK_ACTIVE) | (1 << MD_DISK_SYNC);
	int fd = ::open(array.c_str(), O_RDWR | O_CLOEXEC);
	REQUIRE(fd >= 0);
	CHECK(::ioctl(fd, SET_ARRAY_INFO, &info) == 0);
	CHECK(::ioctl(fd, ADD_NEW_DISK, &disk) == 0);
	CHECK(::ioctl(fd, RUN_ARRAY, nullptr) == 0);
	::close(fd);
}

// Two adjacent writes at once, so that the block layer may merge them. Returns their results.
std::pair<int, int> together(const Disk &disk, std::uint64_t offset, char *first, char *second, std::size_t length)
{
	aio_context_t context = 0;
	iocb one{}, two{}, *list[] = {&one, &two};
	for (auto *cb : list) {
		cb->aio_lio_opcode = IOCB_CMD_PWRITE;
		cb->aio_fildes = static_cast<std::uint32_t>(disk.fd());
		cb->aio_nbytes = length;
	}
	one.aio_buf = reinterpret_cast<std::uintptr_t>(first);
	one.aio_offset = static_cast<std::int64_t>(offset);
	two.aio_buf = reinterpret_cast<std::uintptr_t>(second);
	two.aio_offset = static_cast<std::int64_t>(offset + length);
	io_event events[2]{};
	REQUIRE(::syscall(SYS_io_setup, 2, &context) == 0);
	REQUIRE(::syscall(SYS_io_submit, context, 2, list) == 2);
	REQUIRE(::syscall(SYS_io_getevents, context, 2, 2, events, nullptr) == 2);
	::syscall(SYS_io_destroy, context);
	bool turned = events[0].obj != reinterpret_cast<std::uintptr_t>(&one);
	return {static_cast<int>(events[turned].res), static_cast<int>(events[!turned].res)};
}

} // namespace

TEST_CASE("peer-to-peer memory is refused by paths that do not reach it", "[p2p][refused]")
{
	Multi rig({.lanes = 2, .transports = {"tcp", "rdma"}});
	Cmb cmb(64 * kib);
	for (unsigned lane : {0u, 1u}) {
		auto name = rig.connect(lane);
		CHECK_FALSE(p2p(rig.host));
		CHECK(shown(rig.disk().substr(5)).find("no: not supported by") != std::string::npos);
		Disk disk(rig.disk());
		CHECK(disk.verified(0, 65536, 1) == 0);
		CHECK(refused(put(disk, 0, cmb.data(), cmb.size())));
		CHECK(refused(get(disk, 0, cmb.data(), cmb.size())));
		Buffer back(65536);
		CHECK(disk.read(0, back) == 0);
		CHECK(back.holds(1));
		rig.host.disconnectAll();
	}
}

TEST_CASE("peer-to-peer memory is read and written by paths that reach it", "[p2p][data]")
{
	Multi rig({.lanes = 1, .transports = {"rdma"}});
	Claims claims(rig.lane(0).nic().name(), "p2p=1");
	auto name = rig.connect(0);
	CHECK(p2p(rig.host));
	CHECK(run("nvmeofctl show " + rig.disk().substr(5) + " | grep -q '^peer-to-peer *: yes$'").status == 0);
	CHECK(rig.path(0).p2p);
	CHECK_FALSE(rig.path(0).nvfs);
	Cmb cmb;
	Disk disk(rig.disk());
	std::uint32_t seed = 1;
	for (std::size_t length : {4 * kib, 16 * kib, 64 * kib, 128 * kib, 512 * kib, max})
		expectTransferred(disk, cmb, length, seed++);
	CHECK(disk.verified(0, 65536, 99) == 0);
}

TEST_CASE("I/O with peer-to-peer memory fails over between paths that reach it", "[p2p][failover]")
{
	Multi rig({.lanes = 2, .transports = {"rdma", "rdma"}});
	Claims claims(rig.lane(0).nic().name() + "," + rig.lane(1).nic().name(), "p2p=1");
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	rig.set("iopolicy=round-robin");
	PeerMemoryLoad peer(rig.disk(), 0);
	REQUIRE(peer.flows());
	for (unsigned lane : {0u, 1u}) {
		rig.lane(lane).nic().remove();
		CHECK(rig.waitPaths(1));
		CHECK(p2p(rig.host));
		CHECK(peer.flows());
		rig.lane(lane).repair();
		rig.lane(lane).reopen();
		CHECK(rig.waitPaths(2));
		CHECK(peer.flows());
	}
	rig.lane(0).close();
	CHECK(peer.flows());
	rig.lane(0).open();
	CHECK(rig.waitPaths(2));
	peer.end();
	CHECK(peer.error() == 0);
	CHECK(peer.refusals() == 0);
	CHECK(peer.wrong() == 0);
}

TEST_CASE("a path that does not reach peer-to-peer memory disables it until the path is removed", "[p2p][joins]")
{
	Multi rig({.lanes = 2, .transports = {"rdma", "tcp"}});
	Claims claims(rig.lane(0).nic().name(), "p2p=1");
	rig.connect(0);
	PeerMemoryLoad peer(rig.disk(), 0);
	REQUIRE(peer.flows());
	for (unsigned round = 0; round < 3; round++) {
		Watch watch;
		auto tcp = rig.connect(1);
		CHECK(eventually([&] { return !p2p(rig.host); }));
		CHECK(watch.find([](const nvmeof::Event &e) {
			return e.type == nvmeof::EventType::changed && e.nameSpace() && !e.nameSpace()->p2p;
		}));
		CHECK(rig.waitPaths(2));
		auto before = peer.refusals();
		CHECK(eventually([&] { return peer.refusals() > before; }));
		CHECK(rig.host.client().disconnect(tcp).ok());
		CHECK(eventually([&] { return p2p(rig.host); }));
		CHECK(peer.flows());
	}
	peer.end();
	CHECK(peer.error() == 0);
	CHECK(peer.wrong() == 0);
}

TEST_CASE("I/O that waits for a path that reaches peer-to-peer memory is not sent on another", "[p2p][waits]")
{
	Multi rig({.lanes = 2, .transports = {"rdma", "tcp"}});
	Claims claims(rig.lane(0).nic().name(), "p2p=1");
	auto lost = rig.connect(0);
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 65536, 1) == 0);
	Cmb cmb(64 * kib);
	std::memset(cmb.data(), 0x5a, cmb.size());
	rig.lane(0).close();
	REQUIRE(eventually([&] { return rig.host.state(lost) != ControllerState::live; }));
	auto waits = std::async(std::launch::async, [&] { return get(disk, 0, cmb.data(), cmb.size()); });
	pause(300ms);
	rig.connect(1); // a path of last resort
	REQUIRE(waits.wait_for(scaled(10s)) == std::future_status::ready);
	CHECK(waits.get() == -EOPNOTSUPP);
	for (std::size_t i = 0; i < cmb.size(); i += 512)
		REQUIRE(cmb.data()[i] == 0x5a);
	CHECK(disk.verified(0, 65536, 2) == 0);
	rig.lane(0).open();
	CHECK(rig.host.waitState(lost, ControllerState::live));
	CHECK(eventually([&] { return !p2p(rig.host); }));
}

TEST_CASE("memory of two devices is never in one request", "[p2p][mixed]")
{
	Multi rig({.lanes = 1, .transports = {"rdma"}});
	Claims claims(rig.lane(0).nic().name(), "p2p=1");
	rig.connect(0);
	Disk disk(rig.disk());
	Cmb one(64 * kib, 0), other(64 * kib, 1);
	Buffer mine(64 * kib);
	mine.fill(3);
	std::memcpy(one.data(), mine.data(), mine.size());
	mine.fill(4);
	std::memcpy(other.data(), mine.data(), mine.size());
	SECTION("one I/O with both is refused")
	{
		iovec parts[] = {{one.data(), one.size()}, {other.data(), other.size()}};
		CHECK(::pwritev(disk.fd(), parts, 2, 0) < 0);
		CHECK(errno == EOPNOTSUPP);
	}
	SECTION("two merged I/Os are split again")
	{
		for (unsigned i = 0; i < 20; i++) {
			auto [first, second] = together(disk, 0, one.data(), other.data(), one.size());
			CHECK(first == static_cast<int>(one.size()));
			CHECK(second == static_cast<int>(other.size()));
		}
		REQUIRE(disk.read(0, mine) == 0);
		CHECK(mine.holds(3));
		REQUIRE(disk.read(64 * kib, mine) == 0);
		CHECK(mine.holds(4));
	}
	SECTION("I/Os with peer-to-peer memory and ordinary memory succeed")
	{
		mine.fill(5);
		auto [first, second] = together(disk, 0, one.data(), reinterpret_cast<char *>(mine.data()), one.size());
		CHECK(first == static_cast<int>(one.size()));
		CHECK(second == static_cast<int>(mine.size()));
		Buffer back(64 * kib);
		REQUIRE(disk.read(64 * kib, back) == 0);
		CHECK(back.holds(5));
	}
	CHECK(rig.host.busy() == 0);
}

// No stacking driver passes peer-to-peer memory on today. Update Documentation/gpu.md when this changes.
TEST_CASE("devices stacked on a disk refuse peer-to-peer memory", "[p2p][stacked]")
{
	Multi rig({.lanes = 1, .transports = {"rdma"}});
	Claims claims(rig.lane(0).nic().name(), "p2p=1");
	rig.connect(0);
	auto node = rig.disk();
	Cmb cmb(64 * kib);
	std::string over;
	SECTION("device mapper")
	{
		must("modprobe dm-mod");
		must("DM_DISABLE_UDEV=1 dmsetup create over --table \"0 32768 linear " + node + " 0\"");
		over = "/dev/mapper/over";
	}
	SECTION("md")
	{
		must("modprobe raid0 && echo md9 > /sys/module/md_mod/parameters/new_array");
		over = "/dev/md9";
		stripeOf(over, node);
	}
	CHECK(shown(node.substr(5)).find("but not through") != std::string::npos);
	CHECK(eventually([&] { return Disk(over).fd() >= 0; }));
	{
		Disk stacked(over);
		CHECK(refused(put(stacked, 0, cmb.data(), cmb.size())));
		CHECK(stacked.verified(0, 65536, 1) == 0);
	}
	CHECK(put(Disk(node), max, cmb.data(), cmb.size()) == 0);
	run("DM_DISABLE_UDEV=1 dmsetup remove over; echo clear > /sys/block/md9/md/array_state");
}

} // namespace guest::direct
