// SPDX-License-Identifier: LGPL-2.1-or-later
// The generic netlink socket: requests and answers, or events. Nothing outside this class touches a file descriptor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nvmeof/result.h>

#include "attributes.h"
#include "request.h"

struct nl_sock;

namespace nofctl {

using Clock = std::chrono::steady_clock;

// Bound on a call that has no timeout of its own, and for which the kernel waits for nothing.
inline constexpr std::chrono::milliseconds callTimeout{60000};

// A moment @timeout from now; never for a negative one.
Clock::time_point deadlineIn(std::chrono::milliseconds timeout);

struct Notification {
	std::uint8_t command = 0;
	Attributes attributes;
};

// What receive() found. With lost set, the kernel has dropped some since the last call.
struct Notifications {
	std::vector<Notification> received;
	bool lost = false;
};

class Socket {
public:
	// noModule when there is no such family.
	static nvmeof::Result<Socket> open();

	Socket(Socket &&) noexcept = default;
	Socket &operator=(Socket &&) noexcept = default;

	// One request, and the messages that answer it. EALREADY has the name of the object that is in the way in
	// Error::object.
	nvmeof::Result<std::vector<Attributes>> call(Request request, Clock::time_point deadline);
	// A listing, asked for again a few times when something came or went meanwhile; the last has all that stayed.
	nvmeof::Result<std::vector<Attributes>> dump(Request request, Clock::time_point deadline);

	// From here on the socket is for events only.
	nvmeof::Result<void> joinEvents();
	// Nothing received when @deadline has passed first; noModule when the module is unloaded.
	nvmeof::Result<Notifications> receive(Clock::time_point deadline);
	// Throws away what has arrived so far.
	void drain();

	int fd() const;

private:
	struct Free {
		void operator()(nl_sock *socket) const;
	};
	struct Answer;

	Socket(nl_sock *socket) : socket_(socket) {}

	nvmeof::Result<std::uint32_t> send(Request &request, int flags);
	nvmeof::Result<Answer> exchange(Request &request, int flags, Clock::time_point deadline);

	std::unique_ptr<nl_sock, Free> socket_;
	std::uint16_t family_ = 0;
};

} // namespace nofctl
