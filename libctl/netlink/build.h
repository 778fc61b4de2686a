// SPDX-License-Identifier: LGPL-2.1-or-later
// The builds of the kernel modules: of a loaded module from sysfs, of others from their files.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nvmeof/build.h>

namespace nofctl {

// @folder: the module's directory in sysfs. Nothing if the module is not loaded.
std::optional<nvmeof::Build> loadedBuild(const std::filesystem::path &folder);

// @file: a module, compressed or not. Nothing if it cannot be read.
std::optional<nvmeof::Build> buildOfFile(const std::filesystem::path &file);

// Minimal ELF reader to find a note in a kernel module. The input is untrusted.
// The first section with that name in a 64-bit ELF file of this machine's byte order; empty: none.
std::span<const char> sectionOf(std::span<const char> file, std::string_view name);

// The descriptor of the first note with that owner and type; empty: none.
std::string noteIn(std::span<const char> notes, std::string_view owner, unsigned type);

} // namespace nofctl
