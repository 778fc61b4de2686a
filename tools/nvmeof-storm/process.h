// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory and CPU time of a local process
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace storm {

// Resident memory in bytes; 0: unknown
std::uint64_t memoryOf(int pid);

// The sum is measured by the kernel; its parts are estimated from user and system clock ticks, 100 per second.
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

} // namespace storm
