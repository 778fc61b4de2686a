// SPDX-License-Identifier: LGPL-2.1-or-later
// Which builds of the parts of this software are at work, and which would be after a reload.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/result.h>

namespace nvmeof {

struct Build {
	std::string version; // 0.1.0
	/*
	 * Of the modules' sources in the tree that it was built in, as kmod/source-id computes it: equal for modules,
	 * library and command of one tree. Empty: not known, for it is older than this.
	 */
	std::string source;
	// The linker's, in hexadecimal digits; equal only for what is the same file. Empty where it is not known: of
	// a compressed module, of the library.
	std::string buildId;
	// Of what a module and those that use it have in common, as kmod/source-id computes it. Empty: not a module's,
	// or older than this.
	std::string contract;
};

struct ModuleBuild {
	std::string name; // nvmeof
	std::optional<Build> loaded;
	std::optional<Build> installed; // what modprobe would load
	std::string file;               // the installed one
};

Build libraryBuild();

// Of the core and of each transport, whether there or not. Needs no privilege.
std::vector<ModuleBuild> moduleBuilds();

/*
 * What a module's file would be if it were loaded here: name and loaded as they are, the rest of the file. failed when
 * it cannot be read, is no module, or was built for another kernel than the one that runs.
 */
Result<ModuleBuild> moduleInFile(const std::filesystem::path &file);

} // namespace nvmeof
