// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/duration.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "make_error.h"

namespace nvmeof {

namespace {

// Milliseconds per unit. Removes the unit from @text.
double milliseconds(std::string_view &text)
{
	if (text.ends_with("ms")) {
		text.remove_suffix(2);
		return 1;
	}
	if (text.ends_with("s"))
		text.remove_suffix(1);
	return 1000;
}

std::optional<double> parseNumber(std::string_view text)
{
	double number = 0;
	const char *end = text.data() + text.size();
	auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
	if (error != std::errc() || stop != end || !std::isfinite(number) || std::signbit(number))
		return std::nullopt;
	return number;
}

} // namespace

Result<std::chrono::milliseconds> parseSeconds(std::string_view text, Never never)
{
	if (text == "-1" && never == Never::allowed)
		return std::chrono::milliseconds(-1);
	std::string quoted = "'" + std::string(text) + "'";
	double unit = milliseconds(text);
	std::optional<double> number = parseNumber(text);
	if (!number)
		return nofctl::invalidError(quoted + " is not a number of seconds, such as 2, 0.5 or 300ms" +
					    (never == Never::allowed ? ", nor -1 for never" : ""));
	double time = std::round(*number * unit);
	if (time > std::numeric_limits<std::int32_t>::max())
		return nofctl::invalidError(quoted + " is out of range: at most 2147483 s");
	if (time == 0 && *number > 0) // 0 often has a special meaning, so do not round to it
		return nofctl::invalidError(quoted + " is less than a millisecond");
	return std::chrono::milliseconds(static_cast<std::int64_t>(time));
}

} // namespace nvmeof
