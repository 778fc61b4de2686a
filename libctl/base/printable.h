// SPDX-License-Identifier: LGPL-2.1-or-later
// Text from elsewhere, a target perhaps, in one line for people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nofctl {

// With a "?" for each byte that is not printable ASCII.
inline std::string printable(std::string_view text)
{
	std::string clean(text);
	std::replace_if(
		clean.begin(), clean.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }, '?');
	return clean;
}

} // namespace nofctl
