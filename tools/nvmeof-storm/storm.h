// SPDX-License-Identifier: LGPL-2.1-or-later
// A run of all hosts from start to end, the changes that it makes, and what it costs a local process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "host.h"
#include "options.h"

namespace storm {

// Makes a change that hosts get an event for, and waits until it is made.
class Push {
public:
	virtual ~Push() = default;
	// Makes the change and waits for it. Empty: done; otherwise an error message
	virtual std::string make(unsigned round) = 0;
};

// Throws std::system_error if the socket cannot be connected.
std::unique_ptr<Push> makePush(const PushOptions &options);

// Resident memory of a local process in bytes; 0: unknown
std::uint64_t memoryOf(int pid);

// CPU time of a local process. The sum is measured by the kernel; its parts are estimated from user and system clock
// ticks, 100 per second.
struct CpuTime {
	std::chrono::nanoseconds sum{0};
	std::uint64_t userTicks = 0, systemTicks = 0;

	CpuTime operator-(const CpuTime &before) const
	{
		return {sum - before.sum, userTicks - before.userTicks, systemTicks - before.systemTicks};
	}
	std::chrono::nanoseconds user() const;
	std::chrono::nanoseconds system() const { return sum - user(); }
};
// Of all threads, including those that have exited; absent: no such process
std::optional<CpuTime> cpuTimeOf(int pid);

struct Outcome {
	Counts counts;
	KnownLogs logs;
	std::vector<std::uint64_t> acknowledged = {};    // per round: time until the change was made; microseconds
	std::uint64_t elapsed = 0;                       // microseconds until the last host had its log or had failed
	std::uint64_t memoryBefore = 0, memoryAfter = 0; // bytes
	// CPU time from the start until the last host had its log; of the service, if its process is known
	std::optional<CpuTime> serviceTime = {};
	CpuTime ownTime = {};
	std::string trouble = {}; // local error that ended the run
};

Outcome run(const Options &options);

} // namespace storm
