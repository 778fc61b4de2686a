// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/uuid.h>

#include <algorithm>
#include <random>

#include "hex.h"

namespace nvmeof {

namespace {

constexpr std::size_t textLength = 36;

constexpr bool isDash(std::size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

} // namespace

bool Uuid::isNil() const
{
	return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
}

std::string Uuid::toString() const
{
	std::string text = nofctl::toHex(bytes);
	for (std::size_t at : {8, 13, 18, 23})
		text.insert(at, 1, '-');
	return text;
}

std::optional<Uuid> Uuid::parse(std::string_view text)
{
	if (text.size() != textLength)
		return std::nullopt;
	Uuid uuid;
	std::size_t nibble = 0;
	for (std::size_t i = 0; i < textLength; i++) {
		if (isDash(i)) {
			if (text[i] != '-')
				return std::nullopt;
			continue;
		}
		int digit = nofctl::hexDigit(text[i]);
		if (digit < 0)
			return std::nullopt;
		std::uint8_t &byte = uuid.bytes[nibble / 2];
		byte = static_cast<std::uint8_t>(byte << 4 | digit);
		nibble++;
	}
	return uuid;
}

Uuid Uuid::random()
{
	std::random_device device;
	Uuid uuid;
	for (std::uint8_t &byte : uuid.bytes)
		byte = static_cast<std::uint8_t>(device());
	uuid.bytes[6] = (uuid.bytes[6] & 0x0f) | 0x40; // version 4: RFC 9562, 5.4
	uuid.bytes[8] = (uuid.bytes[8] & 0x3f) | 0x80; // variant: RFC 9562, 4.1
	return uuid;
}

} // namespace nvmeof
