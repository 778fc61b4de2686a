// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nofctl {

inline int hexDigit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

inline std::string toHex(std::span<const std::uint8_t> bytes)
{
	constexpr char digits[] = "0123456789abcdef";
	std::string text;
	for (std::uint8_t byte : bytes) {
		text += digits[byte >> 4];
		text += digits[byte & 0xf];
	}
	return text;
}

} // namespace nofctl
