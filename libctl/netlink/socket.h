// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests and their answers over one channel. Several calls may be outstanding; the kernel may answer them out of
// order. Netlink allows only one dump at a time per socket, so further dumps are queued here.
#pragma once

#include <map>
#include <optional>

#include <nvmeof/error.h>

#include "channel.h"
#include "message.h"

namespace nofctl {

// Time limit of a call that does not block in the kernel and has no timeout of its own.
inline constexpr std::chrono::milliseconds callTimeout{60000};

// The messages that answer a request. For EALREADY, Error::object names the existing object.
using Messages = nvmeof::Result<std::vector<Attributes>>;

class Socket {
public:
	using Id = std::uint32_t; // an outstanding request; never 0

	// noModule if the family does not exist.
	static nvmeof::Result<Socket> open();
	explicit Socket(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}

	Socket(Socket &&) noexcept = default;
	Socket &operator=(Socket &&) noexcept = default;

	// Start without blocking. A dump during which objects were added or removed is repeated a few times; the last
	// one has all objects that stayed.
	Id startCall(Request request) { return start(std::move(request), false); }
	Id startDump(Request request) { return start(std::move(request), true); }
	// Reads at most @max datagrams. False: no more are queued. A socket error becomes the answer to all
	// outstanding requests.
	bool receive(int max);
	// The answer, once it is complete; then the request is deleted.
	std::optional<Messages> finished(Id id);
	// Discards the request and its answer.
	void forget(Id id);

	// Blocking forms. Answers to other requests stay available to finished(). timedOut at the deadline.
	Messages wait(Id id, Clock::time_point deadline);
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
	std::map<std::uint32_t, Id> sent_; // by sequence number; unanswered requests only
	std::vector<Id> dumps_;            // the first one is outstanding; a deque would allocate when moved
};

// For a number out of range, an error that names the option or setting and its valid range: the kernel reports only
// "integer out of range" and the attribute. Nothing: @reply has another cause.
std::optional<nvmeof::Error> rangeError(const Reply &reply, const Request &request);

} // namespace nofctl
