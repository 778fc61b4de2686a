// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/socket.h>

#include "range_error.h"
#include "reply.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

constexpr int dumpTries = 4;         // for a list of one moment
constexpr int eventBuffer = 4 << 20; // bytes: some ten thousand events

Error libnlError(const char *what, int code)
{
	Error error;
	error.message = std::string(what) + ": " + nl_geterror(code);
	return error;
}

Error timedOut()
{
	return nvmeof::errorFromErrno(ETIMEDOUT, "no answer from the kernel in time");
}

// How long poll(2) may sleep; -1 for ever.
int pollTime(Clock::time_point deadline)
{
	if (deadline == Clock::time_point::max())
		return -1;
	auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
	return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3600 * std::int64_t(1000)));
}

// Readable (true), or past the deadline.
bool waitReadable(int fd, Clock::time_point deadline)
{
	for (;;) {
		pollfd entry{fd, POLLIN, 0};
		int n = ::poll(&entry, 1, pollTime(deadline));
		if (n > 0)
			return true;
		if (n == 0 && Clock::now() >= deadline)
			return false;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

// One datagram. errno EAGAIN when there is none, ENOBUFS when some were dropped.
Result<std::vector<std::byte>> receiveDatagram(int fd)
{
	std::vector<std::byte> datagram;
	for (;;) {
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
		if (size < 0 || from.nl_pid != 0) // not from the kernel: any process may send to our port
			continue;
		datagram.resize(static_cast<std::size_t>(size));
		return datagram;
	}
}

Error noFamily()
{
	Error error;
	error.code = ErrorCode::noModule;
	error.sysErrno = ENOENT;
	error.message = "kernel module nvmeof is not loaded";
	return error;
}

Error replyError(const Reply &reply, const Request &request)
{
	// the module has words for all that it refuses
	if (reply.sysErrno == ENOENT && reply.message.empty())
		return noFamily();
	if (std::optional<Error> range = rangeError(reply, request))
		return *range;
	Error error = nvmeof::errorFromErrno(reply.sysErrno, reply.message);
	error.object = nvmeof::ErrorObject::named(reply.cookie);
	if (reply.sysErrno == EOPNOTSUPP && reply.message.empty()) {
		error.code = ErrorCode::noModule;
		error.sysErrno = 0; // it is there
		error.message = "the loaded module does not know this command: it is older than this program";
	}
	return error;
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

// What has come back for one request so far.
struct Socket::Answer {
	std::vector<Attributes> messages;
	bool interrupted = false;
	bool finished = false;
	std::optional<Error> error;

	Result<void> take(const Reply &reply, const Request &request);
};

Result<void> Socket::Answer::take(const Reply &reply, const Request &request)
{
	interrupted |= reply.interrupted;
	switch (reply.kind) {
	case Reply::Kind::data: {
		Result<Attributes> attributes = Attributes::parse(reply.attributes);
		if (!attributes)
			return attributes.error();
		messages.push_back(*std::move(attributes));
		break;
	}
	case Reply::Kind::error:
		error = replyError(reply, request);
		[[fallthrough]];
	case Reply::Kind::ack:
	case Reply::Kind::done:
		finished = true;
		break;
	case Reply::Kind::overrun:
	case Reply::Kind::gone:
	case Reply::Kind::ignored:
		break;
	}
	return {};
}

void Socket::Free::operator()(nl_sock *socket) const
{
	nl_socket_free(socket);
}

int Socket::fd() const
{
	return nl_socket_get_fd(socket_.get());
}

Result<Socket> Socket::open()
{
	Socket opened(nl_socket_alloc());
	nl_sock *sk = opened.socket_.get();
	if (!sk)
		return nvmeof::errorFromErrno(ENOMEM);
	if (int code = genl_connect(sk); code < 0)
		return libnlError("cannot open a netlink socket", code);
	int family = genl_ctrl_resolve(sk, NVMEOF_GENL_NAME);
	if (family == -NLE_OBJ_NOTFOUND)
		return noFamily();
	if (family < 0)
		return libnlError("cannot find the kernel module", family);
	opened.family_ = static_cast<std::uint16_t>(family);
	int on = 1;
	::setsockopt(opened.fd(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	::setsockopt(opened.fd(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return opened;
}

Result<std::uint32_t> Socket::send(Request &request, int flags)
{
	if (!request.whole())
		return nvmeof::errorFromErrno(EMSGSIZE);
	nlmsghdr *header = nlmsg_hdr(request.get());
	header->nlmsg_type = family_;
	header->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
	header->nlmsg_seq = nl_socket_use_seq(socket_.get());
	header->nlmsg_pid = nl_socket_get_local_port(socket_.get());
	for (;;) {
		if (::send(fd(), header, header->nlmsg_len, 0) >= 0)
			return header->nlmsg_seq;
		if (errno != EINTR)
			return nvmeof::errorFromErrno(errno);
	}
}

Result<Socket::Answer> Socket::exchange(Request &request, int flags, Clock::time_point deadline)
{
	Result<std::uint32_t> sequence = send(request, flags);
	if (!sequence)
		return sequence.error();
	Answer answer;
	while (!answer.finished) {
		if (!waitReadable(fd(), deadline))
			return timedOut();
		Result<std::vector<std::byte>> datagram = receiveDatagram(fd());
		if (!datagram && datagram.error().sysErrno == EAGAIN)
			continue;
		if (!datagram)
			return datagram.error();
		Result<std::vector<Reply>> replies = splitReplies(*datagram, family_);
		if (!replies)
			return replies.error();
		for (const Reply &reply : *replies) {
			if (reply.sequence != *sequence)
				continue; // the late answer to a request that timed out
			if (Result<void> taken = answer.take(reply, request); !taken)
				return taken.error();
		}
	}
	return answer;
}

Result<std::vector<Attributes>> Socket::call(Request request, Clock::time_point deadline)
{
	Result<Answer> answer = exchange(request, NLM_F_ACK, deadline);
	if (!answer)
		return answer.error();
	if (!answer->error)
		return std::move(answer->messages);
	Error error = *answer->error;
	if (error.object.none() && !answer->messages.empty())
		if (auto name = answer->messages.front().find(NVMEOF_A_CTRL_NAME))
			error.object = nvmeof::ErrorObject::named(textOf(*name));
	return error;
}

Result<std::vector<Attributes>> Socket::dump(Request request, Clock::time_point deadline)
{
	// one that was interrupted has every object that stayed, once, and may have some that came or went
	for (int i = 1;; i++) {
		Result<Answer> answer = exchange(request, NLM_F_DUMP, deadline);
		if (!answer)
			return answer.error();
		if (answer->error)
			return *answer->error;
		if (!answer->interrupted || i == dumpTries)
			return std::move(answer->messages);
	}
}

Result<void> Socket::joinEvents()
{
	// The kernel takes the members of a group that goes out of it without a word: nlctrl's group has one. Both are
	// looked for first, as libnl takes what comes meanwhile for a wrong answer.
	int ends = genl_ctrl_resolve_grp(socket_.get(), "nlctrl", "notify");
	if (ends < 0)
		return libnlError("cannot find the group that tells the end of the module", ends);
	int group = genl_ctrl_resolve_grp(socket_.get(), NVMEOF_GENL_NAME, NVMEOF_MCGRP_EVENTS);
	if (group < 0)
		return libnlError("cannot find the event group", group);
	// Root may go past net.core.rmem_max; others get what it allows.
	int size = eventBuffer;
	if (::setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (int code = nl_socket_add_membership(socket_.get(), ends); code < 0)
		return libnlError("cannot subscribe to the end of the module", code);
	// From here on its end is told; if it came before, this fails. It goes first, as it throws events away.
	Result<std::vector<Attributes>> there = call(Request(NVMEOF_CMD_VERSION_GET), deadlineIn(callTimeout));
	if (!there)
		return there.error();
	if (int code = nl_socket_add_membership(socket_.get(), group); code < 0)
		return libnlError("cannot subscribe to events", code);
	return {};
}

Result<Notifications> Socket::receive(Clock::time_point deadline)
{
	Notifications notifications;
	if (!waitReadable(fd(), deadline))
		return notifications;
	Result<std::vector<std::byte>> datagram = receiveDatagram(fd());
	if (!datagram) {
		notifications.lost = datagram.error().sysErrno == ENOBUFS;
		if (notifications.lost || datagram.error().sysErrno == EAGAIN)
			return notifications;
		return datagram.error();
	}
	Result<std::vector<Reply>> replies = splitReplies(*datagram, family_);
	if (!replies)
		return replies.error();
	for (const Reply &reply : *replies) {
		if (reply.kind == Reply::Kind::gone)
			return noFamily();
		notifications.lost |= reply.kind == Reply::Kind::overrun;
		if (reply.kind != Reply::Kind::data)
			continue;
		Result<Attributes> attributes = Attributes::parse(reply.attributes);
		if (!attributes)
			return attributes.error();
		notifications.received.push_back({reply.command, *std::move(attributes)});
	}
	return notifications;
}

void Socket::drain()
{
	for (;;) {
		Result<std::vector<std::byte>> datagram = receiveDatagram(fd());
		if (!datagram && datagram.error().sysErrno != ENOBUFS)
			return;
	}
}

} // namespace nofctl
