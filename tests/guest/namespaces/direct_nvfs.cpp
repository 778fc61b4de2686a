// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUDirect Storage by nvidia-fs, with stand-ins for nvidia-fs and a GPU (tests/kmod/direct). Data that its functions
// have mapped are in the memory of the GPU, others in the pages of the application. Paths that map such memory are
// those of rxe devices that claim to.
#include "support/direct.h"
#include "support/multi.h"
#include "support/ports.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <thread>

namespace guest::direct_nvfs {

using nvmeof::ControllerState;

namespace {

constexpr std::size_t kib = 1024, max = 1024 * kib;
constexpr const char *device = "/dev/nvmeof-standin";

// The stand-in for nvidia-fs. Declared after the host, because it must be unloaded before.
class Standin {
public:
	explicit Standin(const std::string &parameters = "")
	{
		must("modprobe nvmeof_nvfs && modprobe nvmeof_standin " + parameters);
		CHECK(eventually([] { return exists(device); }));
	}
	~Standin()
	{
		CHECK(get("mapped") == 0);
		CHECK(run("rmmod nvmeof_standin").status == 0);
		CHECK(run("rmmod nvmeof_nvfs").status == 0);
	}
	Standin(const Standin &) = delete;
	Standin &operator=(const Standin &) = delete;

	static int get(const std::string &what) { return std::stoi(readFile(file(what))); }
	static void set(const std::string &what, int value) { writeFile(file(what), std::to_string(value)); }

private:
	static std::string file(const std::string &what) { return "/sys/module/nvmeof_standin/parameters/" + what; }
};

// Pages of an application, and the GPU memory that they represent
class Gpu : public Mapped {
public:
	explicit Gpu(std::size_t size = max, off_t at = 0) : Mapped(device, size, at), at_(at) { page(0x11); }

	void page(char with) { std::memset(data(), with, size()); }
	bool pagesAre(char what) const
	{
		for (std::size_t i = 0; i < size(); i++)
			if (data()[i] != what)
				return false;
		return true;
	}
	void fill(std::uint32_t seed)
	{
		Buffer pattern(size());
		pattern.fill(seed);
		each([&](std::size_t done) {
			return ::pwrite(fd(), pattern.data() + done, size() - done, at_ + static_cast<off_t>(done));
		});
	}
	bool holds(std::uint32_t seed) const
	{
		Buffer memory(size());
		each([&](std::size_t done) {
			return ::pread(fd(), memory.data() + done, size() - done, at_ + static_cast<off_t>(done));
		});
		return memory.holds(seed);
	}

private:
	void each(const std::function<ssize_t(std::size_t)> &some) const
	{
		for (std::size_t done = 0; done < size();) {
			auto n = some(done);
			if (n <= 0)
				throw std::runtime_error("the stand-in's memory");
			done += static_cast<std::size_t>(n);
		}
	}

	off_t at_;
};

// Writes GPU memory to the disk and reads it back. The pages that represent it must not change. Returns 0 or a negative
// errno.
int carry(const Disk &disk, Gpu &gpu, std::uint64_t offset, std::uint32_t seed)
{
	Buffer back(gpu.size());
	gpu.fill(seed);
	int err = put(disk, offset, gpu.data(), gpu.size());
	err = err ? err : disk.read(offset, back);
	if (err || !back.holds(seed))
		return err ? err : -EILSEQ;
	back.fill(seed + 1);
	err = disk.write(offset, back);
	err = err ? err : get(disk, offset, gpu.data(), gpu.size());
	if (err)
		return err;
	return gpu.holds(seed + 1) && gpu.pagesAre(0x11) ? 0 : -EILSEQ;
}

void expectTransferred(const Disk &disk, Gpu &gpu, std::uint64_t offset, std::uint32_t seed)
{
	INFO(gpu.size() << " bytes, seed " << seed);
	CHECK(carry(disk, gpu, offset, seed) == 0);
}

void expectBalanced()
{
	CHECK(eventually([] { return Standin::get("mapped") == 0; }));
}

} // namespace

TEST_CASE("nvidia-fs registers when it is opened, and leaves when it is closed", "[nvfs]")
{
	Host host;
	Standin standin;
	CHECK(Standin::get("registered") == 1);
	for (unsigned i = 0; i < 3; i++) {
		Gpu gpu(4 * kib);
		CHECK(Standin::get("registered") == 0);
		// its functions are in use
		CHECK(run("rmmod nvmeof_nvfs").status != 0);
	}
	CHECK(run("rmmod nvmeof_nvfs && modprobe nvmeof_nvfs").status == 0);
	for (int lacks : {1, 2, 4}) {
		Standin::set("lacks", lacks);
		Gpu gpu(4 * kib);
		CHECK(Standin::get("registered") == -EOPNOTSUPP);
	}
	Standin::set("lacks", 8); // a function that is not needed here
	Gpu gpu(4 * kib);
	CHECK(Standin::get("registered") == 0);
}

TEST_CASE("pages that represent GPU memory are refused by paths that cannot map it", "[nvfs][refused]")
{
	Multi rig({.lanes = 2, .transports = {"tcp", "rdma"}});
	Standin standin;
	Gpu gpu(64 * kib);
	for (unsigned lane : {0u, 1u}) {
		rig.connect(lane);
		Disk disk(rig.disk());
		CHECK(disk.verified(0, 65536, 1) == 0);
		CHECK_FALSE(rig.path(lane).nvfs);
		gpu.page(0x22);
		CHECK(put(disk, 0, gpu.data(), gpu.size()) == -EOPNOTSUPP);
		CHECK(get(disk, 0, gpu.data(), gpu.size()) == -EOPNOTSUPP);
		CHECK(gpu.pagesAre(0x22));
		Buffer back(65536);
		CHECK(disk.read(0, back) == 0);
		CHECK(back.holds(1));
		rig.host.disconnectAll();
	}
	// A software device has no DMA device to map for.
	CHECK(Standin::get("gathers") == 0);
	CHECK(Standin::get("maps") == 0);
}

TEST_CASE("data are transferred between the target and GPU memory", "[nvfs][data]")
{
	Multi rig({.lanes = 1, .transports = {"rdma"}});
	Claims claims(rig.lane(0).nic().name(), "gpu=1");
	Standin standin;
	rig.connect(0);
	CHECK(rig.path(0).nvfs);
	Disk disk(rig.disk());
	std::uint32_t seed = 1;
	for (std::size_t length : {4 * kib, 16 * kib, 64 * kib, 256 * kib, max}) {
		Gpu gpu(length);
		expectTransferred(disk, gpu, 0, seed);
		seed += 2;
	}
	CHECK(Standin::get("maps") == Standin::get("unmaps"));
	CHECK(Standin::get("maps") == Standin::get("virtual")); // only because of the claim
	expectBalanced();
	// Ordinary I/O does not call nvidia-fs.
	auto before = Standin::get("gathers");
	Gpu gpu(4 * kib);
	CHECK(disk.verified(0, max, 7) == 0);
	CHECK(Standin::get("gathers") == before);
}

TEST_CASE("errors of nvidia-fs are returned, or the other path is tried", "[nvfs][error]")
{
	Multi rig({.lanes = 2, .transports = {"rdma", "rdma"}});
	Claims claims(rig.lane(0).nic().name() + "," + rig.lane(1).nic().name(), "gpu=1");
	Standin standin;
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Disk disk(rig.disk());
	Gpu gpu(64 * kib);
	struct {
		const char *what;
		int value, err;
	} errors[] = {{"fail_gather", -1, -EIO}, {"fail_gather", -2, -EOPNOTSUPP}, {"fail_gather", 0, -EOPNOTSUPP},
		      {"fail_map", -1, -EIO},    {"fail_map", -2, -EOPNOTSUPP},    {"fail_map", 0, -EIO}};
	for (auto &e : errors) {
		INFO(e.what << " " << e.value);
		gpu.fill(3);
		Standin::set(e.what, e.value);
		Standin::set("fail_times", 100);
		CHECK(put(disk, 0, gpu.data(), gpu.size()) == e.err);
		CHECK(get(disk, 0, gpu.data(), gpu.size()) == e.err);
		Standin::set("fail_times", 0);
		Standin::set(e.what, 1);
		CHECK(gpu.holds(3));
		CHECK(gpu.pagesAre(0x11));
		expectBalanced();
		expectTransferred(disk, gpu, 0, 5);
	}
	SECTION("one error: the other path transfers the data")
	{
		Standin::set("fail_map", -1);
		Standin::set("fail_times", 1);
		expectTransferred(disk, gpu, 0, 9);
		Standin::set("fail_map", 1);
	}
	SECTION("an I/O that includes ordinary memory fails")
	{
		Buffer mine(64 * kib);
		iovec parts[] = {{gpu.data(), gpu.size()}, {mine.data(), mine.size()}};
		CHECK(::pwritev(disk.fd(), parts, 2, 0) < 0);
		CHECK(errno == EIO);
	}
	CHECK(rig.allLive());
	expectBalanced();
}

TEST_CASE("transfers of GPU memory fail over to another path", "[nvfs][failover]")
{
	Multi rig({.lanes = 3, .transports = {"rdma", "rdma", "tcp"}});
	Claims claims(rig.lane(0).nic().name() + "," + rig.lane(1).nic().name(), "gpu=1");
	Standin standin;
	rig.connect(0);
	rig.connect(1);
	rig.set("iopolicy=round-robin");
	REQUIRE(rig.waitPaths(2));
	std::atomic<bool> end{false};
	std::atomic<unsigned> rounds{0};
	Disk disk(rig.disk());
	Gpu gpu(64 * kib);
	auto work = std::async(std::launch::async, [&] {
		int err = 0;
		for (std::uint32_t seed = 1; !end && !err; seed += 2, rounds++)
			err = carry(disk, gpu, 0, seed);
		return err;
	});
	auto flows = [&] {
		auto before = rounds.load();
		return eventually([&] { return rounds > before + 2; });
	};
	REQUIRE(flows());
	rig.lane(0).nic().remove();
	CHECK(rig.waitPaths(1));
	CHECK(flows());
	rig.connect(2); // TCP cannot transfer GPU memory
	CHECK(rig.waitPaths(2));
	CHECK(flows());
	rig.lane(0).repair();
	rig.lane(0).reopen();
	CHECK(rig.waitPaths(3));
	rig.lane(1).close();
	CHECK(flows());
	rig.lane(1).open();
	end = true;
	CHECK(work.get() == 0);
	CHECK(rig.waitPaths(3));
	expectBalanced();
}

TEST_CASE("the last user of nvidia-fs goes while GPU memory is being transferred", "[nvfs][unload]")
{
	Ports ports({target::Config{}});
	Claims claims("home", "gpu=1");
	Standin standin;
	auto c = ports.connect(0);
	Disk disk(ports.disk());
	ports[0].script().arm(*target::findMisbehaviour("rdma-answer-never"));
	aio_context_t context = 0;
	REQUIRE(::syscall(SYS_io_setup, 1, &context) == 0);
	{
		Gpu gpu(64 * kib);
		iocb one{}, *list[] = {&one};
		one.aio_lio_opcode = IOCB_CMD_PREAD;
		one.aio_fildes = static_cast<std::uint32_t>(disk.fd());
		one.aio_buf = reinterpret_cast<std::uintptr_t>(gpu.data());
		one.aio_nbytes = gpu.size();
		REQUIRE(::syscall(SYS_io_submit, context, 1, list) == 1);
		CHECK(eventually([] { return Standin::get("mapped") > 0; }));
		// Closing waits until nothing is mapped.
	}
	CHECK(Standin::get("mapped") == 0);
	io_event event{};
	timespec soon{20, 0};
	CHECK(::syscall(SYS_io_getevents, context, 1, 1, &event, &soon) == 1);
	CHECK(event.res == -EIO); // not retried into the pages
	::syscall(SYS_io_destroy, context);
	CHECK(ports.host.waitState(c.name, ControllerState::live));
	CHECK(disk.verified(0, 65536, 1) == 0);
}

TEST_CASE("the transport is unloaded while GPU memory is being transferred", "[nvfs][unload]")
{
	Multi rig({.lanes = 1, .transports = {"rdma"}});
	Standin standin;
	{
		Claims claims(rig.lane(0).nic().name(), "gpu=1");
		rig.connect(0);
		Disk disk(rig.disk());
		Gpu gpu(64 * kib);
		std::atomic<bool> end{false};
		auto work = std::async(std::launch::async, [&] {
			while (!end && put(disk, 0, gpu.data(), gpu.size()) == 0)
				;
		});
		CHECK(eventually([] { return Standin::get("maps") > 10; }));
		CHECK(run("rmmod nvmeof_rdma").status == 0);
		CHECK(work.wait_for(scaled(10s)) == std::future_status::ready);
		end = true;
		expectBalanced();
	}
	must("modprobe nvmeof_rdma");
}

} // namespace guest::direct_nvfs
