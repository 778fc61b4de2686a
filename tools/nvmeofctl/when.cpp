// SPDX-License-Identifier: LGPL-2.1-or-later
#include "when.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

using namespace nvmeof;
using WallClock = std::chrono::system_clock;

namespace {

constexpr std::int64_t maxSeconds = 1'000'000'000'000; // fits into a time point of the clock

Error badTime(std::string_view text)
{
	Error error;
	error.code = ErrorCode::invalid;
	error.message = fmt::format(
		"'{}' is not a time such as 2026-11-27, '2026-11-27 05:14', 05:14, 2h (ago) or @SECONDS", text);
	return error;
}

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
	std::int64_t value = 0;
	auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > maxSeconds)
		return std::nullopt;
	return value;
}

std::optional<std::chrono::seconds> ago(std::string_view text)
{
	if (text.ends_with(" ago"))
		text.remove_suffix(4);
	if (text.size() < 2)
		return std::nullopt;
	std::optional<std::int64_t> value = wholeNumber(text.substr(0, text.size() - 1));
	const std::int64_t unit = text.back() == 's'   ? 1
				  : text.back() == 'm' ? 60
				  : text.back() == 'h' ? 3600
				  : text.back() == 'd' ? 86400
						       : 0;
	if (!value || !unit || *value > maxSeconds / unit)
		return std::nullopt;
	return std::chrono::seconds(*value * unit);
}

// Parses all of @text by one of the formats. Fields that a format lacks are those of @base.
std::optional<WallClock::time_point> byFormat(const std::string &text, const std::vector<const char *> &formats,
					      const std::tm &base)
{
	for (const char *format : formats) {
		std::tm when = base;
		const char *end = ::strptime(text.c_str(), format, &when);
		if (!end || *end)
			continue;
		const std::tm given = when;
		when.tm_isdst = -1;
		const std::time_t seconds = std::mktime(&when);
		if (seconds != -1 && when.tm_mday == given.tm_mday && when.tm_mon == given.tm_mon) // no 31 February
			return WallClock::from_time_t(seconds);
	}
	return std::nullopt;
}

} // namespace

Result<WallClock::time_point> parseWhen(std::string_view text, WallClock::time_point now)
{
	if (text.starts_with('@')) {
		std::optional<std::int64_t> seconds = wholeNumber(text.substr(1));
		return seconds && *seconds <= INT32_MAX * 4LL
			       ? Result<WallClock::time_point>(WallClock::from_time_t(*seconds))
			       : Result<WallClock::time_point>(badTime(text));
	}
	if (std::optional<std::chrono::seconds> before = ago(text); before && *before < std::chrono::years(100))
		return now - *before;
	std::tm midnight{};
	const std::time_t today = WallClock::to_time_t(now);
	::localtime_r(&today, &midnight);
	midnight.tm_hour = midnight.tm_min = midnight.tm_sec = 0;
	std::optional<WallClock::time_point> found = byFormat(
		std::string(text),
		{"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}, midnight);
	if (!found)
		found = byFormat(std::string(text), {"%H:%M:%S", "%H:%M"}, midnight);
	return found ? Result<WallClock::time_point>(*found) : Result<WallClock::time_point>(badTime(text));
}

std::optional<WallClock::time_point> parseUtc(const std::string &utc)
{
	std::tm when{};
	const char *end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &when);
	if (!end || *end != '.')
		return std::nullopt;
	std::string_view rest(end + 1);
	std::optional<std::int64_t> ms =
		rest.size() == 4 && rest.back() == 'Z' ? wholeNumber(rest.substr(0, 3)) : std::nullopt;
	return ms ? std::optional(WallClock::from_time_t(::timegm(&when)) + std::chrono::milliseconds(*ms))
		  : std::nullopt;
}

std::string localTime(const std::string &utc)
{
	std::optional<WallClock::time_point> when = parseUtc(utc);
	if (!when)
		return utc;
	const std::time_t seconds = WallClock::to_time_t(std::chrono::floor<std::chrono::seconds>(*when));
	std::tm local{};
	::localtime_r(&seconds, &local);
	return fmt::format("{:%Y-%m-%d %H:%M:%S}.{}", local, utc.substr(utc.size() - 4, 3));
}

std::string clockTime(WallClock::time_point when)
{
	return fmt::format("{:%H:%M:%S}", fmt::localtime(WallClock::to_time_t(when)));
}

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
