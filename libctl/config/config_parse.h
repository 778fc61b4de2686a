// SPDX-License-Identifier: LGPL-2.1-or-later
// Parses nvmeof.toml, and checks names and patterns in it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <nvmeof/config.h>
#include <nvmeof/result.h>

namespace nofctl {

// Parses @text and adds the result to @reading.
void parseConfig(nvmeof::ConfigReading &reading, std::string_view text, const std::string &file);

// 1 to 64 letters, digits, - and _, starting with a letter or digit: valid below /dev/mapper and as a file name.
inline bool isStripeName(std::string_view name)
{
	constexpr std::size_t longest = 64;
	auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
	return !name.empty() && name.size() <= longest && letter(name[0]) &&
	       std::ranges::all_of(name, [&](char c) { return letter(c) || c == '-' || c == '_'; });
}

// Patterns for NQNs, see fnmatch(3), without flags.

// Errors: invalid, if @pattern has control characters or cannot match any NQN.
nvmeof::Result<void> checkPattern(const std::string &pattern);

// Whether @pattern has an unescaped [ without a closing ]. fnmatch() then treats the [ as an ordinary character.
bool hasOpenBracket(std::string_view pattern);

} // namespace nofctl
