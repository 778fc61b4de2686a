// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace target {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// Eight tables, so that eight bytes are taken at a step: under TCG the digest would else dominate.
constexpr Tables makeTables()
{
	Tables t{};
	for (std::uint32_t i = 0; i < 256; i++) {
		std::uint32_t c = i;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		t[0][i] = c;
	}
	for (std::size_t k = 1; k < 8; k++)
		for (std::size_t i = 0; i < 256; i++)
			t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
	return t;
}

constexpr Tables tables = makeTables();
static_assert(std::endian::native == std::endian::little);

} // namespace

std::uint32_t crc32c(std::span<const std::uint8_t> data)
{
	std::uint32_t crc = ~0u;
	while (data.size() >= 8) {
		std::uint64_t v;
		std::memcpy(&v, data.data(), 8);
		v ^= crc;
		crc = 0;
		for (std::size_t i = 0; i < 8; i++)
			crc ^= tables[7 - i][v >> (8 * i) & 0xff];
		data = data.subspan(8);
	}
	for (auto b : data)
		crc = crc >> 8 ^ tables[0][(crc ^ b) & 0xff];
	return ~crc;
}

} // namespace target
