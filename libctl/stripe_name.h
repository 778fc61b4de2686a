// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string_view>

namespace nofctl {

// 1 to 64 letters, digits, - and _, starting with a letter or digit: valid below /dev/mapper and as a file name.
inline bool isStripeName(std::string_view name)
{
	constexpr std::size_t longest = 64;
	auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
	return !name.empty() && name.size() <= longest && letter(name[0]) &&
	       std::ranges::all_of(name, [&](char c) { return letter(c) || c == '-' || c == '_'; });
}

} // namespace nofctl
