// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string_view>

namespace nofctl {

// U+0080 to U+009F, which some terminals heed, in UTF-8
inline bool hasC1(std::string_view text)
{
	for (std::size_t at = text.find('\xc2'); at != text.npos; at = text.find('\xc2', at + 1))
		if (at + 1 < text.size() && (static_cast<unsigned char>(text[at + 1]) & 0xe0) == 0x80)
			return true;
	return false;
}

// Neither blanks nor control characters: what a name that goes to the kernel or into a line of text is made of.
inline bool isPlain(std::string_view text)
{
	return !hasC1(text) &&
	       std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

} // namespace nofctl
