// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Watches thousands of descriptors. sd-event makes a system call per event and uses some hundred bytes per descriptor;
 * a Poller is one event source of a loop, and one epoll_wait() returns the events of many descriptors.
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
		virtual void ready(std::uint32_t events) = 0; // epoll events. May remove any handler, including itself.
		virtual void threw() = 0;                     // called after ready() has thrown: close the descriptor

	protected:
		~Handler() = default;
	};

	explicit Poller(Loop &loop); // throws std::system_error
	~Poller();
	Poller(const Poller &) = delete;
	Poller &operator=(const Poller &) = delete;

	// False: errno has the reason
	bool add(int fd, std::uint32_t events, Handler &handler);
	void want(int fd, std::uint32_t events, Handler &handler);
	// Called before the descriptor is closed. No events are delivered afterwards.
	void remove(int fd, const Handler &handler);

private:
	void poll();

	int fd_;
	std::array<epoll_event, 256> events_;
	std::size_t next_ = 0, count_ = 0; // range of events_ that is still to be delivered
	Handler *current_ = nullptr;       // handler whose ready() is running; null if it was removed
	Readable readable_;
};

} // namespace serving
