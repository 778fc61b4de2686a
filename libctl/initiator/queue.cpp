// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace initiator {

using namespace nofctl::wire;
using namespace std::chrono_literals;

namespace {

Failure protocolFailure(const PduFault &fault)
{
	return {fault.fes == fes_digest ? Reason::digest : Reason::protocol, Step::tcp, 0, fault.why};
}

int errorOf(int socket)
{
	int error = 0;
	socklen_t length = sizeof(error);
	::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
	return error ? error : ECONNRESET;
}

} // namespace

Queue::~Queue()
{
	close();
}

bool Queue::prepare(const Endpoint &to)
{
	if (fd_ >= 0)
		return true;
	fd_ = ::socket(to.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd_ < 0)
		return false;
	// event requests get no immediate response: Nagle would delay the command after them
	const int on = 1;
	::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return true;
}

void Queue::open(const Endpoint &to, Duration timeout)
{
	codec_.reset();
	if (!prepare(to))
		return failLater(errno);
	if (::connect(fd_, reinterpret_cast<const sockaddr *>(&to.address), to.length) && errno != EINPROGRESS)
		return failLater(errno);
	if (!shared_.poller.add(fd_, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, *this))
		return failLater(errno);
	state_ = State::connecting;
	wait(timeout);
}

// Deferred, so that open() never calls back before it returns.
void Queue::failLater(int error)
{
	state_ = State::failing;
	error_ = error;
	wait(0ms);
}

void Queue::close()
{
	if (ended_)
		*std::exchange(ended_, nullptr) = true;
	shared_.wheel.stop(*this);
	unsent_.reset();
	if (fd_ >= 0) {
		if (state_ == State::connecting || state_ == State::open)
			shared_.poller.remove(fd_, *this);
		::close(std::exchange(fd_, -1));
	}
	state_ = State::closed;
}

void Queue::fail(const Failure &failure)
{
	close();
	user_.failed(failure);
}

void Queue::onDeadline()
{
	if (state_ == State::failing)
		return fail(failureOfErrno(error_));
	fail({Reason::timedOut});
}

void Queue::greet(AdminCodec::Digests digests, Duration timeout)
{
	shared_.sent.clear();
	codec_.hello(shared_.sent, digests);
	send();
	wait(timeout);
}

void Queue::submit(Slot slot, const Command &cmd, Data data, std::uint32_t expected, Duration timeout)
{
	shared_.sent.clear();
	shared_.commands++;
	codec_.command(shared_.sent, slot, cmd, data, expected);
	send();
	if (slot == Slot::command)
		wait(timeout);
}

// The loop reports errors of the socket as well, so they are ignored here.
void Queue::send()
{
	if (shared_.sent.empty())
		return;
	if (unsent_)
		return keep(shared_.sent);
	shared_.writes++;
	const auto count = ::send(fd_, shared_.sent.data(), shared_.sent.size(), MSG_NOSIGNAL);
	const auto taken = static_cast<std::size_t>(count < 0 ? 0 : count);
	shared_.bytesOut += taken;
	if (taken < shared_.sent.size() && (count >= 0 || errno == EAGAIN || errno == EINTR))
		keep(Data(shared_.sent).subspan(taken));
}

void Queue::keep(Data rest)
{
	if (!unsent_)
		unsent_ = std::make_unique<Bytes>();
	append(*unsent_, rest);
}

void Queue::flush()
{
	const std::unique_ptr<Bytes> rest = std::move(unsent_);
	shared_.sent = *rest;
	send();
}

// False: a callback has closed the connection.
bool Queue::connected()
{
	state_ = State::open;
	shared_.wheel.stop(*this);
	bool ended = false;
	ended_ = &ended;
	user_.connected();
	if (!ended)
		ended_ = nullptr;
	return !ended;
}

void Queue::ready(std::uint32_t events)
{
	if (state_ == State::connecting && events & (EPOLLERR | EPOLLHUP))
		return fail(failureOfErrno(errorOf(fd_)));
	if (state_ == State::connecting && (!(events & EPOLLOUT) || !connected()))
		return;
	if (unsent_ && events & EPOLLOUT)
		flush();
	if (events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP))
		receive(events & (EPOLLRDHUP | EPOLLERR | EPOLLHUP));
}

void Queue::threw()
{
	ended_ = nullptr; // points into a function that was left by the exception
	fail({Reason::local, Step::tcp, 0, "a callback failed"});
}

// @toTheEnd: read until EOF, as edge-triggered epoll reports it only once. Otherwise a short read was the last one.
void Queue::receive(bool toTheEnd)
{
	for (;;) {
		const auto count = ::recv(fd_, shared_.received.data(), shared_.received.size(), 0);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count <= 0)
			return fail(count < 0 ? failureOfErrno(errno) : Failure{Reason::closed});
		const auto size = static_cast<std::size_t>(count);
		shared_.bytesIn += size;
		if (!take(Data(shared_.received).first(size)))
			return;
		if (size < shared_.received.size() && !toTheEnd)
			return;
	}
}

// False: the connection has ended.
bool Queue::take(Data bytes)
{
	bool ended = false;
	ended_ = &ended;
	for (;;) {
		shared_.sent.clear();
		const AdminCodec::Received received = codec_.next(bytes, shared_.sent);
		send();
		if (received.violation)
			user_.onViolation(received.violation);
		if (ended)
			return false;
		if (received.kind == AdminCodec::Kind::nothing && !received.violation)
			break;
		if (!tell(received) || ended)
			return false;
	}
	ended_ = nullptr;
	return true;
}

bool Queue::tell(const AdminCodec::Received &received)
{
	switch (received.kind) {
	case AdminCodec::Kind::nothing:
		break;
	case AdminCodec::Kind::ready:
		shared_.exchanges++;
		shared_.wheel.stop(*this);
		user_.ready();
		break;
	case AdminCodec::Kind::data:
		user_.data(received.offset, received.data);
		break;
	case AdminCodec::Kind::done:
		shared_.exchanges++;
		if (received.slot == Slot::command)
			shared_.wheel.stop(*this);
		user_.done(received.slot, received.completion);
		break;
	case AdminCodec::Kind::fault:
		fail(protocolFailure(received.fault));
		return false;
	case AdminCodec::Kind::terminated:
		fail({Reason::terminated, Step::tcp, received.fault.fes, ""});
		return false;
	}
	return true;
}

std::optional<Endpoint> Endpoint::of(const nvmeof::Address &address)
{
	addrinfo hints{}, *found = nullptr;
	hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
	hints.ai_socktype = SOCK_STREAM;
	if (::getaddrinfo(address.traddr.c_str(), address.trsvcid.c_str(), &hints, &found))
		return {};
	const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
	Endpoint endpoint;
	endpoint.length = std::min<socklen_t>(found->ai_addrlen, sizeof(endpoint.address));
	std::memcpy(&endpoint.address, found->ai_addr, endpoint.length);
	return endpoint;
}

} // namespace initiator
