// SPDX-License-Identifier: LGPL-2.1-or-later
// Structures of the specification as literal bytes. Tests compare encoded data with them, and decode them.
#pragma once

#include "libctl/base/hex.h"
#include "libctl/wire/bytes.h"

#include <initializer_list>

namespace literal {

using nofctl::wire::Bytes;

// Digits such as "04 03 48"; spaces are ignored.
inline std::string x(std::string_view digits)
{
	std::string bytes;
	int high = -1;
	for (char c : digits) {
		const int digit = nofctl::hexDigit(c);
		if (digit < 0)
			continue;
		if (high >= 0)
			bytes.push_back(static_cast<char>(high << 4 | digit));
		high = high >= 0 ? -1 : digit;
	}
	return bytes;
}

struct Piece {
	std::size_t offset;
	std::string bytes;
};

// Bytes that no piece covers are zero.
inline Bytes laid(std::size_t size, std::initializer_list<Piece> pieces)
{
	Bytes all(size);
	for (auto &p : pieces)
		for (std::size_t i = 0; i < p.bytes.size(); i++)
			all.at(p.offset + i) = static_cast<std::uint8_t>(p.bytes[i]);
	return all;
}

inline Bytes hex(std::string_view digits, std::size_t size = 0)
{
	const std::string bytes = x(digits);
	return laid(std::max(size, bytes.size()), {{0, bytes}});
}

inline std::string padded(std::string text, std::size_t size, char padding)
{
	text.resize(size, padding);
	return text;
}

} // namespace literal
