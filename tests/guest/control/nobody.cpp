// SPDX-License-Identifier: LGPL-2.1-or-later
// Unprivileged users, including root in a user namespace of its own, can read the state but change nothing.
#include "nobody.h"
#include "support/block.h"
#include "support/stalled_writes.h"
#include "support/intree.h"
#include "support/multi.h"
#include "support/ports.h"
#include "support/rig.h"
#include "support/ring.h"
#include "support/zoned.h"
#include "target/acts.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/genetlink.h>
#include <linux/nvme_ioctl.h>
#include <linux/nvmeof.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <regex>
#include <sched.h>

namespace guest::nobody {

using nvmeof::ControllerState;

namespace {

constexpr unsigned nobody = 65534;
constexpr Who strangers[] = {Who::nobody, Who::usernsRoot};
constexpr Who all[] = {Who::nobody, Who::usernsRoot, Who::networkAdmin, Who::systemAdmin};

const char *name(Who who)
{
	constexpr const char *names[] = {"nobody", "root of a user namespace", "nobody with CAP_NET_ADMIN",
					 "nobody with CAP_SYS_ADMIN"};
	return names[static_cast<int>(who)];
}

bool put(const char *file, const std::string &text)
{
	int fd = ::open(file, O_WRONLY);
	bool good = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
	::close(fd);
	return good;
}

// Becomes root in new user and network namespaces, as any user can.
bool becomeOwnRoot()
{
	::prctl(PR_SET_DUMPABLE, 1); // otherwise root owns /proc/self
	return ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 && put("/proc/self/setgroups", "deny") &&
	       put("/proc/self/uid_map", "0 65534 1") && put("/proc/self/gid_map", "0 65534 1") && ::getuid() == 0;
}

bool setCapabilities(std::uint32_t set)
{
	__user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
	__user_cap_data_struct data[2]{};
	data[0].effective = data[0].permitted = set;
	return ::syscall(SYS_capset, &head, data) == 0;
}

bool become(Who who)
{
	::prctl(PR_SET_KEEPCAPS, 1);
	if (::setgroups(0, nullptr) || ::setresgid(nobody, nobody, nobody) || ::setresuid(nobody, nobody, nobody))
		return false;
	switch (who) {
	case Who::networkAdmin:
		return setCapabilities(1u << CAP_NET_ADMIN);
	case Who::systemAdmin:
		return setCapabilities(1u << CAP_SYS_ADMIN);
	case Who::usernsRoot:
		return setCapabilities(0) && becomeOwnRoot();
	case Who::nobody:
		return setCapabilities(0);
	}
	return false;
}

} // namespace

int as(Who who, const std::function<int()> &what)
{
	auto pid = ::fork();
	if (pid == 0)
		::_exit(become(who) ? what() : preparation);
	int raw = 0;
	::waitpid(pid, &raw, 0);
	return WIFEXITED(raw) ? WEXITSTATUS(raw) : 255;
}

namespace {

Output shellAs(Who who, const std::string &command)
{
	std::string prefix = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
	return run(prefix + (who == Who::usernsRoot ? "unshare -Ur -n " : "") + "bash -c '" + command + "'");
}

// errno of a library call; 0: success, 200: an error without errno
template <class T> int errnoOf(const nvmeof::Result<T> &result)
{
	return result.ok() ? 0 : result.error().sysErrno ? result.error().sysErrno : 200;
}

int errnoOf(const nvmeof::Result<nvmeof::Removal> &removal)
{
	return removal.ok() ? errnoOf(removal->outcome()) : errnoOf<nvmeof::Removal>(removal);
}

// Everything that a command of netlink can change
std::string state(Host &host)
{
	std::string text;
	for (auto &s : take(host.client().subsystems()))
		text += s.name + " " + s.iopolicy + " " + std::to_string(s.spillLatency.count()) + " " +
			std::to_string(s.spillDepth) + " " + std::to_string(s.degrade) + " " + toString(s.fencing) +
			" " + std::to_string(s.delayedRemoval.count()) + "\n";
	for (auto &c : take(host.client().controllers()))
		text += c.name + " " + toString(c.state) + " " + std::to_string(c.reconnects) + " " +
			std::to_string(c.reconnectDelay.count()) + " " + std::to_string(c.ctrlLoss.count()) + " " +
			std::to_string(c.fastIoFail.count()) + " " + std::to_string(c.stallTimeout.count()) + "\n";
	for (auto &n : take(host.client().namespaces()))
		text += n.name + " " + std::to_string(n.size) + "\n";
	return text;
}

// No event since the last drain: catches changes that state() does not show.
bool quiet(Watch &watch)
{
	return watch.drain(300ms).empty();
}

} // namespace

// Netlink commands by number: all that exist, and a few beyond (Documentation/netlink/specs/nvmeof.yaml)
namespace {

class Genl {
public:
	Genl() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)) {}
	~Genl() { ::close(fd_); }
	Genl(const Genl &) = delete;
	Genl &operator=(const Genl &) = delete;

	// Identifier of the family; 0: not found
	int family(const char *name) const
	{
		alignas(4) char attribute[nlaHead + 16] = {};
		nlattr head{.nla_len = static_cast<std::uint16_t>(nlaHead + std::strlen(name) + 1),
			    .nla_type = CTRL_ATTR_FAMILY_NAME};
		std::memcpy(attribute, &head, nlaHead);
		std::strcpy(attribute + nlaHead, name);
		if (exchange(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, attribute, NLA_ALIGN(head.nla_len)) <= 0)
			return 0;
		for (std::size_t at = genlHead; at + nlaHead <= length_; at += NLA_ALIGN(head.nla_len)) {
			std::memcpy(&head, answer_ + at, nlaHead);
			std::uint16_t id;
			std::memcpy(&id, answer_ + at + nlaHead, sizeof(id));
			if (head.nla_type == CTRL_ATTR_FAMILY_ID)
				return id;
		}
		return 0;
	}

	// errno of the answer to a request without attributes; 0: success
	int request(int family, std::uint8_t command, std::uint16_t flags = 0) const
	{
		auto got = exchange(family, command, flags, nullptr, 0);
		return got < 0 ? static_cast<int>(-got) : 0;
	}

private:
	static constexpr std::size_t nlaHead = NLA_HDRLEN, genlHead = NLMSG_HDRLEN + GENL_HDRLEN;

	// Negative errno, or the length of the answer
	long exchange(int family, std::uint8_t command, std::uint16_t flags, const char *attributes,
		      std::size_t length) const
	{
		alignas(8) char message[128] = {};
		nlmsghdr head{};
		head.nlmsg_len = static_cast<std::uint32_t>(genlHead + length);
		head.nlmsg_type = static_cast<std::uint16_t>(family);
		head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
		genlmsghdr genl{.cmd = command, .version = 1, .reserved = 0};
		std::memcpy(message, &head, sizeof(head));
		std::memcpy(message + NLMSG_HDRLEN, &genl, sizeof(genl));
		if (length)
			std::memcpy(message + genlHead, attributes, length);
		if (::send(fd_, message, head.nlmsg_len, 0) < 0)
			return -errno;
		return receive();
	}

	long receive() const
	{
		auto got = ::recv(fd_, answer_, sizeof(answer_), 0);
		if (got < 0)
			return -errno;
		nlmsghdr head;
		std::memcpy(&head, answer_, sizeof(head));
		length_ = head.nlmsg_len;
		if (head.nlmsg_type != NLMSG_ERROR)
			return static_cast<long>(length_);
		nlmsgerr error;
		std::memcpy(&error, answer_ + NLMSG_HDRLEN, sizeof(error));
		return error.error;
	}

	int fd_;
	alignas(8) mutable char answer_[32768] = {};
	mutable std::size_t length_ = 0;
};

const std::uint8_t mutators[] = {NVMEOF_CMD_SUBSYS_SET,    NVMEOF_CMD_CTRL_NEW,    NVMEOF_CMD_CTRL_DEL,
				 NVMEOF_CMD_CTRL_RESET,    NVMEOF_CMD_CTRL_RESCAN, NVMEOF_CMD_CTRL_SET,
				 NVMEOF_CMD_TRANSPORT_KEEP};
const std::uint8_t getters[] = {NVMEOF_CMD_VERSION_GET, NVMEOF_CMD_SUBSYS_GET, NVMEOF_CMD_CTRL_GET, NVMEOF_CMD_NS_GET,
				NVMEOF_CMD_PATH_GET};

bool isOneOf(std::uint8_t command, const auto &list)
{
	return std::find(std::begin(list), std::end(list), command) != std::end(list);
}

} // namespace

TEST_CASE("netlink: unprivileged callers get EPERM for each command number that changes something", "[nobody][netlink]")
{
	Rig rig;
	rig.connect();
	auto before = state(rig.host);
	Watch watch;
	watch.drain(); // events of the connect
	auto family = Genl().family(NVMEOF_GENL_NAME);
	REQUIRE(family > 0);
	for (auto who : all)
		for (int command = 1; command <= NVMEOF_CMD_MAX + 4; command++) {
			INFO(name(who) << ", command " << command);
			auto code = static_cast<std::uint8_t>(command);
			auto got = as(who, [&] { return Genl().request(family, code); });
			if (isOneOf(code, mutators))
				CHECK(got == EPERM);
			else if (code == NVMEOF_CMD_VERSION_GET)
				CHECK(got == 0);
			else if (isOneOf(code, getters))
				CHECK(got == EINVAL); // permitted, but the object is missing
			else
				CHECK(got == EOPNOTSUPP);
			auto dump = as(who, [&] { return Genl().request(family, code, NLM_F_DUMP); });
			if (isOneOf(code, mutators))
				CHECK((dump == EPERM || dump == EOPNOTSUPP));
			else if (isOneOf(code, getters) && code != NVMEOF_CMD_VERSION_GET)
				CHECK(dump == 0);
			else
				CHECK(dump == EOPNOTSUPP);
		}
	CHECK(state(rig.host) == before);
	CHECK(quiet(watch));
}

TEST_CASE("netlink: a socket has only the rights that both its opener and its user have", "[nobody][netlink]")
{
	Rig rig;
	rig.connect();
	auto before = state(rig.host);
	auto family = Genl().family(NVMEOF_GENL_NAME);
	for (auto command : mutators) {
		INFO(int(command));
		Genl roots;
		for (auto who : all)
			CHECK(as(who, [&] { return roots.request(family, command); }) == EPERM);
		// a privileged program that writes to an unprivileged user's socket lends it no rights
		CHECK(::seteuid(nobody) == 0);
		Genl nobodys;
		CHECK(::seteuid(0) == 0);
		CHECK(nobodys.request(family, command) == EPERM);
		CHECK(roots.request(family, command) == EINVAL); // both are privileged; only the attributes are missing
	}
	CHECK(state(rig.host) == before);
}

TEST_CASE("the library: unprivileged users get EPERM for every change, and can read everything", "[nobody][netlink]")
{
	Rig rig;
	auto c = rig.connect();
	auto before = state(rig.host);
	auto another = rig.options();
	another.duplicateConnect = true;
	another.hostnqn = c.hostnqn;
	another.hostid = nvmeof::Uuid::parse("12345678-9abc-4def-8123-456789abcdef");
	REQUIRE(another.hostid);
	nvmeof::ControllerSettings ctrl;
	ctrl.stallTimeout = 7s;
	auto subsystem = take(rig.host.client().subsystems()).at(0).name;
	nvmeof::SubsystemSettings settings;
	settings.fencing = nvmeof::Fencing::safe;
	const std::map<std::string, std::function<int(nvmeof::Client &)>> changes{
		{"connect", [&](auto &client) { return errnoOf(client.start(another)); }},
		{"disconnect", [&](auto &client) { return errnoOf(client.disconnect(c.name)); }},
		{"disconnect of an NQN", [&](auto &client) { return errnoOf(client.disconnectNqn(testNqn)); }},
		{"disconnect of all", [&](auto &client) { return errnoOf(client.disconnectAll()); }},
		{"reset", [&](auto &client) { return errnoOf(client.reset(c.name)); }},
		{"rescan", [&](auto &client) { return errnoOf(client.rescan(c.name)); }},
		{"set of a controller", [&](auto &client) { return errnoOf(client.set(c.name, ctrl)); }},
		{"set of a subsystem", [&](auto &client) { return errnoOf(client.set(subsystem, settings)); }},
	};
	Watch watch;
	watch.drain(); // events of the connect
	for (auto who : all) {
		for (auto &[what, change] : changes) {
			INFO(name(who) << ": " << what);
			CHECK(as(who, [&, &change = change] {
				      auto client = nvmeof::Client::open();
				      return client.ok() ? change(*client) : 201;
			      }) == EPERM);
		}
		INFO(name(who));
		CHECK(as(who, [&] {
			      auto client = nvmeof::Client::open();
			      return client.ok() && client->subsystems()->size() == 1 &&
						     client->controllers()->size() == 1 &&
						     client->namespaces()->size() == 1 && client->paths()->size() == 1
					     ? 0
					     : 1;
		      }) == 0);
		CHECK(as(who, [&] { return nvmeof::EventStream::subscribe().ok() ? 0 : 1; }) == 0);
	}
	CHECK(state(rig.host) == before);
	CHECK(quiet(watch));
}

TEST_CASE("nvmeofctl: a change by an unprivileged user fails with exit status 7 and a hint", "[nobody][command]")
{
	Rig rig;
	auto c = rig.connect();
	auto subsystem = take(rig.host.client().subsystems()).at(0).name;
	must("chmod 755 / /usr /usr/bin /root; echo '* degrade=on' > /tmp/policy.conf");
	auto before = state(rig.host);
	const std::string changes[] = {
		"connect -t tcp -n " + std::string(testNqn) +
			" -a 127.0.0.1:4420 --duplicate-connect --hostnqn nqn.2014-08.org.nvmexpress:uuid:"
			"12345678-9abc-4def-8123-456789abcdef",
		"discover -a 127.0.0.1:4420 --hostnqn nqn.2014-08.org.nvmexpress:uuid:"
		"12345678-9abc-4def-8123-456789abcdef",
		"disconnect -d " + c.name,
		"disconnect -n " + std::string(testNqn),
		"disconnect --all",
		"reset -d " + c.name,
		"rescan -d " + c.name,
		"set " + c.name + " stall-tmo=7",
		"set " + subsystem + " fencing=safe",
		"apply-policy " + subsystem + " --policy-file /tmp/policy.conf",
	};
	const std::string looks[] = {"list", "list-subsys", "list --json", "show " + subsystem, "stats", "version"};
	constexpr int notPermitted = 7;
	for (auto who : strangers) {
		for (auto &change : changes) {
			auto out = shellAs(who, "nvmeofctl " + change);
			INFO(name(who) << ": " << change << ": " << out.text);
			CHECK(out.status == notPermitted);
			CHECK(out.text.find("root") != std::string::npos);
		}
		for (auto &look : looks) {
			auto out = shellAs(who, "nvmeofctl " + look);
			INFO(name(who) << ": " << look << ": " << out.text);
			CHECK(out.status == 0);
		}
	}
	CHECK(state(rig.host) == before);
}

TEST_CASE("unprivileged users do not cause the modules to be loaded", "[nobody][modules]")
{
	Rig rig;
	rig.host.forget();
	must("rmmod nvmeof_tcp && rmmod nvmeof");
	constexpr int noModule = 8;
	for (auto who : strangers) {
		CHECK(shellAs(who, "nvmeofctl list").status == noModule);
		CHECK(as(who, [] { return Genl().family(NVMEOF_GENL_NAME) ? 1 : 0; }) == 0);
		CHECK_FALSE(Host::loaded());
	}
	Host::load();
	rig.host.reopen();
}

namespace {

constexpr std::uint8_t opRead = 2, opWrite = 1, opFlush = 0, opZeroes = 8, opDsm = 9, opUncor = 4, opCompare = 5,
		       opRegister = 0x0d, opVendor = 0x80, adminIdentify = 6, adminSetFeatures = 9, adminVendor = 0xc0;

// A passthrough command, with a block of data if length is not 0; returns errno or 0. 202: completed with an NVMe
// status
int passthrough(int fd, unsigned long request, std::uint8_t opcode, std::uint32_t length)
{
	Buffer data(4096);
	nvme_passthru_cmd64 p{}; // the 32-bit form has the same size, and the same layout up to the result
	p.opcode = opcode;
	p.nsid = 1;
	p.addr = reinterpret_cast<std::uintptr_t>(data.data());
	p.data_len = length;
	p.cdw10 = opcode == adminIdentify && length == 4096 ? 2 : 0; // CNS 02h, active namespace list; block 0
	auto got = ::ioctl(fd, request, &p);
	return got < 0 ? errno : got ? 202 : 0;
}

int submit(int fd, std::uint8_t opcode)
{
	Buffer data(512);
	nvme_user_io io{};
	io.opcode = opcode;
	io.addr = reinterpret_cast<std::uintptr_t>(data.data());
	auto got = ::ioctl(fd, NVME_IOCTL_SUBMIT_IO, &io);
	return got < 0 ? errno : got ? 202 : 0;
}

} // namespace

int identify(int fd, std::uint32_t nsid, std::uint32_t cns, std::uint32_t length, Millis timeout)
{
	Buffer data(length);
	nvme_passthru_cmd64 p{};
	p.opcode = adminIdentify;
	p.nsid = nsid;
	p.addr = reinterpret_cast<std::uintptr_t>(data.data());
	p.data_len = length;
	p.cdw10 = cns;
	p.timeout_ms = static_cast<std::uint32_t>(timeout.count());
	auto got = ::ioctl(fd, NVME_IOCTL_ADMIN64_CMD, &p);
	return got < 0 ? errno : got ? 202 : 0;
}

namespace {

// As passthrough(), by io_uring, in a ring that the calling process creates
int byRing(int fd, unsigned long op, std::uint8_t opcode, std::size_t length)
{
	try {
		Buffer data(4096);
		Ring ring(2);
		auto cmd = blocksCommand(opcode, 0, 512, length ? data.data() : nullptr);
		auto res = ring.one(fd, op, cmd).res;
		return res < 0 ? -res : res ? 202 : 0;
	} catch (const std::exception &e) {
		std::printf("byRing: %s\n", e.what());
		std::fflush(stdout);
		return 249;
	}
}

int call(int fd, unsigned long request)
{
	return ::ioctl(fd, request, nullptr) < 0 ? errno : 0;
}

int openErrno(const std::string &node, int flags)
{
	int fd = ::open(node.c_str(), flags);
	if (fd < 0)
		return errno;
	::close(fd);
	return 0;
}

void adminIsRefused(Who who, int fd)
{
	for (auto request : {NVME_IOCTL_ADMIN_CMD, NVME_IOCTL_ADMIN64_CMD})
		for (auto opcode : {adminIdentify, adminSetFeatures, adminVendor}) {
			INFO("admin command " << int(opcode));
			CHECK(as(who, [&] { return passthrough(fd, request, opcode, opcode == 6 ? 4096 : 0); }) ==
			      EACCES);
		}
}

// Creates an MBR with one partition that begins at 1 MiB.
void makePartition(const std::string &disk)
{
	must("printf '\\000\\000\\000\\000\\203\\000\\000\\000\\000\\010\\000\\000\\000\\010\\000\\000' | "
	     "dd of=" +
	     disk + " bs=1 seek=446 conv=notrunc 2>/dev/null");
	must("printf '\\125\\252' | dd of=" + disk + " bs=1 seek=510 conv=notrunc 2>/dev/null; sync");
	must("blockdev --rereadpt " + disk);
	REQUIRE(eventually([&] { return exists(disk + "p1"); }));
}

} // namespace

TEST_CASE("device nodes are closed to unprivileged users", "[nobody][ioctl]")
{
	Rig rig;
	auto c = rig.connect();
	auto ctrl = "/dev/" + c.name, disk = rig.disk(), generic = genericOf(disk);
	for (auto &node : {ctrl, disk, generic}) {
		INFO(node);
		struct stat st {};
		REQUIRE(::stat(node.c_str(), &st) == 0);
		CHECK(st.st_uid == 0);
		CHECK((st.st_mode & 0007) == 0);
		for (auto who : strangers)
			for (auto flags : {O_RDONLY, O_WRONLY, O_RDWR})
				CHECK(as(who, [&] { return openErrno(node, flags); }) == EACCES);
	}
	// after chmod unprivileged users can open a disk; a controller node, which reaches all disks, stays closed
	must("chmod 666 " + ctrl + " " + disk + " " + generic);
	for (auto who : strangers) {
		CHECK(as(who, [&] { return openErrno(ctrl, O_RDWR); }) == EACCES);
		CHECK(as(who, [&] { return openErrno(ctrl, O_RDONLY); }) == EACCES);
		CHECK(as(who, [&] { return openErrno(disk, O_RDONLY); }) == 0);
		CHECK(as(who, [&] { return openErrno(generic, O_RDONLY); }) == 0);
	}
}

TEST_CASE("a controller node opened by root refuses commands of unprivileged users", "[nobody][ioctl]")
{
	Rig rig;
	auto c = rig.connect();
	auto before = state(rig.host);
	File node("/dev/" + c.name, O_RDWR);
	REQUIRE(node.fd >= 0);
	CHECK(passthrough(node.fd, NVME_IOCTL_ADMIN_CMD, adminIdentify, 4096) == 0); // the commands are valid
	CHECK(passthrough(node.fd, NVME_IOCTL_IO_CMD, opRead, 512) == 0);
	Watch watch;
	watch.drain(); // events of the connect
	for (auto who : strangers) {
		INFO(name(who));
		adminIsRefused(who, node.fd);
		for (auto request : {NVME_IOCTL_IO_CMD, NVME_IOCTL_IO64_CMD})
			for (auto opcode : {opRead, opWrite, opFlush, opZeroes, opVendor}) {
				INFO("I/O command " << int(opcode));
				auto length = opcode == opRead || opcode == opWrite ? 512u : 0u;
				CHECK(as(who, [&] { return passthrough(node.fd, request, opcode, length); }) == EACCES);
			}
		CHECK(as(who, [&] { return byRing(node.fd, NVME_URING_CMD_ADMIN, adminIdentify, 4096); }) == EACCES);
		CHECK(as(who, [&] { return call(node.fd, NVME_IOCTL_RESET); }) == EACCES);
		CHECK(as(who, [&] { return call(node.fd, NVME_IOCTL_RESCAN); }) == EACCES);
		CHECK(as(who, [&] { return call(node.fd, NVME_IOCTL_SUBSYS_RESET); }) != 0);
	}
	CHECK(state(rig.host) == before);
	CHECK(quiet(watch));
}

TEST_CASE("a disk opened by root permits unprivileged users only what read() and write() permit", "[nobody][ioctl]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	makePartition(disk);
	auto node = GENERATE(false, true) ? genericOf(disk) : disk;
	File readable(node, O_RDONLY), writable(node, O_RDWR), writeOnly(node, O_WRONLY),
		partition(disk + "p1", O_RDWR);
	REQUIRE(readable.fd >= 0);
	REQUIRE(writable.fd >= 0);
	REQUIRE(writeOnly.fd >= 0);
	REQUIRE(partition.fd >= 0);
	for (auto who : strangers) {
		INFO(name(who) << " at " << node);
		auto io = [&](const File &file, std::uint8_t opcode) {
			auto length = opcode == opRead || opcode == opWrite || opcode == opCompare ? 512u : 0u;
			auto narrow = as(who, [&] { return passthrough(file.fd, NVME_IOCTL_IO_CMD, opcode, length); });
			auto wide = as(who, [&] { return passthrough(file.fd, NVME_IOCTL_IO64_CMD, opcode, length); });
			CHECK(narrow == wide);
			if (node != disk && &file != &partition)
				CHECK(as(who, [&] { return byRing(file.fd, NVME_URING_CMD_IO, opcode, length); }) ==
				      narrow);
			return narrow;
		};
		CHECK(io(readable, opRead) == 0);
		CHECK(as(who, [&] { return submit(readable.fd, opRead); }) == 0);
		CHECK(io(readable, opFlush) == 0);
		for (auto opcode : {opWrite, opZeroes, opDsm, opCompare, opUncor, opRegister, opVendor}) {
			INFO("I/O command " << int(opcode));
			CHECK(io(readable, opcode) == EACCES);
		}
		CHECK(as(who, [&] { return submit(readable.fd, opWrite); }) == EACCES);
		CHECK(io(writable, opFlush) == 0);
		CHECK(io(writeOnly, opFlush) == 0);
		CHECK(io(writeOnly, opRead) == EACCES);
		CHECK(as(who, [&] { return identify(readable.fd, 1, 0); }) == 0);
		CHECK(as(who, [&] { return identify(writeOnly.fd, 1, 0); }) == 0);
		CHECK(as(who, [&] { return identify(readable.fd, 0, 1); }) == 0); // the controller: nvme id-ctrl
		CHECK(as(who, [&] { return identify(readable.fd, 1, 0, 8192); }) == EINVAL); // data have 4,096 bytes
		// controller and namespace data independent of the command set: the target need not support these
		for (std::uint32_t cns : {6, 8})
			CHECK_FALSE(as(who, [&] { return identify(readable.fd, cns == 8, cns); }) == EACCES);
		CHECK(as(who, [&] { return identify(readable.fd, 2, 0); }) == EACCES);
		CHECK(as(who, [&] { return identify(readable.fd, 0, 0); }) == EACCES);
		CHECK(as(who, [&] { return identify(readable.fd, 1, 3); }) == EACCES);
		CHECK(as(who, [&] { return identify(partition.fd, 1, 0); }) == EACCES);
		for (auto opcode : {opUncor, opRegister, opVendor}) {
			INFO("I/O command " << int(opcode));
			CHECK(io(writable, opcode) == EACCES);
		}
		for (auto opcode : {opRead, opWrite, opFlush, opZeroes, opDsm, opVendor}) {
			INFO("I/O command on a partition " << int(opcode));
			CHECK(io(partition, opcode) == EACCES); // the command could exceed the partition
		}
		CHECK(as(who, [&] { return submit(partition.fd, opRead); }) == EACCES);
		CHECK(as(who, [&] { return submit(partition.fd, opWrite); }) == EACCES);
		adminIsRefused(who, readable.fd);
		adminIsRefused(who, writable.fd);
		adminIsRefused(who, partition.fd);
	}
	Buffer table(512);
	Disk direct(disk);
	REQUIRE(direct.read(0, table) == 0);
	CHECK(table.data()[510] == 0x55); // no write was executed
}

namespace {

// Whether the user nobody may send it, whatever its outcome
bool mayNobody(int fd, std::uint8_t opcode)
{
	auto length = opcode & 3 ? 512u : 0u;
	return as(Who::nobody, [&] { return passthrough(fd, NVME_IOCTL_IO_CMD, opcode, length); }) != EACCES;
}

struct Expected {
	std::uint8_t opcode;
	std::uint32_t effects;
	bool reader, writer;
};

constexpr std::uint32_t supported = 1, changesBlocks = 2, changesNamespace = 4, alone = 1 << 16;
const Expected ofEffects[] = {
	{opRead, supported, true, true},
	{opFlush, supported, true, true},
	{opWrite, supported | changesBlocks, false, true},
	{opCompare, supported, false, true},
	{opRegister, supported, false, true},
	{0x0e, supported, true, true}, // Reservation Report
	{0x0c, supported | changesBlocks, false, true},
	{opZeroes, 0, false, false},
	{opDsm, supported | alone, false, false},
	{0x19, supported | changesNamespace, false, false},
	{opVendor, supported, false, false},
};

} // namespace

TEST_CASE("I/O commands without privilege: only those that the effects log reports as harmless",
	  "[nobody][ioctl][effects]")
{
	target::Config config;
	for (auto &one : ofEffects)
		if (one.effects)
			config.ioEffects[one.opcode] = one.effects;
	bool logged = GENERATE(true, false);
	if (!logged)
		config.ioEffects.clear();
	Ports ports({config});
	ports.connectAll();
	auto disk = ports.disk();
	File readable(disk, O_RDONLY), writable(disk, O_RDWR), writeOnly(disk, O_WRONLY);
	for (auto &one : ofEffects) {
		INFO("I/O command " << int(one.opcode) << (logged ? ", as logged" : ", no log"));
		CHECK(mayNobody(readable.fd, one.opcode) == (logged && one.reader));
		CHECK(mayNobody(writable.fd, one.opcode) == (logged && one.writer));
		bool fromController = one.opcode & 2;
		CHECK(mayNobody(writeOnly.fd, one.opcode) == (logged && one.writer && !fromController));
	}
}

TEST_CASE("I/O commands without privilege: permitted exactly as by the in-tree driver",
	  "[nobody][ioctl][effects][intree]")
{
	Rig rig;
	rig.connect();
	InTree intree;
	auto theirs = "/dev/" + intree.disk(), ours = rig.disk();
	for (auto flags : {O_RDONLY, O_RDWR}) {
		File a(theirs, flags), b(ours, flags);
		REQUIRE(a.fd >= 0);
		REQUIRE(b.fd >= 0);
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			INFO("I/O command " << opcode << (flags == O_RDWR ? ", writable" : ", readable"));
			auto code = static_cast<std::uint8_t>(opcode);
			CHECK(mayNobody(b.fd, code) == mayNobody(a.fd, code));
		}
	}
}

TEST_CASE("fio works without privilege on nodes with mode 0666", "[nobody][ioctl][fio]")
{
	NullDisk zones({});
	Rig rig;
	rig.subsystem.addNamespace(2, zones.device());
	rig.connect();
	auto disk = rig.disk(), zoned = rig.host.disk(2), node = genericOf(disk);
	REQUIRE_FALSE(zoned.empty());
	must("chmod 0666 " + disk + " " + zoned + " " + node);
	const std::string job = "cd /tmp; mkdir -p nobody; chmod 0777 nobody; cd nobody; fio --name=j --bs=4k ";
	const std::string lines[] = {
		job + "--direct=1 --size=1m --rw=randrw --verify=crc32c --filename=" + disk,
		job + "--size=1m --rw=randrw --ioengine=io_uring_cmd --cmd_type=nvme --filename=" + node,
		job + "--direct=1 --size=4m --rw=write --zonemode=zbd --max_open_zones=4 --filename=" + zoned,
	};
	for (auto &line : lines) {
		INFO(line);
		CHECK(as(Who::nobody, [&] { return run(line).status; }) == 0);
	}
}

namespace {

// All sysfs files of our objects and modules
std::vector<std::string> ourFiles(const std::string &disk)
{
	std::vector<std::string> found;
	for (auto &root : {std::string("/sys/class/nvmeof"), std::string("/sys/class/nvmeof-subsystem")})
		for (auto &entry : std::filesystem::directory_iterator(root))
			found.push_back(std::filesystem::canonical(entry.path()));
	found.push_back(std::filesystem::canonical("/sys/block/" + disk.substr(5)));
	found.push_back("/sys/module/nvmeof");
	found.push_back("/sys/module/nvmeof_tcp");
	std::vector<std::string> files;
	for (auto &root : found)
		for (auto &entry : std::filesystem::recursive_directory_iterator(root))
			if (entry.is_regular_file() && !entry.is_symlink())
				files.push_back(entry.path());
	return files;
}

// The fault of the file for an unprivileged user; empty: none
std::string wrong(const std::string &file)
{
	if (int got = openErrno(file, O_WRONLY); got != EACCES)
		return "can be written";
	// a kernel address is a secret, too
	static const std::regex address("\\bffff[0-9a-f]{12}\\b");
	if (std::regex_search(readFile(file), address))
		return "shows an address";
	return "";
}

} // namespace

TEST_CASE("sysfs: unprivileged users write no attribute, and no attribute shows a secret", "[nobody][sysfs]")
{
	Rig rig;
	rig.connect();
	auto before = state(rig.host);
	auto files = ourFiles(rig.disk());
	REQUIRE(files.size() >
		60); // at least those of a subsystem, a controller, a disk with its queue, a path, and two modules
	for (auto &file : files) {
		INFO(file);
		struct stat st {};
		REQUIRE(::stat(file.c_str(), &st) == 0);
		CHECK((st.st_mode & 0022) == 0);
		auto base = file.substr(file.rfind('/') + 1);
		for (auto *word : {"key", "secret", "psk", "dhchap", "password"}) // no attribute may hold a secret
			CHECK(base.find(word) == std::string::npos);
	}
	for (auto who : strangers)
		CHECK(as(who, [&] {
			      int bad = 0;
			      for (auto &file : files)
				      if (auto what = wrong(file); !what.empty() && bad++ < 100)
					      std::printf("%s, as %s: %s\n", file.c_str(), name(who), what.c_str());
			      std::fflush(stdout);
			      return std::min(bad, 100);
		      }) == 0);
	CHECK(state(rig.host) == before);
}

TEST_CASE("sysfs: root without CAP_NET_ADMIN and CAP_SYS_ADMIN changes nothing", "[nobody][sysfs]")
{
	Rig rig;
	rig.connect();
	auto subsystem = "/sys/class/nvmeof-subsystem/" + take(rig.host.client().subsystems()).at(0).name;
	auto before = state(rig.host);
	const std::map<std::string, std::string> changes{{"iopolicy", "round-robin"}, {"spill_us", "77"},
							 {"fencing", "safe"},         {"quiesce_tmo", "3"},
							 {"degrade", "on"},           {"delayed_removal_secs", "9"}};
	for (auto capabilities : {0u, 1u << CAP_NET_ADMIN, 1u << CAP_SYS_ADMIN})
		for (auto &[name, value] : changes) {
			INFO(name << ", capabilities " << capabilities);
			auto pid = ::fork();
			if (pid == 0) {
				int fd = ::open((subsystem + "/" + name).c_str(), O_WRONLY);
				bool ready = fd >= 0 && setCapabilities(capabilities);
				auto written = ::write(fd, value.data(), value.size());
				::_exit(!ready ? preparation : written < 0 ? errno : 0);
			}
			int raw = 0;
			::waitpid(pid, &raw, 0);
			CHECK((WIFEXITED(raw) ? WEXITSTATUS(raw) : 255) == EPERM);
		}
	CHECK(state(rig.host) == before);
	writeFile(subsystem + "/spill_us", "77");
	CHECK(state(rig.host) != before);
}

TEST_CASE("tracefs is closed to unprivileged users", "[nobody][trace]")
{
	Rig rig;
	rig.connect();
	for (auto who : strangers)
		for (auto *file : {"/sys/kernel/tracing/events/nvmeof/enable", "/sys/kernel/tracing/trace_pipe",
				   "/sys/kernel/debug/tracing"}) {
			INFO(name(who) << ": " << file);
			CHECK(as(who, [&] { return openErrno(file, O_RDONLY); }) == EACCES);
		}
}

} // namespace guest::nobody
