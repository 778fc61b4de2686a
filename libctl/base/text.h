// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks untrusted text, for example from a target, and makes it safe to print on one line.
#pragma once

#include <algorithm>
#include <cstddef>
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

// "1 path", "2 paths"
inline std::string counted(std::size_t number, const char *noun)
{
	return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Detects U+0080 to U+009F in UTF-8: C1 control characters, which some terminals interpret
inline bool hasC1(std::string_view text)
{
	for (std::size_t at = text.find('\xc2'); at != text.npos; at = text.find('\xc2', at + 1))
		if (at + 1 < text.size() && (static_cast<unsigned char>(text[at + 1]) & 0xe0) == 0x80)
			return true;
	return false;
}

// No blanks or control characters. Required of names that are passed to the kernel or written into a line of text.
inline bool isPlain(std::string_view text)
{
	return !hasC1(text) &&
	       std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF (RFC 3629, section 4)
inline bool isUtf8(std::string_view text)
{
	for (std::size_t at = 0; at < text.size();) {
		const auto first = static_cast<unsigned char>(text[at++]);
		if (first < 0x80)
			continue;
		if (first < 0xc2 || first > 0xf4)
			return false;
		unsigned char low = 0x80, high = 0xbf; // range of the second byte
		if (first == 0xe0)
			low = 0xa0;
		else if (first == 0xed)
			high = 0x9f;
		else if (first == 0xf0)
			low = 0x90;
		else if (first == 0xf4)
			high = 0x8f;
		for (int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1; more > 0; more--) {
			const auto next = at < text.size() ? static_cast<unsigned char>(text[at++]) : 0u;
			if (next < low || next > high)
				return false;
			low = 0x80;
			high = 0xbf;
		}
	}
	return true;
}

// Plain text as it is; otherwise printable text without blanks
inline std::string shown(const std::string &text)
{
	std::string plain = isPlain(text) ? text : printable(text);
	std::ranges::replace(plain, ' ', '?');
	return plain;
}

} // namespace nofctl
