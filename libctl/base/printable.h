// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes untrusted text, for example from a target, safe to print on one line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace nofctl {

// Replaces each byte that is not printable ASCII with "?".
inline std::string printable(std::string_view text)
{
	std::string clean(text);
	std::replace_if(
		clean.begin(), clean.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }, '?');
	return clean;
}

} // namespace nofctl
