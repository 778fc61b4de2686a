// SPDX-License-Identifier: LGPL-2.1-or-later
// Points in time and durations, as text.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <nvmeof/duration.h>
#include <nvmeof/result.h>

using nvmeof::Never;
using nvmeof::parseSeconds;

// A point in time: "2026-11-27", "2026-11-27 05:14[:10]" (or with a T), "05:14[:10]" of today, all
// in local time; "2h", "90s", "3d" ago, also with a word "ago"; "@1764220450": seconds since 1970.
nvmeof::Result<std::chrono::system_clock::time_point> parseWhen(std::string_view text,
								std::chrono::system_clock::time_point now);

// "2026-11-27 05:14:10.123", local time, of "2026-11-27T05:14:10.123Z"; other text is returned unchanged.
std::string localTime(const std::string &utc);
// "05:14:10", local time
std::string clockTime(std::chrono::system_clock::time_point when);
// @utc: "2026-11-27T05:14:10.123Z"
std::optional<std::chrono::system_clock::time_point> parseUtc(const std::string &utc);

// "0.5 s", "10 s"
std::string formatSeconds(std::chrono::milliseconds time);
// A duration: "12 s", "2:05 min", "3:10 h", "4 d". Negative ones count as 0.
std::string formatAge(std::chrono::nanoseconds age);
