// SPDX-License-Identifier: LGPL-2.1-or-later
// CRC32C, the digest of NVMe/TCP (polynomial 0x1EDC6F41, reflected).
#pragma once

#include <cstdint>
#include <span>

namespace target {

std::uint32_t crc32c(std::span<const std::uint8_t> data);

} // namespace target
