// SPDX-License-Identifier: LGPL-2.1-or-later
#include "duration.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

std::string formatSeconds(std::chrono::milliseconds time)
{
	return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

std::string formatAge(std::chrono::nanoseconds age)
{
	constexpr std::int64_t hour = 3600, day = 24 * hour;
	std::int64_t seconds = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(age).count(), 0);
	if (seconds < 60)
		return fmt::format("{} s", seconds);
	if (seconds < hour)
		return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
	if (seconds < day)
		return fmt::format("{}:{:02} h", seconds / hour, seconds / 60 % 60);
	return fmt::format("{} d", seconds / day);
}
