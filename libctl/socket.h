// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests and their answers over one channel. Many calls may be under way: the kernel answers some of them later than
// those that come after. Of lists one is under way at a time, which is netlink's rule; the others wait here.
#pragma once

#include <map>
#include <optional>

#include "attributes.h"
#include "channel.h"
#include "reply.h"
#include "request.h"

namespace nofctl {

// Bound on a call that has no timeout of its own, and for which the kernel waits for nothing.
inline constexpr std::chrono::milliseconds callTimeout{60000};

// The messages that answer a request. EALREADY has the object that is in the way in Error::object.
using Messages = nvmeof::Result<std::vector<Attributes>>;

class Socket {
public:
	using Id = std::uint32_t; // of a request under way; never 0

	// noModule when there is no such family.
	static nvmeof::Result<Socket> open();
	explicit Socket(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

	Socket(Socket &&) noexcept = default;
	Socket &operator=(Socket &&) noexcept = default;

	// Without waiting. A list is asked for again a few times when something came or went meanwhile; the last one
	// has all that stayed.
	Id startCall(Request request) { return start(std::move(request), false); }
	Id startDump(Request request) { return start(std::move(request), true); }
	// Reads at most @most datagrams. False: there is nothing more now. What is wrong with the socket is the answer
	// to all that was under way.
	bool receive(int most);
	// The answer, once it is there; then the request is forgotten.
	std::optional<Messages> finished(Id id);
	// Nobody wants the answer any more.
	void forget(Id id);

	// The same, waiting. Answers to other requests are kept for whoever asks.
	Messages call(Request request, Clock::time_point deadline)
	{
		return wait(startCall(std::move(request)), deadline);
	}
	Messages dump(Request request, Clock::time_point deadline)
	{
		return wait(startDump(std::move(request)), deadline);
	}

	int fd() const { return channel_->fd(); }

private:
	struct Exchange {
		Request request;
		bool dump = false;
		bool forgotten = false;
		int tries = 0;
		bool interrupted = false;
		std::vector<Attributes> messages{};
		std::optional<nvmeof::Error> error{};
		bool finished = false;
	};

	Id start(Request request, bool dump);
	Messages wait(Id id, Clock::time_point deadline);
	void send(Id id, Exchange &exchange);
	void nextDump();
	void take(const Reply &reply);
	void take(const Reply &reply, Exchange &exchange);
	void end(Id id, Exchange &exchange);
	void failAll(const nvmeof::Error &error);

	std::unique_ptr<Channel> channel_;
	Id lastId_ = 0;
	std::uint32_t sequence_ = 0;
	std::map<Id, Exchange> exchanges_;
	std::map<std::uint32_t, Id> sent_; // by sequence number; not those that are answered
	std::vector<Id> dumps_;            // the first one is under way; a deque allocates when it is moved
};

} // namespace nofctl
