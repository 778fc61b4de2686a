// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

namespace nvmeofd {

// Of the controllers that the daemon makes: kept by the kernel, so that the next daemon knows them for its own
inline constexpr const char *owner = "nvmeofd";

} // namespace nvmeofd
