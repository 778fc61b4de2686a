// SPDX-License-Identifier: LGPL-2.1-or-later
// Logs messages: to the journal with fields if stderr is connected to it, else to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace runtime {

// Journal fields of a message: NVMEOF_NQN=, NVMEOF_SERVICE=, NVMEOF_CONTROLLER=, NVMEOF_ADDRESS=; empty ones are
// omitted
struct Fields {
	std::string nqn = {};
	std::string service = {};
	std::string controller = {};
	std::string address = {};
};

// @priority: from syslog.h, as LOG_ERR. Control characters are replaced, as strings may come from a target.
void say(int priority, std::string_view message, const Fields &fields = {});

/*
 * Rate limit for messages that a peer can cause: a number of lines per interval, from any thread. The next line that is
 * logged has the number of suppressed ones.
 */
class LogLimit {
public:
	using Clock = std::chrono::steady_clock;

	explicit LogLimit(unsigned lines = 10, std::chrono::seconds interval = std::chrono::seconds(10))
		: max_(lines), interval_(interval)
	{
	}
	// Whether a line may be logged at @now. @leftOut: number of lines suppressed since the last one that was logged
	bool allow(std::uint64_t &leftOut, Clock::time_point now = Clock::now());
	// Whether the limit is reached at @now, so that the caller need not format a line.
	bool full(Clock::time_point now = Clock::now());

private:
	const unsigned max_;
	const std::chrono::seconds interval_;
	std::mutex mutex_;
	Clock::time_point begun_{};
	unsigned lines_ = 0; // since begun_
	std::uint64_t leftOut_ = 0;
};

void say(LogLimit &limit, int priority, std::string_view message, const Fields &fields = {});

} // namespace runtime
