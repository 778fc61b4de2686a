// SPDX-License-Identifier: LGPL-2.1-or-later
#include "crc32c.h"

#include <algorithm>
#include <climits>

#include <isa-l/crc.h>

namespace nofctl::wire {

// ISA-L takes an int length and a pointer to non-const data.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> data)
{
	std::uint32_t crc = ~before;
	while (!data.empty()) {
		auto part = data.first(std::min<std::size_t>(data.size(), INT_MAX));
		crc = ::crc32_iscsi(const_cast<std::uint8_t *>(part.data()), static_cast<int>(part.size()), crc);
		data = data.subspan(part.size());
	}
	return ~crc;
}

std::uint32_t crc32c(std::span<const std::uint8_t> data)
{
	return crc32c(0, data);
}

} // namespace nofctl::wire
