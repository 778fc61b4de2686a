// SPDX-License-Identifier: LGPL-2.1-or-later
// Random netlink messages to the family from several senders at a time, beside a controller under verified load:
// nothing breaks, every reply is well formed, and an unprivileged sender changes nothing.
//
// NVMEOF_FUZZ_MESSAGES: number of messages [20000]; NVMEOF_FUZZ_SEED: seed, printed
#include "fuzz_sender.h"
#include "netlink_table.h"
#include "support/reproduce.h"
#include "support/kernel_log.h"
#include "support/multi.h"
#include "support/rig.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <grp.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

namespace guest::fuzz_netlink {

using nvmeof::ControllerState;

namespace {

constexpr unsigned senders = 4;
constexpr std::size_t maxControllers = 6; // further ones are removed
constexpr ::uid_t nobody = 65534;

std::uint64_t messages()
{
	return std::stoull(environment("NVMEOF_FUZZ_MESSAGES", "20000"));
}

// A subsystem that random messages may connect to, next to the one of the load
struct SecondSubsystem {
	Loop backing{16 << 20};
	nvmet::Subsystem subsystem{"nqn.2024-01.io.nvmeof:decoy"};
	nvmet::Port &port;

	explicit SecondSubsystem(nvmet::Port &at) : port(at)
	{
		subsystem.addNamespace(1, backing.device());
		port.link(subsystem);
	}
	~SecondSubsystem() { port.unlink(subsystem); }
};

// Bounds the number of controllers that random messages create.
class ControllerLimiter {
public:
	explicit ControllerLimiter(std::string spared)
		: spared_(std::move(spared)), thread_([this](auto stop) { run(stop); })
	{
	}
	std::uint64_t removed() const { return removed_; }

private:
	void run(std::stop_token stop)
	{
		auto client = take(nvmeof::Client::open());
		while (!stop.stop_requested()) {
			auto all = client.controllers();
			for (std::size_t i = 0; all && all->size() > maxControllers && i < all->size(); i++)
				if ((*all)[i].name != spared_ && client.disconnect((*all)[i].name))
					removed_++;
			std::this_thread::sleep_for(100ms);
		}
	}

	std::string spared_;
	std::atomic<std::uint64_t> removed_{0};
	std::jthread thread_;
};

// Joins and leaves random multicast groups, and never reads the events.
void joinAtRandom(std::stop_token stop, std::uint64_t seed)
{
	constexpr int solNetlink = 270;
	target::Random random{seed, 0x6a6f696e};
	auto events = FuzzSocket::events();
	std::vector<std::unique_ptr<FuzzSocket>> sockets;
	while (!stop.stop_requested()) {
		if (sockets.size() > 20)
			sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(random.below(sockets.size())));
		sockets.push_back(std::make_unique<FuzzSocket>(random.oneIn(2), false));
		auto &socket = *sockets[random.below(sockets.size())];
		auto group = static_cast<int>(random.oneIn(2) ? events : random.interesting(32, events));
		::setsockopt(socket.fd(), solNetlink,
			     random.oneIn(4) ? NETLINK_DROP_MEMBERSHIP : NETLINK_ADD_MEMBERSHIP, &group, sizeof(group));
		if (random.oneIn(4)) {
			sockaddr_nl name{AF_NETLINK, 0, static_cast<std::uint32_t>(random.next()),
					 static_cast<std::uint32_t>(random.next())};
			::bind(socket.fd(), reinterpret_cast<sockaddr *>(&name), sizeof(name));
		}
		std::this_thread::sleep_for(Millis(random.below(20)));
	}
}

// The state of all objects that a message could change
std::string state(nvmeof::Client &client)
{
	std::string text;
	for (auto &s : take(client.subsystems()))
		text += s.name + " " + s.nqn + " " + s.iopolicy + " " + std::to_string(s.controllers) + "; ";
	for (auto &c : take(client.controllers()))
		text += c.name + " " + toString(c.state) + " " + std::to_string(c.reconnects) + " " +
			std::to_string(c.reconnectDelay.count()) + " " + std::to_string(c.ctrlLoss.count()) + " " +
			std::to_string(c.fastIoFail.count()) + " " + std::to_string(c.stallTimeout.count()) + "; ";
	return text;
}

void writeTo(const char *path, const std::string &text)
{
	int fd = ::open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
		throw std::system_error(errno, std::generic_category(), path);
	::close(fd);
}

void becomeNobody()
{
	if (::setgroups(0, nullptr) || ::setresgid(nobody, nobody, nobody) || ::setresuid(nobody, nobody, nobody))
		throw std::system_error(errno, std::generic_category(), "setresuid");
	::prctl(PR_SET_DUMPABLE, 1); // so that it owns /proc/self again
}

// All capabilities, but only in its own user and network namespace
void becomeRootOfANamespace()
{
	becomeNobody();
	if (::unshare(CLONE_NEWUSER | CLONE_NEWNET))
		throw std::system_error(errno, std::generic_category(), "unshare");
	writeTo("/proc/self/setgroups", "deny");
	writeTo("/proc/self/uid_map", "0 " + std::to_string(nobody) + " 1");
	writeTo("/proc/self/gid_map", "0 " + std::to_string(nobody) + " 1");
}

// Returns 0 if each message was handled correctly.
int fuzzAsNobody(const char *who, std::uint64_t number)
{
	FuzzSender sender(number, 99, {{}, false});
	sender.run(messages() / 4);
	sender.table().print(("fuzz_netlink, " + std::string(who)).c_str());
	for (auto &text : sender.faults())
		std::printf("fuzz_netlink: FAILED %s: %s\n", who, text.c_str());
	return !sender.faults().empty();
}

// Runs in a child process, because credentials belong to a process. Returns its exit status, or -1.
int asAnother(void (*become)(), const char *who, std::uint64_t number)
{
	std::fflush(stdout);
	auto pid = ::fork();
	if (pid == 0) {
		int status = 2;
		try {
			become();
			status = fuzzAsNobody(who, number);
		} catch (const std::exception &e) {
			std::printf("fuzz_netlink: FAILED %s: %s\n", who, e.what());
		}
		std::fflush(stdout);
		::_exit(status);
	}
	int status = -1;
	::waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs several senders at a time. Returns the sum of their tables.
FuzzTable fuzzAsRoot(std::uint64_t number, const FuzzProtected &taboo)
{
	std::vector<std::unique_ptr<FuzzSender>> all;
	for (unsigned i = 0; i < senders; i++)
		all.push_back(std::make_unique<FuzzSender>(number, i, FuzzRules{taboo, true}));
	{
		std::vector<std::jthread> threads;
		for (auto &sender : all)
			threads.emplace_back([&sender] { sender->run(messages() / senders); });
	}
	FuzzTable sum;
	for (auto &sender : all) {
		sum.add(sender->table());
		for (auto &text : sender->faults())
			FAIL_CHECK(text);
	}
	return sum;
}

} // namespace

TEST_CASE("random netlink messages by root break nothing", "[fuzz][netlink]")
{
	Rig rig;
	SecondSubsystem decoy(rig.port);
	auto number = seedFrom("NVMEOF_FUZZ_SEED");
	auto c = rig.connect();
	FioLoad load({.file = rig.disk(), .depth = 4, .size = "8m", .seconds = 3600, .more = "--rate_iops=200"});
	FuzzProtected taboo{c.name, c.subsystem};
	Stopwatch time;
	FuzzTable table;
	{
		ControllerLimiter gardener(c.name);
		std::jthread joining(joinAtRandom, number);
		table = fuzzAsRoot(number, taboo);
	}
	auto seconds = static_cast<double>(time.elapsed().count()) / 1000;
	table.print("fuzz_netlink, root");
	std::printf("fuzz_netlink: %.0f messages/s\n", static_cast<double>(table.total()) / seconds);
	expectGoodUntilNow(load);
	CHECK(rig.host.state(c.name) == ControllerState::live);
	CHECK(rig.host.controller(c.name).reconnects == 0);
	// Random messages may have set a removal delay of days.
	nvmeof::SubsystemSettings atOnce;
	atOnce.delayedRemoval = 0s;
	for (auto &s : take(rig.host.client().subsystems()))
		(void)rig.host.client().set(s.name, atOnce);
	for (auto &other : take(rig.host.client().controllers()))
		if (other.name != c.name)
			(void)rig.host.client().disconnect(other.name); // it may be gone already
	CHECK(eventually([&] { return take(rig.host.client().controllers()).size() == 1; }));
	if (messages() < 20000)
		return;
	for (auto &command : spec::commands) // each command was accepted at least once
		if (!command.event) {
			INFO(command.name);
			CHECK(table.count(command.id, 0) > 0);
		}
}

TEST_CASE("random netlink messages by unprivileged senders change nothing", "[fuzz][netlink][nobody]")
{
	Rig rig;
	auto number = seedFrom("NVMEOF_FUZZ_SEED");
	auto o = rig.options();
	o.keepAlive = scaled(5s);
	rig.host.connect(o);
	auto before = state(rig.host.client());
	FioLoad load({.file = rig.disk(), .depth = 4, .size = "8m", .seconds = 3600, .more = "--rate_iops=200"});
	CHECK(asAnother(becomeNobody, "nobody", number) == 0);
	CHECK(asAnother(becomeRootOfANamespace, "root of a user namespace", number) == 0);
	expectGoodUntilNow(load);
	CHECK(state(rig.host.client()) == before);
}

TEST_CASE("a malformed answer is found", "[fuzz][check]")
{
	const FuzzSocket reader(true, false), writer(true, false); // root may send to the port of another process
	sockaddr_nl to{};
	to.nl_family = AF_NETLINK;
	socklen_t size = sizeof(to);
	REQUIRE(::bind(reader.fd(), reinterpret_cast<sockaddr *>(&to), sizeof(to)) == 0);
	REQUIRE(::getsockname(reader.fd(), reinterpret_cast<sockaddr *>(&to), &size) == 0);
	auto read = [&](std::uint16_t type, std::uint32_t length, const Octets &body = {}) {
		const nlmsghdr head{length, type, 0, 7, 0};
		Octets bytes(sizeof(head) + body.size());
		std::memcpy(bytes.data(), &head, sizeof(head));
		std::ranges::copy(body, bytes.begin() + sizeof(head));
		REQUIRE(::sendto(writer.fd(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr *>(&to),
				 sizeof(to)) == static_cast<ssize_t>(bytes.size()));
		return reader.read(1000);
	};
	auto acknowledgement = [](int error) {
		nlmsgerr body{};
		body.error = error;
		Octets bytes(sizeof(body));
		std::memcpy(bytes.data(), &body, sizeof(body));
		return bytes;
	};
	constexpr std::uint32_t header = sizeof(nlmsghdr), whole = header + sizeof(nlmsgerr);
	auto good = read(NLMSG_ERROR, whole, acknowledgement(-EPERM));
	CHECK(good.fault == "");
	REQUIRE(good.answers.size() == 1);
	CHECK(good.answers[0].seq == 7);
	CHECK(good.answers[0].error == EPERM);
	CHECK(read(NLMSG_NOOP, header).fault == "");
	CHECK(read(NLMSG_NOOP, header - 1).fault == "message lengths that do not add up");
	CHECK(read(NLMSG_NOOP, header + 1).fault == "message lengths that do not add up");
	CHECK(read(NLMSG_NOOP, header, Octets(4)).fault == "bytes behind the last message");
	CHECK(read(NLMSG_MIN_TYPE - 1, header).fault == "a message of type 15");
	CHECK(read(NLMSG_ERROR, header).fault == "a short acknowledgement");
	CHECK(read(NLMSG_ERROR, whole, acknowledgement(5)).fault == "errno 5");
	CHECK(read(NLMSG_DONE, header).fault == "a short end of a dump");
	CHECK(read(FuzzSocket::family(), header).fault == "a message without its header");
	CHECK(read(FuzzSocket::family(), header + 4, {255, 1, 0, 0}).fault == "a message with unknown command 255");
}

TEST_CASE("a change by a sender that must not change anything is found", "[fuzz][check]")
{
	KernelLog log;
	Host host;
	FuzzSender honest(1, 0, {{}, true});
	honest.run(200);
	CHECK(honest.faults().empty());
	// root, judged by the rules for unprivileged senders
	FuzzSender root(1, 0, {{}, false});
	root.run(400);
	CHECK_FALSE(root.faults().empty());
	CHECK(take(host.client().disconnectAll()).outcome());
	CHECK(log.alarms().empty());
}

} // namespace guest::fuzz_netlink
