// SPDX-License-Identifier: LGPL-2.1-or-later
// Builds of the library and the modules: the loaded ones, and those that a reload would load.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace nvmeof {

struct Build {
	std::string version; // 0.1.0
	// Hash of the sources in the tree of this build, computed by kmod/source-id: equal for modules, library and
	// command of one tree. Empty if unknown: the build is older than this field.
	std::string source;
	// Build ID of the linker, in hexadecimal digits; equal only for identical files. Empty if unknown: for a
	// compressed module and for the library.
	std::string buildId;
	// Hash of the interface between a module and its users, computed by kmod/source-id. Empty if this is not a
	// module, or if the build is older than this field.
	std::string contract;
};

struct ModuleBuild {
	std::string name; // nvmeof
	std::optional<Build> loaded;
	std::optional<Build> installed; // the one modprobe would load
	std::string file;               // path of the installed module; empty: not installed
};

Build libraryBuild();

// The core module and each transport module, loaded or not. Needs no privilege.
std::vector<ModuleBuild> moduleBuilds();

/*
 * Describes the module file @file: its name, the module of that name that is loaded now, and the build in the file as
 * "installed". Errors: failed, with ENOEXEC, if the file cannot be read, is not a module, or was built for a kernel
 * other than the running one.
 */
Result<ModuleBuild> moduleInFile(const std::filesystem::path &file);

} // namespace nvmeof
