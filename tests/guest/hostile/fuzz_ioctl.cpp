// SPDX-License-Identifier: LGPL-2.1-or-later
// Random ioctls and passthrough commands, also by io_uring, at all kinds of nodes: any number, pointer and length.
// Nothing breaks, no byte outside the given buffer is written, and a caller with read-only files changes nothing.
//
// NVMEOF_FUZZ_IOCTLS: number of calls [4000]; NVMEOF_FUZZ_SEED: seed, printed
#include "support/reproduce.h"
#include "support/block.h"
#include "support/host.h"
#include "support/ring.h"
#include "target/random.h"
#include "target/server.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <grp.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

namespace guest::fuzz_ioctl {

using nvmeof::ControllerState;
using target::Bytes;

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t arenaSize = (1 << 20) + 4 * page;
constexpr std::uint8_t canary = 0xc5;
constexpr int maxErrno = 133; // higher values are internal to the kernel
constexpr std::uint64_t storeSize = 8 << 20;

std::uint64_t rounds()
{
	return std::stoull(environment("NVMEOF_FUZZ_IOCTLS", "4000"));
}

// Memory before a guard page, filled with a canary so that each changed byte is found.
class Arena {
public:
	Arena() : at_(static_cast<std::uint8_t *>(map(arenaSize + page, PROT_READ | PROT_WRITE)))
	{
		if (at_ == MAP_FAILED || ::mprotect(at_ + arenaSize, page, PROT_NONE))
			throw std::bad_alloc();
		std::memset(at_, canary, arenaSize);
	}
	~Arena() { ::munmap(at_, arenaSize + page); }
	Arena(const Arena &) = delete;
	Arena &operator=(const Arena &) = delete;

	// Bytes that end at the guard page, or with room behind them
	std::uint8_t *place(std::size_t length, bool end) { return end ? at_ + arenaSize - length : at_ + page; }
	// Returns false if a byte outside the range has changed. Refills the arena after any change.
	bool untouched(std::uint64_t from, std::uint64_t length)
	{
		auto first = reinterpret_cast<std::uint64_t>(at_), end = first + arenaSize;
		auto behind = from + length < from ? ~0ull : from + length;
		auto low = std::clamp<std::uint64_t>(from, first, end) - first;
		auto high = std::clamp<std::uint64_t>(behind, first, end) - first;
		bool good = same(0, low) && same(high, arenaSize);
		if (!good || !same(low, high))
			std::memset(at_, canary, arenaSize);
		return good;
	}

private:
	static void *map(std::size_t size, int rights)
	{
		return ::mmap(nullptr, size, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	bool same(std::size_t from, std::size_t end) const
	{
		return !std::memcmp(at_ + from, clean_.data() + from, end - from);
	}

	std::uint8_t *at_;
	const std::vector<std::uint8_t> clean_ = std::vector<std::uint8_t>(arenaSize, canary);
};

struct Node {
	int fd;
	bool controller;
};

// Number of calls by ioctl and result
using Outcomes = std::map<std::string, std::map<std::string, unsigned>>;

class IoctlFuzzer {
public:
	IoctlFuzzer(std::uint64_t seed, std::vector<Node> nodes) : random_{seed, 0x696f}, nodes_(std::move(nodes)) {}

	void run(std::uint64_t count)
	{
		for (std::uint64_t i = 0; i < count && faults.size() < 10; i++)
			one();
	}
	void print(const char *who) const;

	std::vector<std::string> faults;
	Outcomes outcomes;
	// Whether the caller may use this ioctl with this opcode; empty: everything is allowed
	std::function<bool(const Node &, unsigned long, std::uint8_t)> allowed;

private:
	void one();
	void command(const Node &node, unsigned long number);
	void byRing(const Node &node);
	nvme_passthru_cmd64 passthru();
	void *somewhere(std::size_t length);
	void judge(const Node &node, unsigned long number, std::uint8_t opcode, int result, int error);
	std::uint32_t length();

	target::Random random_;
	std::vector<Node> nodes_;
	Arena data_, args_;
	Ring ring_{4};
};

std::string nameOf(unsigned long number)
{
	static const std::map<unsigned long, const char *> names = {
		{NVME_IOCTL_ID, "ID"},
		{NVME_IOCTL_ADMIN_CMD, "ADMIN_CMD"},
		{NVME_IOCTL_SUBMIT_IO, "SUBMIT_IO"},
		{NVME_IOCTL_IO_CMD, "IO_CMD"},
		{NVME_IOCTL_RESET, "RESET"},
		{NVME_IOCTL_SUBSYS_RESET, "SUBSYS_RESET"},
		{NVME_IOCTL_RESCAN, "RESCAN"},
		{NVME_IOCTL_ADMIN64_CMD, "ADMIN64_CMD"},
		{NVME_IOCTL_IO64_CMD, "IO64_CMD"},
		{NVME_URING_CMD_IO, "URING_CMD_IO"},
		{NVME_URING_CMD_ADMIN, "URING_CMD_ADMIN"},
	};
	auto at = names.find(number);
	return at == names.end() ? "others" : at->second;
}

void IoctlFuzzer::print(const char *who) const
{
	unsigned long sum = 0;
	for (auto &[name, results] : outcomes) {
		std::printf("  %-12s:", name.c_str());
		for (auto &[result, n] : results) {
			std::printf(" %s %u", result.c_str(), n);
			sum += n;
		}
		std::printf("\n");
	}
	std::printf("figure: fuzz_ioctl, %s: %lu calls\n", who, sum);
	std::fflush(stdout);
}

void IoctlFuzzer::judge(const Node &node, unsigned long number, std::uint8_t opcode, int result, int error)
{
	auto what = result == 0                ? std::string("0")
		    : result > 0               ? "status"
		    : ::strerrorname_np(error) ? ::strerrorname_np(error)
					       : "?";
	auto name = nameOf(number) + (node.controller ? " at a controller" : " at a disk");
	outcomes[name][what]++;
	if (result < 0 && error > maxErrno)
		faults.push_back(name + " ends with errno " + std::to_string(error));
	if (result >= 0 && allowed && !allowed(node, number, opcode))
		faults.push_back(name + " of opcode " + std::to_string(opcode) + " was let through");
}

std::uint32_t IoctlFuzzer::length()
{
	static const std::uint32_t lengths[] = {0,    0,    1,    3,    4,     511,     512,          512,
						4096, 4096, 4097, 8192, 65536, 1 << 20, (1 << 20) + 1};
	return random_.oneIn(12) ? static_cast<std::uint32_t>(random_.interesting(32)) : random_.pick(lengths);
}

// An address that is valid in most cases
void *IoctlFuzzer::somewhere(std::size_t length)
{
	switch (random_.below(12)) {
	case 0:
		return nullptr;
	case 1:
		return reinterpret_cast<void *>(0xffff888000000000 + random_.below(1 << 20)); // a kernel address
	case 2:
		return reinterpret_cast<void *>(random_.next());
	case 3:
		return data_.place(length / 2 < arenaSize ? length / 2 : 0, true); // half of it is mapped
	case 4:
		return data_.place(0, false) + random_.below(16); // unaligned
	default:
		return length <= arenaSize - page ? data_.place(length, random_.oneIn(2)) : data_.place(0, false);
	}
}

nvme_passthru_cmd64 IoctlFuzzer::passthru()
{
	static const std::uint8_t opcodes[] = {0x00, 0x01, 0x02, 0x02, 0x05, 0x06, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x0d,
					       0x15, 0x18, 0x19, 0x38, 0x7f, 0x7f, 0x80, 0x81, 0x82, 0xc1, 0xff};
	nvme_passthru_cmd64 p{};
	p.opcode = random_.oneIn(5) ? static_cast<std::uint8_t>(random_.next()) : random_.pick(opcodes);
	p.flags = random_.oneIn(20) ? static_cast<std::uint8_t>(random_.next()) : 0;
	p.nsid = random_.oneIn(5) ? static_cast<std::uint32_t>(random_.interesting(32)) : 1;
	p.data_len = length();
	p.addr = reinterpret_cast<std::uint64_t>(somewhere(p.data_len));
	if (random_.oneIn(20)) {
		p.metadata_len = static_cast<std::uint32_t>(random_.interesting(32));
		p.metadata = random_.next();
	}
	auto word = [this] {
		return static_cast<std::uint32_t>(random_.oneIn(3) ? random_.interesting(32) : random_.below(8));
	};
	p.cdw2 = word();
	p.cdw3 = word();
	p.cdw10 = word();
	p.cdw11 = random_.oneIn(4) ? word() : 0;
	// Half of the time the number of blocks matches the data.
	p.cdw12 = random_.oneIn(2) ? p.data_len / 512 - 1 : word();
	p.cdw13 = word();
	p.cdw14 = word();
	p.cdw15 = word();
	p.timeout_ms = random_.oneIn(30) ? static_cast<std::uint32_t>(1 + random_.below(20)) : 5000;
	return p;
}

void IoctlFuzzer::command(const Node &node, unsigned long number)
{
	auto p = passthru();
	nvme_user_io io{};
	io.opcode = p.opcode;
	io.flags = p.flags;
	io.nblocks = static_cast<std::uint16_t>(random_.oneIn(4) ? random_.interesting(16) : p.data_len / 512 - 1);
	io.metadata = p.metadata;
	io.addr = p.addr;
	io.slba = p.cdw10;
	bool old = number == NVME_IOCTL_SUBMIT_IO;
	auto size = old                                                                 ? sizeof(io)
		    : number == NVME_IOCTL_ADMIN64_CMD || number == NVME_IOCTL_IO64_CMD ? sizeof(p)
											: sizeof(nvme_passthru_cmd);
	void *given = args_.place(size, random_.oneIn(2));
	// Sometimes the structure is not mapped, or only in part.
	if (random_.oneIn(12))
		given = random_.oneIn(2) ? args_.place(random_.below(size), true)
					 : reinterpret_cast<void *>(random_.next() | 1ull << 63);
	else
		std::memcpy(given, old ? static_cast<void *>(&io) : &p, size);
	int result = ::ioctl(node.fd, number, given);
	judge(node, number, p.opcode, result, errno);
	auto bytes = old ? (io.nblocks + 1ul) * 512 : p.data_len;
	if (!data_.untouched(p.addr, bytes))
		faults.push_back(nameOf(number) + " wrote outside of its " + std::to_string(bytes) + " bytes");
	if (!args_.untouched(reinterpret_cast<std::uint64_t>(given), size))
		faults.push_back(nameOf(number) + " wrote outside of its structure");
}

void IoctlFuzzer::byRing(const Node &node)
{
	auto p = passthru();
	nvme_uring_cmd cmd{};
	std::memcpy(&cmd, &p, offsetof(nvme_passthru_cmd64, timeout_ms) + sizeof(p.timeout_ms));
	unsigned long number = random_.oneIn(8) == node.controller ? NVME_URING_CMD_IO : NVME_URING_CMD_ADMIN;
	auto done = ring_.one(node.fd, number, cmd);
	judge(node, number, p.opcode, std::max(done.res, -1), -done.res);
	if (!data_.untouched(p.addr, p.data_len))
		faults.push_back(nameOf(number) + " wrote outside of its " + std::to_string(p.data_len) + " bytes");
}

void IoctlFuzzer::one()
{
	static const unsigned long numbers[] = {
		NVME_IOCTL_ADMIN_CMD, NVME_IOCTL_ADMIN64_CMD, NVME_IOCTL_IO_CMD, NVME_IOCTL_IO64_CMD,
		NVME_IOCTL_SUBMIT_IO, NVME_IOCTL_ADMIN_CMD,   NVME_IOCTL_IO_CMD, NVME_IOCTL_IO64_CMD,
	};
	auto &node = nodes_[random_.below(nodes_.size())];
	if (random_.oneIn(4))
		return byRing(node);
	if (!random_.oneIn(8))
		return command(node, random_.pick(numbers));
	unsigned long number;
	if (random_.oneIn(2)) // of the type of NVMe, with any number, size and direction
		number = _IOC(random_.below(4), 'N', random_.below(random_.oneIn(2) ? 256 : 0x50), random_.below(128));
	else if (random_.oneIn(8))
		number = random_.oneIn(2) ? NVME_IOCTL_RESET : NVME_IOCTL_RESCAN;
	else
		number = NVME_IOCTL_ID;
	auto *arg = somewhere(64);
	int result = ::ioctl(node.fd, number, arg);
	judge(node, number, canary, result, errno);
	if (!data_.untouched(reinterpret_cast<std::uint64_t>(arg), 128))
		faults.push_back(nameOf(number) + " wrote outside of its argument");
}

// A correct target and the host. Protocol violations are not checked, because random commands cause them.
struct Stage {
	target::Server server;
	Host host;
	std::string controller, disk;

	Stage() : server(patient())
	{
		server.stores().add(1, storeSize);
		auto o = Host::options("127.0.0.1", std::to_string(server.port()), server.config().nqn);
		o.reconnectDelay = 100ms;
		controller = host.connect(o).name;
		disk = host.disk(1, 10s, server.config().nqn);
	}

	static target::Config patient()
	{
		target::Config config;
		config.enforceKeepAlive = false; // the commands may set any keep-alive timeout
		return config;
	}
	Bytes contents() { return server.stores().find(1)->peek(0, storeSize); }
};

// Open files of the controller, the disk and its generic node
struct Opened {
	int controller, disk, generic;

	Opened(const Stage &stage, int flags)
		: controller(::open(("/dev/" + stage.controller).c_str(), flags)),
		  disk(::open(stage.disk.c_str(), flags)), generic(::open(genericOf(stage.disk).c_str(), flags))
	{
		REQUIRE(controller >= 0);
		REQUIRE(disk >= 0);
		REQUIRE(generic >= 0);
	}
	~Opened()
	{
		::close(controller);
		::close(disk);
		::close(generic);
	}
	std::vector<Node> nodes() const { return {{controller, true}, {disk, false}, {generic, false}}; }
};

void becomeNobody()
{
	if (::setgroups(0, nullptr) || ::setresgid(65534, 65534, 65534) || ::setresuid(65534, 65534, 65534))
		::_exit(4);
}

// Without CAP_SYS_ADMIN and with a read-only disk: Read, Compare and Verify, the NSID, and Identify
bool readerMay(const Node &node, unsigned long number, std::uint8_t opcode)
{
	constexpr std::uint8_t read = 0x02, compare = 0x05, verify = 0x0c;
	if (node.controller)
		return false;
	if (number == NVME_IOCTL_ID)
		return true;
	if (number == NVME_IOCTL_ADMIN_CMD || number == NVME_IOCTL_ADMIN64_CMD)
		return opcode == 0x06;
	bool io = number == NVME_IOCTL_IO_CMD || number == NVME_IOCTL_IO64_CMD || number == NVME_IOCTL_SUBMIT_IO ||
		  number == NVME_URING_CMD_IO;
	return io && (opcode == read || opcode == compare || opcode == verify);
}

// Runs with files that root has opened.
int fuzzAsNobody(const std::vector<Node> &nodes, const std::string &controller, std::uint64_t number)
{
	becomeNobody();
	if (::open(("/dev/" + controller).c_str(), O_RDONLY) >= 0 || errno != EACCES)
		return 3;
	IoctlFuzzer fuzzer(number, nodes);
	fuzzer.allowed = readerMay;
	fuzzer.run(rounds());
	fuzzer.print("nobody, with files opened for reading");
	for (auto &text : fuzzer.faults)
		std::printf("fuzz_ioctl: FAILED: %s\n", text.c_str());
	std::fflush(stdout);
	return !fuzzer.faults.empty();
}

} // namespace

TEST_CASE("random ioctls by root break nothing", "[fuzz][ioctl]")
{
	auto number = seedFrom("NVMEOF_FUZZ_SEED");
	Stage stage;
	{
		Opened open(stage, O_RDWR | O_CLOEXEC);
		IoctlFuzzer fuzzer(number, open.nodes());
		fuzzer.run(rounds());
		fuzzer.print("root");
		for (auto &text : fuzzer.faults)
			FAIL_CHECK(text);
	}
	REQUIRE(stage.host.waitState(stage.controller, ControllerState::live, 15s));
	Disk disk(stage.disk);
	CHECK(disk.verified(0, 131072, 1) == 0);
	CHECK(stage.server.counters().digestErrors == 0);
}

TEST_CASE("random ioctls by nobody on read-only files change nothing", "[fuzz][ioctl][nobody]")
{
	auto number = seedFrom("NVMEOF_FUZZ_SEED");
	Stage stage;
	Disk disk(stage.disk);
	REQUIRE(disk.verified(0, 131072, 1) == 0);
	auto before = stage.contents();
	auto connects = stage.server.counters().adminConnects.load();
	Opened open(stage, O_RDONLY);
	must("chmod 666 /dev/" + stage.controller); // so that access is not denied by the file mode
	std::fflush(stdout);
	auto pid = ::fork();
	if (pid == 0)
		::_exit(fuzzAsNobody(open.nodes(), stage.controller, number));
	int status = -1;
	::waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
	CHECK((stage.contents() == before));
	CHECK(stage.server.counters().adminConnects == connects);
}

} // namespace guest::fuzz_ioctl
