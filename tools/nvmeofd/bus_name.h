// SPDX-License-Identifier: LGPL-2.1-or-later
// D-Bus names of the daemon
#pragma once

namespace nvmeofd {

inline constexpr const char *busName = "org.nvmeof.Daemon";
inline constexpr const char *busPath = "/org/nvmeof/Daemon";
inline constexpr const char *busInterface = "org.nvmeof.Daemon1";
inline constexpr const char *busErrorConfig = "org.nvmeof.Error.Config"; // from Reload: an error in the files

} // namespace nvmeofd
