// SPDX-License-Identifier: LGPL-2.1-or-later
// What a service says: to the journal with fields, where that is where its stderr goes, else to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace serving {

// Of a message, as journal fields NVMEOF_NQN=, NVMEOF_SERVICE=, NVMEOF_CONTROLLER=, NVMEOF_ADDRESS=; what is empty is
// not there
struct Fields {
	std::string nqn = {};
	std::string service = {};
	std::string controller = {};
	std::string address = {};
};

// @priority: LOG_ERR and so on, of syslog.h. Control characters, which a target may have sent, are replaced.
void say(int priority, std::string_view message, const Fields &fields = {});

/*
 * How often a message may be logged that peers can cause: so many lines in a while, from any thread. The first line
 * after that tells how many were left out.
 */
class LogLimit {
public:
	using Clock = std::chrono::steady_clock;

	explicit LogLimit(unsigned lines = 10, std::chrono::seconds interval = std::chrono::seconds(10))
		: most_(lines), interval_(interval)
	{
	}
	// Whether a line may be logged at @now. @leftOut: how many were not since the last one that was
	bool allow(std::uint64_t &leftOut, Clock::time_point now = Clock::now());
	// Whether none may be logged at @now: a line need not be made then.
	bool full(Clock::time_point now = Clock::now());

private:
	const unsigned most_;
	const std::chrono::seconds interval_;
	std::mutex mutex_;
	Clock::time_point begun_{};
	unsigned lines_ = 0; // since begun_
	std::uint64_t leftOut_ = 0;
};

void say(LogLimit &limit, int priority, std::string_view message, const Fields &fields = {});

} // namespace serving
