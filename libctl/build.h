// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <optional>

#include <nvmeof/build.h>

namespace nofctl {

// A module's folder in sysfs; nothing when it is not loaded.
std::optional<nvmeof::Build> loadedBuild(const std::filesystem::path &folder);

// A module's file, as it is or compressed; nothing when it cannot be read.
std::optional<nvmeof::Build> buildOfFile(const std::filesystem::path &file);

} // namespace nofctl
