// SPDX-License-Identifier: LGPL-2.1-or-later
// Protection information, generated and checked by the controller, or also by the host
#include "formats.h"
#include "support/fio.h"
#include "support/stalled_writes.h"

#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include <cstring>
#include <fstream>

namespace guest::protection {

using formats::kernelFrom;
using formats::mib;
using formats::Scene;
using target::ProtectionFormat;

namespace {

std::string words(const ProtectionFormat &format)
{
	return "type " + std::to_string(format.type) + ", " + std::to_string(format.guard) + "-bit guard";
}

target::Config knows(const ProtectionFormat &format)
{
	auto config = formats::plain();
	config.extendedFormats = format.guard == 64;
	return config;
}

// Integrity profile of the block layer, or "none"
std::string profile(const Scene &s)
{
	return s.sysfs("integrity/format");
}

std::string expectedProfile(const ProtectionFormat &format)
{
	if (!format.inData || overRdma() || !kernelFrom(6, 11))
		return "none";
	std::string type = format.type == 3 ? "TYPE3" : "TYPE1"; // the block layer does not distinguish types 1 and 2
	return format.guard == 64 ? "EXT-DIF-" + type + "-CRC64" : "T10-DIF-" + type + "-CRC";
}

bool byHost(const Scene &s)
{
	return profile(s) != "none";
}

void set(const Scene &s, const std::string &attribute, bool on)
{
	std::ofstream file("/sys/block/" + s.node.substr(5) + "/integrity/" + attribute);
	file << on << std::flush;
	REQUIRE(file.good());
}

void makes(const ProtectionFormat &format, Scene &s)
{
	auto &pi = *s.ports.store().protection();
	for (std::size_t bytes : {512u, 4096u, 131072u}) {
		CHECK(s.disk->verified(mib, bytes, std::uint32_t(bytes)) == 0);
		CHECK(s.ports.stored(mib, bytes, std::uint32_t(bytes)));
	}
	CHECK(pi.checked() > 0);
	CHECK((pi.tagged() > 0) == (format.type != 3));
	CHECK(s.disk->zeroOut(mib, 65536) == 0);
	Buffer zeroes(65536);
	REQUIRE(s.disk->read(mib, zeroes) == 0);
	CHECK(zeroes.zero());
	CHECK(s.disk->discard(mib, 65536) == 0);
	CHECK(s.disk->read(mib, zeroes) == 0);
}

// Corruption is detected by the controller or by the host
void finds(const ProtectionFormat &format, Scene &s)
{
	auto &pi = *s.ports.store().protection();
	REQUIRE(writeTo(*s.disk, 0, 1) == 0);
	pi.spoilGuard(3);
	Buffer buffer(4096);
	CHECK(s.disk->read(0, buffer) == -EILSEQ);
	pi.spoilGuard(3);
	CHECK(s.disk->read(0, buffer) == 0);
	pi.spoilTag(3);
	CHECK(s.disk->read(0, buffer) == (format.type == 3 ? 0 : -EILSEQ));
	pi.spoilTag(3);
	CHECK(s.disk->read(0, buffer) == 0);
}

// Two blocks from LBA 0 on, with or without protection information in the data; returns 0, an NVMe status or negative
// errno
int passthrough(const Disk &disk, std::uint8_t opcode, bool pract, std::vector<std::uint8_t> &data)
{
	nvme_passthru_cmd64 p{};
	p.opcode = opcode;
	p.nsid = 1;
	p.addr = reinterpret_cast<std::uintptr_t>(data.data());
	p.data_len = static_cast<std::uint32_t>(data.size());
	p.cdw12 = 1 | (pract ? 1u << 29 : 0);
	int ret = ::ioctl(disk.fd(), NVME_IOCTL_IO64_CMD, &p);
	return ret < 0 ? -errno : ret;
}

// A SCSI disk that LIO exports to this machine (loopback), on one of our disks. The SCSI disk generates protection
// information, which LIO passes through.
class ScsiDisk {
public:
	explicit ScsiDisk(const std::string &of)
	{
		must("mkdir -p " + backend_ + " && echo udev_path=" + of + " > " + backend_ + "/control && echo 1 > " +
		     backend_ + "/enable");
		must("mkdir -p " + port_ + "/lun/lun_0 && echo naa.5001405000000002 > " + port_ + "/nexus && ln -s " +
		     backend_ + " " + port_ + "/lun/lun_0/");
		auto found = [this] {
			node_ = run("grep -l LIO-ORG /sys/block/sd*/device/vendor | cut -d/ -f4").text;
			node_ = "/dev/" + node_.substr(0, node_.find('\n'));
			return node_ != "/dev/" && exists(node_);
		};
		REQUIRE(eventually(found, 20s));
	}
	~ScsiDisk()
	{
		run("cd " + port_ +
		    " && rm lun/lun_0/ours && rmdir lun/lun_0 && cd .. && rmdir tpgt_1 && cd .. && rmdir " +
		    "naa.5001405000000001; rmdir " + backend_);
	}
	ScsiDisk(const ScsiDisk &) = delete;
	ScsiDisk &operator=(const ScsiDisk &) = delete;

	static bool possible() { return run("modprobe -a target_core_iblock tcm_loop sd_mod").status == 0; }
	const std::string &node() const { return node_; }
	std::string profile() const { return readFile("/sys/block/" + node_.substr(5) + "/integrity/format"); }

private:
	const std::string backend_ = "/sys/kernel/config/target/core/iblock_0/ours";
	const std::string port_ = "/sys/kernel/config/target/loopback/naa.5001405000000001/tpgt_1";
	std::string node_;
};

} // namespace

TEST_CASE("the controller generates, checks and strips protection information", "[formats][pi][short]")
{
	auto format = GENERATE(ProtectionFormat{1, 16}, ProtectionFormat{2, 16}, ProtectionFormat{3, 16},
			       ProtectionFormat{1, 64}, ProtectionFormat{3, 64});
	INFO(words(format));
	Scene s([&](target::Store &store) { store.makeProtected(format); }, knows(format));
	REQUIRE(s.ns());
	CHECK(s.ns()->protection == format.type);
	CHECK(must("nvmeofctl show " + s.node.substr(5)).find("type " + std::to_string(format.type)) !=
	      std::string::npos);
	CHECK(profile(s) == "none");
	CHECK(s.sysfs("metadata_bytes") == (format.guard == 64 ? "16" : "8"));
	makes(format, s);
	finds(format, s);
	CHECK(s.ports.store().protection()->received() + s.ports.store().protection()->sent() == 0);
	CHECK(s.usable() == 2);
}

TEST_CASE("protection information is transferred with the blocks", "[formats][pi][short]")
{
	auto format = GENERATE(ProtectionFormat{1, 16, true}, ProtectionFormat{2, 64, true},
			       ProtectionFormat{3, 16, true}, ProtectionFormat{3, 64, true});
	INFO(words(format));
	Scene s([&](target::Store &store) { store.makeProtected(format); }, knows(format));
	auto &pi = *s.ports.store().protection();
	CHECK(profile(s) == expectedProfile(format));
	makes(format, s);
	CHECK((pi.received() > 0) == byHost(s));
	CHECK((pi.sent() > 0) == byHost(s));
	finds(format, s);
	if (!byHost(s))
		return;
	// the target checks nothing: the host does
	pi.blind(true);
	finds(format, s);
	pi.blind(false);
	CHECK(s.usable() == 2);
	// with the host's checks off, the controller generates and strips it
	set(s, "write_generate", false);
	set(s, "read_verify", false);
	auto before = pi.received() + pi.sent();
	makes(format, s);
	CHECK(pi.received() + pi.sent() == before);
	set(s, "write_generate", true);
	makes(format, s);
	CHECK(pi.received() + pi.sent() > before);
	CHECK(s.usable() == 2);
}

TEST_CASE("protection information: small transfers", "[formats][pi][short]")
{
	auto config = formats::plain();
	config.mdts = 1; // 8 KiB: 15 blocks of 520 bytes
	ProtectionFormat format{1, 16, true};
	Scene s([&](target::Store &store) { store.makeProtected(format); }, config);
	auto &pi = *s.ports.store().protection();
	CHECK(s.queue("max_hw_sectors_kb") == (byHost(s) ? "7" : "8"));
	makes(format, s);
	FioJob job{.file = s.node, .rw = "randrw", .blocks = "5k", .depth = 8, .size = "4m", .seconds = 2};
	auto result = FioLoad(job).wait(scaled(60s));
	INFO(result.text);
	CHECK(result.good());
	CHECK((pi.received() > 0) == byHost(s));
}

TEST_CASE("protection information: 4 KiB blocks, large transfers, digests", "[formats][pi]")
{
	auto [format, shift] =
		GENERATE(std::pair(ProtectionFormat{1, 16, true}, 12u), std::pair(ProtectionFormat{1, 64, true}, 12u),
			 std::pair(ProtectionFormat{2, 64, true}, 9u));
	bool digests = GENERATE(false, true);
	INFO(words(format) << (digests ? ", digests" : ""));
	if (digests && notOverRdma("digests"))
		return;
	Ports ports({knows(format)});
	auto store = std::make_shared<target::Store>(1, 8 * mib, shift);
	store->makeProtected(format);
	ports.subsystem().stores().put(1, store);
	auto options = ports.options(0);
	options.dataDigest = options.hdrDigest = digests;
	ports.host.connect(options);
	Disk disk(ports.disk());
	REQUIRE(disk.blockSize() == 1u << shift);
	// reference tags count blocks; the block layer counts sectors
	for (std::uint64_t at : {std::uint64_t(0), 3 * mib + 4096})
		for (std::size_t bytes : {4096u, 1048576u}) {
			CHECK(disk.verified(at, bytes, std::uint32_t(bytes)) == 0);
			CHECK(ports.stored(at, bytes, std::uint32_t(bytes)));
		}
	CHECK((store->protection()->received() > 0) == (!overRdma() && kernelFrom(6, 11)));
	store->protection()->spoilGuard(0);
	Buffer buffer(4096);
	CHECK(disk.read(0, buffer) == -EILSEQ);
}

TEST_CASE("the module parameter turns off protection information by the host", "[formats][pi]")
{
	ModuleParameter off("integrity", "N");
	ProtectionFormat format{1, 16, true};
	Scene s([&](target::Store &store) { store.makeProtected(format); });
	CHECK(profile(s) == "none");
	makes(format, s);
	CHECK(s.ports.store().protection()->received() == 0);
}

TEST_CASE("passthrough transfers protection information with the blocks", "[formats][pi]")
{
	constexpr std::size_t block = 512, tuple = 8;
	bool inData = GENERATE(true, false);
	INFO((inData ? "at the end of each block" : "kept apart"));
	Scene s([&](target::Store &store) { store.makeProtected(ProtectionFormat{1, 16, inData}); });
	std::vector<std::uint8_t> plain(2 * block, 7), whole(2 * (block + tuple), 9), odd(2 * block + tuple);
	constexpr std::uint8_t write = 1, read = 2;
	CHECK(passthrough(*s.disk, write, true, plain) == 0);
	CHECK(passthrough(*s.disk, write, true, whole) == -EINVAL);
	CHECK(passthrough(*s.disk, read, false, odd) == -EINVAL);
	if (!inData) {
		CHECK(passthrough(*s.disk, read, false, whole) == -EINVAL);
		return;
	}
	CHECK(passthrough(*s.disk, read, false, plain) == -EINVAL);
	REQUIRE(passthrough(*s.disk, read, false, whole) == 0);
	CHECK(whole[0] == 7);
	CHECK(whole[block + 4 + 3] == 0);
	CHECK(whole[2 * block + tuple + 4 + 3] == 1); // reference tag of the second block
	whole[block + 2] = 0x12;                      // an arbitrary application tag
	REQUIRE(passthrough(*s.disk, write, false, whole) == 0);
	auto sent = whole;
	REQUIRE(passthrough(*s.disk, read, false, whole) == 0);
	CHECK(whole == sent);
}

TEST_CASE("protection information survives the loss of a path", "[formats][pi]")
{
	ProtectionFormat format{1, 16, GENERATE(false, true)};
	Scene s([&](target::Store &store) { store.makeProtected(format); });
	// more than may wait as requests: the rest waits as bios and becomes requests again
	FioJob job{.file = s.node, .rw = "randwrite", .depth = 128, .size = "4m", .seconds = 4};
	FioLoad load(job);
	for (unsigned n = 0; n < 4; n++) {
		std::this_thread::sleep_for(400ms);
		s.ports[n % 2].dropConnections(true);
		if (n == 3)
			s.ports[0].dropConnections(true);
	}
	auto result = load.wait(scaled(60s));
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a namespace is reformatted with protection information", "[formats][pi][changes]")
{
	Scene s;
	ProtectionFormat format{1, 16, GENERATE(false, true)};
	auto other = std::make_shared<target::Store>(1, 8 * mib);
	other->makeProtected(format);
	s.disk.reset();
	s.ports.subsystem().stores().put(1, other);
	for (std::size_t port : {0u, 1u})
		s.ports[port].namespacesChanged();
	auto works = [&] {
		auto ns = s.ns();
		if (!ns || ns->protection != format.type) // until then the host has the old namespace
			return false;
		s.node = s.ports.disk();
		return !s.node.empty() && Disk(s.node).verified(0, 65536, 1) == 0 && other->protection()->checked() > 0;
	};
	CHECK(eventually(works, 15s));
	CHECK(s.both());
	CHECK(profile(s) == expectedProfile(format));
}

TEST_CASE("protection information made above the block layer is passed through unchanged", "[formats][pi]")
{
	if (overRdma() || !kernelFrom(6, 11) || !ScsiDisk::possible())
		return;
	auto format = GENERATE(ProtectionFormat{1, 16, true}, ProtectionFormat{3, 16, true});
	INFO(words(format));
	Scene s([&](target::Store &store) { store.makeProtected(format); });
	auto &pi = *s.ports.store().protection();
	// from here on all of it on the wire comes from the SCSI disk
	set(s, "write_generate", false);
	set(s, "read_verify", false);
	ScsiDisk scsi(s.node);
	Disk disk(scsi.node());
	REQUIRE(disk.fd() >= 0);
	CHECK(scsi.profile() == expectedProfile(format));
	auto moved = [&] { return pi.received() + pi.sent(); };
	for (std::size_t bytes : {512u, 4096u, 131072u}) {
		auto before = moved();
		CHECK(disk.verified(mib, bytes, std::uint32_t(bytes)) == 0);
		CHECK(s.ports.stored(mib, bytes, std::uint32_t(bytes)));
		CHECK(moved() >= before + 2 * bytes / 512);
	}
	auto before = moved();
	makes(format, s);
	CHECK(moved() == before);
	// the target checks nothing: the SCSI disk does
	REQUIRE(writeTo(disk, 0, 1) == 0);
	Buffer buffer(4096);
	pi.blind(true);
	pi.spoilGuard(3);
	CHECK(disk.read(0, buffer) == -EILSEQ);
	CHECK(s.disk->read(0, buffer) == 0);
	pi.spoilGuard(3);
	CHECK(disk.read(0, buffer) == 0);
	CHECK(buffer.holds(1));
}

namespace {

// A disk with protection information: the first path over TCP, the second over RDMA
struct Mixed {
	std::shared_ptr<target::Subsystem> subsystem = std::make_shared<target::Subsystem>();
	std::unique_ptr<target::Server> tcp, rdma;
	Host host;
	std::string node;

	Mixed()
	{
		subsystem->stores().add(1, 8 * mib);
		subsystem->stores().find(1)->makeProtected(ProtectionFormat{1, 16, true});
		auto config = formats::plain();
		config.address = here();
		tcp = std::make_unique<target::Server>(config, subsystem);
		config.transport = target::Transport::rdma;
		rdma = std::make_unique<target::Server>(config, subsystem);
		connect(*tcp, "tcp");
		connect(*rdma, "rdma");
		node = host.disk(1, 10s, config.nqn);
		REQUIRE_FALSE(node.empty());
	}
	~Mixed()
	{
		for (auto *server : {tcp.get(), rdma.get()})
			for (auto &text : server->violations())
				FAIL_CHECK("the host broke the protocol: " << text);
	}

	target::Protection &pi() { return *subsystem->stores().find(1)->protection(); }
	bool byHost() const { return readFile("/sys/block/" + node.substr(5) + "/integrity/format") != "none"; }
	bool usable(std::size_t count)
	{
		return eventually(
			[&] {
				auto paths = host.paths();
				return std::size_t(std::ranges::count_if(paths, [](auto &p) { return p.usable; })) ==
				       count;
			},
			20s);
	}

private:
	void connect(target::Server &server, const char *transport)
	{
		auto o = Host::options(here(), std::to_string(server.port()), server.config().nqn);
		o.transport = transport;
		o.ctrlLoss = scaled(60s);
		o.reconnectDelay = 200ms;
		o.ioQueues = 2;
		host.connect(o);
	}
};

} // namespace

TEST_CASE("a path over RDMA joins a disk that transfers protection information over TCP", "[formats][pi][rdma]")
{
	Mixed s;
	CHECK(s.byHost() == kernelFrom(6, 11));
	FioJob job{.file = s.node, .rw = "randrw", .blocks = "20k", .depth = 8, .size = "4m", .seconds = 4};
	FioLoad load(job);
	std::this_thread::sleep_for(1s);
	s.tcp->dropConnections(true);
	std::this_thread::sleep_for(500ms);
	s.rdma->dropConnections(true);
	auto result = load.wait(scaled(60s));
	INFO(result.text);
	CHECK(result.good());
	CHECK(s.rdma->counters().writes > 0);
	CHECK(s.tcp->counters().writes > 0);
	CHECK((s.pi().received() > 0) == s.byHost());
}

TEST_CASE("protection information made above the block layer does not go over RDMA", "[formats][pi][rdma]")
{
	if (!kernelFrom(6, 11) || !ScsiDisk::possible())
		return;
	Mixed s;
	REQUIRE(s.usable(2));
	ScsiDisk scsi(s.node);
	Disk disk(scsi.node()), own(s.node);
	auto &written = s.rdma->counters().writes;
	auto before = written.load();
	for (std::uint32_t seed = 1; seed <= 8; seed++)
		CHECK(disk.verified(seed * 65536, 65536, seed) == 0);
	CHECK(written == before);

	// without the TCP path only requests with protection information by our block layer are possible
	s.tcp->stop();
	REQUIRE(s.usable(1));
	Buffer data(4096);
	CHECK(disk.read(0, data) < 0);
	CHECK(disk.write(0, data) < 0);
	CHECK(written == before);
	CHECK(own.verified(0, 4096, 9) == 0);
	CHECK(written > before);
	s.tcp->start();
	REQUIRE(s.usable(2));
	CHECK(disk.verified(0, 4096, 10) == 0);
}

} // namespace guest::protection
