// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests and answers, with a scripted kernel.
#include <catch2/catch.hpp>

#include <array>
#include <linux/netlink.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"
#include "libctl/netlink/socket.h"

using namespace nofctl;
using namespace std::chrono_literals;
using nvmeof::ErrorCode;

namespace {

Socket opened()
{
	return *Socket::open();
}

Clock::time_point soon()
{
	return deadlineIn(50ms);
}

// While it exists, poll(2) fails with EINVAL: RLIMIT_NOFILE also limits the number of its entries.
class FailingPoll {
public:
	FailingPoll()
	{
		::getrlimit(RLIMIT_NOFILE, &before_);
		rlimit none = before_;
		none.rlim_cur = 0;
		::setrlimit(RLIMIT_NOFILE, &none);
	}
	~FailingPoll() { ::setrlimit(RLIMIT_NOFILE, &before_); }
	FailingPoll(const FailingPoll &) = delete;

private:
	rlimit before_{};
};

// A channel that another process keeps readable
class FloodedChannel : public Channel {
public:
	FloodedChannel() { queue_.push(ENOBUFS); }

	int fd() const override { return queue_.fd; }
	std::uint16_t family() const override { return FakeKernel::family; }
	nvmeof::Result<void> send(std::span<const std::byte>) override { return {}; }
	nvmeof::Result<std::vector<std::byte>> receive() override { return nvmeof::errorFromErrno(EAGAIN); }
	nvmeof::Result<void> joinEnd() override { return {}; }
	nvmeof::Result<void> joinEvents() override { return {}; }

private:
	FakeQueue queue_;
};

// A netlink socket to which any process may send
class UserSocket {
public:
	UserSocket() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK))
	{
		sockaddr_nl any{};
		any.nl_family = AF_NETLINK;
		socklen_t size = sizeof(address_);
		bound_ = ::bind(fd_, reinterpret_cast<sockaddr *>(&any), sizeof(any)) == 0 &&
			 ::getsockname(fd_, reinterpret_cast<sockaddr *>(&address_), &size) == 0;
	}
	~UserSocket() { ::close(fd_); }
	UserSocket(const UserSocket &) = delete;

	int fd() const { return fd_; }
	bool bound() const { return bound_; }
	bool sendTo(const UserSocket &other)
	{
		const std::array<std::byte, 20> datagram{};
		return ::sendto(fd_, datagram.data(), datagram.size(), 0,
				reinterpret_cast<const sockaddr *>(&other.address_), sizeof(other.address_)) > 0;
	}

private:
	int fd_;
	bool bound_ = false;
	sockaddr_nl address_{};
};

} // namespace

TEST_CASE("answers arrive in any order, each for its request", "[socket]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_CTRL_DEL, {});
	Socket socket = opened();
	Socket::Id a = socket.startCall(Request(NVMEOF_CMD_CTRL_DEL)),
		   b = socket.startCall(Request(NVMEOF_CMD_CTRL_DEL));
	REQUIRE(socket.call(Request(NVMEOF_CMD_VERSION_GET), soon())); // answered before the other two
	CHECK_FALSE(socket.finished(a));
	REQUIRE(kernel.asked().size() == 3);
	kernel.acknowledge(kernel.asked()[1]);
	kernel.fail(kernel.asked()[0], EBUSY, "busy");
	socket.receive(10);
	auto second = socket.finished(b), first = socket.finished(a);
	REQUIRE((first && second));
	CHECK(second->ok());
	REQUIRE_FALSE(first->ok());
	CHECK(first->error().message == "busy");
	CHECK_FALSE(socket.finished(a)); // the result can be taken once
}

TEST_CASE("a late answer to an abandoned request is dropped", "[socket]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_CTRL_DEL, {});
	Socket socket = opened();
	auto late = socket.call(Request(NVMEOF_CMD_CTRL_DEL), deadlineIn(0ms));
	REQUIRE_FALSE(late);
	CHECK(late.error().code == ErrorCode::timedOut);
	kernel.fail(kernel.asked()[0], EIO);
	Asked stranger = kernel.asked()[0];
	stranger.sequence += 1000;
	kernel.fail(stranger, EIO);
	CHECK(socket.call(Request(NVMEOF_CMD_VERSION_GET), soon()));
}

TEST_CASE("an interrupted dump is repeated, with four attempts in all", "[socket]")
{
	FakeKernel kernel;
	kernel.controllers["nvmeof0c1"] = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
	int good = GENERATE(2, 4, 9);
	int tries = 0;
	kernel.on(NVMEOF_CMD_CTRL_GET, [&](const Asked &asked) {
		kernel.data(asked, NVMEOF_CMD_CTRL_GET, *kernel.controllers.begin()->second);
		kernel.done(asked, ++tries < good ? NLM_F_DUMP_INTR : 0);
	});
	Socket socket = opened();
	auto list = socket.dump(Request(NVMEOF_CMD_CTRL_GET), soon());
	REQUIRE(list);
	CHECK(list->size() == 1); // the results of earlier attempts are dropped
	CHECK(tries == std::min(good, 4));
}

TEST_CASE("dumps run one at a time, and an abandoned dump is read to its end", "[socket]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_CTRL_GET, {});
	Socket socket = opened();
	Socket::Id first = socket.startDump(Request(NVMEOF_CMD_CTRL_GET));
	Socket::Id second = socket.startDump(Request(NVMEOF_CMD_CTRL_GET));
	Socket::Id third = socket.startDump(Request(NVMEOF_CMD_CTRL_GET));
	CHECK(kernel.asked().size() == 1);
	socket.forget(first);
	socket.forget(second);
	CHECK(kernel.asked().size() == 1);
	kernel.done(kernel.asked()[0]);
	socket.receive(10);
	REQUIRE(kernel.asked().size() == 2);
	kernel.done(kernel.asked()[1]);
	socket.receive(10);
	auto list = socket.finished(third);
	REQUIRE(list);
	CHECK(list->ok());
}

TEST_CASE("lost answers and malformed messages fail all pending requests", "[socket]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_CTRL_DEL, {});
	kernel.on(NVMEOF_CMD_CTRL_GET, {});
	Socket socket = opened();
	Socket::Id call = socket.startCall(Request(NVMEOF_CMD_CTRL_DEL));
	Socket::Id dump = socket.startDump(Request(NVMEOF_CMD_CTRL_GET));
	auto queue = kernel.asked()[0].from;
	bool garbage = GENERATE(false, true);
	queue->push(garbage ? Arrival(std::vector<std::byte>(7)) : Arrival(ENOBUFS));
	socket.receive(10);
	auto first = socket.finished(call), second = socket.finished(dump);
	REQUIRE((first && second));
	CHECK_FALSE(first->ok());
	CHECK_FALSE(second->ok());
	CHECK(first->error().sysErrno == (garbage ? 0 : ENOBUFS));
	CHECK(socket.call(Request(NVMEOF_CMD_VERSION_GET), soon())); // the socket can still be used
}

TEST_CASE("a missing family and an unknown command are different errors", "[socket]")
{
	FakeKernel kernel;
	auto [number, missing] = GENERATE(table<int, int>({{ENOENT, ENOENT}, {EOPNOTSUPP, 0}}));
	kernel.on(NVMEOF_CMD_CTRL_DEL, [&kernel, n = number](const Asked &asked) { kernel.fail(asked, n); });
	Socket socket = opened();
	auto gone = socket.call(Request(NVMEOF_CMD_CTRL_DEL), soon());
	REQUIRE_FALSE(gone);
	CHECK(gone.error().code == ErrorCode::noModule);
	CHECK(gone.error().sysErrno == missing);
}

TEST_CASE("an error of poll is not reported as a timeout", "[socket]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_CTRL_DEL, {});
	Socket socket = opened();
	auto answer = [&] {
		FailingPoll failing;
		return socket.call(Request(NVMEOF_CMD_CTRL_DEL), soon());
	}();
	REQUIRE_FALSE(answer);
	CHECK(answer.error().sysErrno == EINVAL);
	CHECK(answer.error().code != ErrorCode::timedOut);
}

TEST_CASE("a call ends at its deadline while other datagrams keep arriving", "[socket]")
{
	Socket socket(std::make_unique<FloodedChannel>());
	auto answer = socket.call(Request(NVMEOF_CMD_CTRL_DEL), soon());
	REQUIRE_FALSE(answer);
	CHECK(answer.error().code == ErrorCode::timedOut);
}

TEST_CASE("datagrams of other processes are discarded, a few at each call", "[socket]")
{
	UserSocket here, other;
	REQUIRE(here.bound());
	REQUIRE(other.bound());
	constexpr int sent = 40;
	for (int i = 0; i < sent; i++)
		REQUIRE(other.sendTo(here));
	int calls = 0;
	for (auto left = waitReadable(here.fd(), deadlineIn(0ms)); left && *left && calls < sent;
	     left = waitReadable(here.fd(), deadlineIn(0ms))) {
		auto received = receiveDatagram(here.fd());
		REQUIRE_FALSE(received);
		CHECK(received.error().sysErrno == EAGAIN);
		calls++;
	}
	CHECK(calls == 3);
}
