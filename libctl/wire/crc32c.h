// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>

namespace nofctl::wire {

// CRC-32C as in NVMe/TCP digests; RFC 3720, B.4
std::uint32_t crc32c(std::span<const std::uint8_t> data);
// Continues a CRC: @before is the CRC of the preceding data.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> data);

} // namespace nofctl::wire
