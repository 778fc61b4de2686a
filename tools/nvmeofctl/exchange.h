// SPDX-License-Identifier: LGPL-2.1-or-later
// Exchange of a loaded module for another build of it. All possible checks are made before the unload.
#pragma once

#include <filesystem>
#include <string>

#include <nvmeof/build.h>
#include <nvmeof/result.h>

class ModuleImage {
public:
	// Reads the whole file into memory: its disk may be one whose I/O waits during the exchange.
	static nvmeof::Result<ModuleImage> read(const std::filesystem::path &file);

	// Why it cannot replace module @name on top of the loaded module @core; empty if no reason is known.
	std::string mismatchReason(const std::string &name, const nvmeof::ModuleBuild &core) const;
	const nvmeof::ModuleBuild &module() const { return module_; }
	nvmeof::Result<void> load(const std::string &parameters) const;
	// Whether the kernel would load it. Call while a module of that name is loaded: the kernel checks signature,
	// lockdown and kernel version before it refuses a second module of the same name.
	nvmeof::Result<void> checkLoadable() const;

private:
	nvmeof::ModuleBuild module_;
	std::string bytes_;
};

// Current values of the module parameters: "a=1 b=Y"
std::string loadedParameters(const std::string &module);

// Does not wait; fails if the module is in use.
nvmeof::Result<void> unloadModule(const std::string &name);
