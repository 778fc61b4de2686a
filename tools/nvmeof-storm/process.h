// SPDX-License-Identifier: LGPL-2.1-or-later
// A process on this machine, by its number: what it has taken so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace storm {

// Resident bytes; 0: it does not tell
std::uint64_t memoryOf(int pid);

// Of processors. The kernel measures the sum; user and system are told apart by clock ticks, 100 a second.
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
// All threads, also those that have ended; nothing: there is no such process
std::optional<CpuTime> cpuTimeOf(int pid);

} // namespace storm
