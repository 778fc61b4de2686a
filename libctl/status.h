// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace nofctl {

constexpr std::uint16_t statusTypeAndCode = 0x7ff; // of an NVMe status; leaves More and Do Not Retry aside

} // namespace nofctl
