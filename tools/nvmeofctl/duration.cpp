// SPDX-License-Identifier: LGPL-2.1-or-later
#include "duration.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "args.h"

nvmeof::Result<std::chrono::milliseconds> parseSeconds(std::string_view text, Never never)
{
	if (text == "-1" && never == Never::allowed)
		return std::chrono::milliseconds(-1);
	double seconds = 0;
	const char *end = text.data() + text.size();
	auto [stop, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
	bool number = error == std::errc() && stop == end && std::isfinite(seconds) && !std::signbit(seconds);
	if (!number)
		return usageError(fmt::format("'{}' is not a number of seconds{}", text,
					      never == Never::allowed ? ", nor -1 for never" : ""));
	double milliseconds = std::round(seconds * 1000);
	if (milliseconds > std::numeric_limits<std::int32_t>::max())
		return usageError(fmt::format("'{}' seconds is too long", text));
	if (milliseconds == 0 && seconds > 0) // 0 means something else
		return usageError(fmt::format("'{}' seconds is less than a millisecond", text));
	return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

std::string formatSeconds(std::chrono::milliseconds time)
{
	return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}
