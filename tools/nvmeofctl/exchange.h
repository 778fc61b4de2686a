// SPDX-License-Identifier: LGPL-2.1-or-later
// A loaded module exchanged for another build of it: all that can be looked at is, before anything is unloaded.
#pragma once

#include <filesystem>
#include <string>

#include <nvmeof/build.h>
#include <nvmeof/result.h>

class ModuleImage {
public:
	// Reads the whole file: where it lies may be the disk that does without its module in a moment.
	static nvmeof::Result<ModuleImage> read(const std::filesystem::path &file);

	// Why it cannot take the place of module @name, used with the loaded module @core; empty: nothing is known
	// against it.
	std::string unfit(const std::string &name, const nvmeof::ModuleBuild &core) const;
	const nvmeof::ModuleBuild &module() const { return module_; }
	nvmeof::Result<void> load(const std::string &parameters) const;
	// Whether the kernel would load it, asked while a module of that name is loaded: signature, lockdown and kernel
	// version are checked before the name.
	nvmeof::Result<void> admitted() const;

private:
	nvmeof::ModuleBuild module_;
	std::string bytes_;
};

// As they are set now: "a=1 b=Y"
std::string loadedParameters(const std::string &module);

// At once, or not: another one uses it.
nvmeof::Result<void> unloadModule(const std::string &name);
