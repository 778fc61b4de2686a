// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <span>

namespace nofctl::wire {

// As of a digest of NVMe/TCP; RFC 3720, B.4
std::uint32_t crc32c(std::span<const std::uint8_t> data);
// Of data that come in pieces: @before is that of those that went before.
std::uint32_t crc32c(std::uint32_t before, std::span<const std::uint8_t> data);

} // namespace nofctl::wire
