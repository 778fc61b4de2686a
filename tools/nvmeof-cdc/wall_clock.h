// SPDX-License-Identifier: LGPL-2.1-or-later
// Wall-clock time since 1970, which may jump: for display, and for values that outlive a restart.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

namespace cdc {

inline double wallSeconds()
{
	return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

inline std::int64_t wallMs()
{
	const auto now = std::chrono::system_clock::now().time_since_epoch();
	return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Since boot, with the time asleep; never set
inline double bootSeconds()
{
	timespec now{};
	::clock_gettime(CLOCK_BOOTTIME, &now);
	return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Detects that the wall clock was set, by comparing it with the time since boot.
class ClockJump {
public:
	// Seconds by which it was set forward (negative: back) since the last call
	double since(double wall, double boot)
	{
		const double before = std::exchange(offset_, wall - boot).value_or(wall - boot);
		return *offset_ - before;
	}

private:
	std::optional<double> offset_;
};

} // namespace cdc
