// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptors by the thousand. sd-event asks the kernel once for each event that it hands out, and keeps some hundred
 * bytes for each descriptor; here one source of a loop stands for all of them, and one call brings what many have to
 * tell.
 */
#pragma once

#include <array>
#include <cstdint>

#include <sys/epoll.h>

#include "loop.h"

namespace serving {

class Poller {
public:
	class Handler {
	public:
		virtual void ready(std::uint32_t events) = 0; // EPOLLIN and so on. It may end any handler, itself too.
		virtual void threw() = 0;                     // ready() has thrown: the descriptor is to be closed

	protected:
		~Handler() = default;
	};

	explicit Poller(Loop &loop); // throws std::system_error
	~Poller();
	Poller(const Poller &) = delete;
	Poller &operator=(const Poller &) = delete;

	// False: errno tells why
	bool add(int fd, std::uint32_t events, Handler &handler);
	void want(int fd, std::uint32_t events, Handler &handler);
	// Before the descriptor is closed. Nothing is told of it from then on.
	void remove(int fd, const Handler &handler);

private:
	void poll();

	int fd_;
	std::array<epoll_event, 256> events_;
	std::size_t next_ = 0, count_ = 0; // of events_, that are being told
	Handler *current_ = nullptr;       // whose ready() runs, unless it was removed in it
	Readable readable_;
};

} // namespace serving
