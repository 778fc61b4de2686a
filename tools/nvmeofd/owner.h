// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace nvmeofd {

// Owner of controllers that the daemon creates; the kernel stores it, so that the next daemon recognizes them
inline constexpr const char *owner = "nvmeofd";

} // namespace nvmeofd
