// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the daemon is found on the system bus
#pragma once

namespace nvmeofd {

inline constexpr const char *busName = "org.nvmeof.Daemon";
inline constexpr const char *busPath = "/org/nvmeof/Daemon";
inline constexpr const char *busInterface = "org.nvmeof.Daemon1";
inline constexpr const char *busErrorConfig = "org.nvmeof.Error.Config"; // of Reload: what is wrong in the files

} // namespace nvmeofd
