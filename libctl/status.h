// SPDX-License-Identifier: LGPL-2.1-or-later
// What an NVMe status means for the caller.
#pragma once

#include <cstdint>

#include <nvmeof/error.h>

namespace nofctl {

// Of the target's answer to a Connect: refused, or authentication where that is what it asks for.
nvmeof::ErrorCode codeOfStatus(std::uint16_t nvmeStatus);

} // namespace nofctl
