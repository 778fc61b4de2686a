// SPDX-License-Identifier: LGPL-2.1-or-later
#include "channel.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

#include <linux/nvmeof.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/socket.h>

namespace nofctl {

using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

constexpr int eventBuffer = 4 << 20; // bytes: about 10,000 events
constexpr int mostForeign = 16;      // datagrams of other processes that one call discards

Kernel *replaced = nullptr;

// Timeout for poll(2), ms; -1: no limit.
int pollTime(Clock::time_point deadline)
{
	if (deadline == Clock::time_point::max())
		return -1;
	auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
	return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3600 * std::int64_t(1000)));
}

class NetlinkChannel : public Channel {
public:
	static Result<std::unique_ptr<Channel>> open(ChannelUse use);

	int fd() const override { return nl_socket_get_fd(socket_.get()); }
	std::uint16_t family() const override { return family_; }
	Result<void> send(std::span<const std::byte> message) override;
	Result<std::vector<std::byte>> receive() override { return receiveDatagram(fd()); }
	Result<void> joinEnd() override { return join(end_, "cannot subscribe to the end of the module"); }
	Result<void> joinEvents() override { return join(events_, "cannot subscribe to events"); }

private:
	struct Free {
		void operator()(nl_sock *socket) const { nl_socket_free(socket); }
	};

	NetlinkChannel() : socket_(nl_socket_alloc()) {}
	Result<void> connect();
	Result<void> prepareEvents();
	Result<void> join(int group, const char *what);

	std::unique_ptr<nl_sock, Free> socket_;
	std::uint16_t family_ = 0;
	int end_ = 0, events_ = 0; // multicast group numbers
};

Result<void> NetlinkChannel::connect()
{
	nl_sock *sk = socket_.get();
	if (!sk)
		return nvmeof::errorFromErrno(ENOMEM);
	if (int code = genl_connect(sk); code < 0)
		return libnlError("cannot open a netlink socket", code);
	int family = genl_ctrl_resolve(sk, NVMEOF_GENL_NAME);
	if (family == -NLE_OBJ_NOTFOUND)
		return noFamily();
	if (family < 0)
		return libnlError("cannot find the kernel module", family);
	family_ = static_cast<std::uint16_t>(family);
	int on = 1;
	::setsockopt(fd(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	::setsockopt(fd(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return {};
}

// Both groups are resolved before any join: libnl would take a notification for a wrong answer.
Result<void> NetlinkChannel::prepareEvents()
{
	end_ = genl_ctrl_resolve_grp(socket_.get(), "nlctrl", "notify");
	if (end_ < 0)
		return libnlError("cannot find the multicast group for the end of the module", end_);
	events_ = genl_ctrl_resolve_grp(socket_.get(), NVMEOF_GENL_NAME, NVMEOF_MCGRP_EVENTS);
	if (events_ < 0)
		return libnlError("cannot find the event group", events_);
	// With CAP_NET_ADMIN the size may exceed net.core.rmem_max; otherwise that limit applies.
	int size = eventBuffer;
	if (::setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	return {};
}

Result<std::unique_ptr<Channel>> NetlinkChannel::open(ChannelUse use)
{
	std::unique_ptr<NetlinkChannel> channel(new NetlinkChannel());
	if (Result<void> connected = channel->connect(); !connected)
		return connected.error();
	if (use == ChannelUse::events)
		if (Result<void> prepared = channel->prepareEvents(); !prepared)
			return prepared.error();
	return std::unique_ptr<Channel>(std::move(channel));
}

Result<void> NetlinkChannel::join(int group, const char *what)
{
	int code = nl_socket_add_membership(socket_.get(), group);
	return code < 0 ? Result<void>(libnlError(what, code)) : Result<void>();
}

Result<void> NetlinkChannel::send(std::span<const std::byte> message)
{
	while (::send(fd(), message.data(), message.size(), 0) < 0)
		if (errno != EINTR)
			return nvmeof::errorFromErrno(errno);
	return {};
}

} // namespace

Clock::time_point deadlineIn(std::chrono::milliseconds timeout)
{
	auto now = Clock::now();
	if (timeout.count() < 0 ||
	    timeout >= std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now))
		return Clock::time_point::max();
	return now + timeout;
}

Result<bool> waitReadable(int fd, Clock::time_point deadline)
{
	for (;;) {
		pollfd entry{fd, POLLIN, 0};
		int n = ::poll(&entry, 1, pollTime(deadline));
		if (n > 0)
			return true;
		if (n == 0 && Clock::now() >= deadline)
			return false;
		if (n < 0 && errno != EINTR)
			return nvmeof::errorFromErrno(errno);
	}
}

Result<std::vector<std::byte>> receiveDatagram(int fd)
{
	std::vector<std::byte> datagram;
	for (int foreign = 0; foreign < mostForeign;) {
		ssize_t size = ::recv(fd, nullptr, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return nvmeof::errorFromErrno(errno);
		datagram.resize(std::max<std::size_t>(static_cast<std::size_t>(size), 1));
		sockaddr_nl from{};
		socklen_t fromLength = sizeof(from);
		size = ::recvfrom(fd, datagram.data(), datagram.size(), MSG_DONTWAIT,
				  reinterpret_cast<sockaddr *>(&from), &fromLength);
		if (size < 0 && errno != EINTR)
			return nvmeof::errorFromErrno(errno);
		if (size < 0)
			continue;
		if (from.nl_pid == 0) { // from the kernel
			datagram.resize(static_cast<std::size_t>(size));
			return datagram;
		}
		foreign++;
	}
	return nvmeof::errorFromErrno(EAGAIN);
}

Error libnlError(const char *what, int code)
{
	Error error;
	error.message = std::string(what) + ": " + nl_geterror(code);
	return error;
}

Error noFamily()
{
	Error error;
	error.code = ErrorCode::noModule;
	error.sysErrno = ENOENT;
	error.message = "kernel module nvmeof is not loaded";
	return error;
}

Result<std::unique_ptr<Channel>> openChannel(ChannelUse use)
{
	return replaced ? replaced->open(use) : NetlinkChannel::open(use);
}

void replaceChannelFactory(Kernel *kernel)
{
	replaced = kernel;
}

} // namespace nofctl
