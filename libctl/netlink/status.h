// SPDX-License-Identifier: LGPL-2.1-or-later
// Error codes for NVMe status values.
#pragma once

#include <cstdint>

#include <nvmeof/error.h>

namespace nofctl {

// For the status of a Connect command: authentication if the target requires it, otherwise refused.
nvmeof::ErrorCode codeOfStatus(std::uint16_t nvmeStatus);

} // namespace nofctl
