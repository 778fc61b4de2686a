// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string_view>

namespace nofctl {

// Neither blanks nor control characters: what a name that goes to the kernel or into a line of text is made of.
inline bool isPlain(std::string_view text)
{
	return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

} // namespace nofctl
