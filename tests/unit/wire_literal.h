// SPDX-License-Identifier: LGPL-2.1-or-later
// Structures as the specification lays them out, written down byte by byte: what our own code makes is compared with
// them, and they are what it reads.
#pragma once

#include "libctl/base/hex.h"
#include "libctl/wire/bytes.h"

#include <initializer_list>

namespace literal {

using nofctl::wire::Bytes;

// "04 03 48": blanks may stand anywhere.
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

// Zero where nothing is said
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
