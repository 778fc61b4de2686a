// SPDX-License-Identifier: LGPL-2.1-or-later
// Controllers and disks of the in-tree driver, below a given sysfs.
#pragma once

#include <filesystem>

#include <nvmeof/foreign.h>

namespace nofctl {

// Like the public functions, for a sysfs mounted at @sys.
std::vector<nvmeof::ForeignController> foreignControllers(std::string_view subsysnqn, const std::filesystem::path &sys);
std::vector<nvmeof::NvmeDisk> nvmeDisks(const std::filesystem::path &sys);

} // namespace nofctl
