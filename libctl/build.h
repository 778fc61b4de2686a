// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>
#include <optional>

#include <nvmeof/build.h>

namespace nofctl {

// @folder: the module's directory in sysfs. Nothing if the module is not loaded.
std::optional<nvmeof::Build> loadedBuild(const std::filesystem::path &folder);

// @file: a module, compressed or not. Nothing if it cannot be read.
std::optional<nvmeof::Build> buildOfFile(const std::filesystem::path &file);

} // namespace nofctl
