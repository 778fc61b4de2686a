// SPDX-License-Identifier: LGPL-2.1-or-later
// Which builds of the parts of this software are at work, and which would be after a reload.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

} // namespace nvmeof
