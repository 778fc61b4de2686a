// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that the command, the library, and the loaded and installed modules are built from one source tree, and that
// newer kernels have the modules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nvmeof/build.h>

#include "json.h"

// A mismatch, and the step that resolves it. @code is for programs.
struct BuildFinding {
	std::string code;
	std::string message;
	std::string step;
};

// "0.1.0 of sources 0123456789abcdef"
std::string buildText(const nvmeof::Build &build);

// The build of this command
nvmeof::Build toolBuild();

// The way in which a program was installed, and would be installed again
enum class InstalledBy { make, dpkg, rpm };

// @root: "/", or the fake root of a test. @program: path of the program, below @root
InstalledBy installedBy(const std::filesystem::path &root, const std::string &program);

// In the order in which to resolve them. Modules that are neither loaded nor installed yield no finding. The steps name
// commands of @by.
std::vector<BuildFinding> compareBuilds(const nvmeof::Build &tool, const nvmeof::Build &library,
					const std::vector<nvmeof::ModuleBuild> &modules, InstalledBy by);

Json toJson(const nvmeof::Build &build);
Json toJson(const nvmeof::ModuleBuild &module);
Json toJson(const BuildFinding &finding);

// One line per module that is loaded or installed.
std::string formatModules(const std::vector<nvmeof::ModuleBuild> &modules);

// An installed kernel, newer than the running one, which may be booted next, without an nvmeof.ko that modprobe would
// find.
struct KernelGap {
	std::string kernel;
	bool dkms = false;   // dkms has the modules
	std::string failure; // log of a failed dkms build; empty: none failed
};

/*
 * Reads boot/vmlinuz-*, lib/modules/KERNEL/modules.dep and var/lib/dkms/nvmeof below @root. Oldest kernel first; empty
 * if no module is installed for @running either.
 */
std::vector<KernelGap> kernelGaps(const std::filesystem::path &root, const std::string &running);

// The step names commands of @by.
BuildFinding gapFinding(const KernelGap &gap, InstalledBy by);

// All findings about a machine: those of compareBuilds(), and the kernelGaps() of the running kernel. @root, @program:
// as for installedBy()
std::vector<BuildFinding> judgeMachine(const std::filesystem::path &root, const std::string &program,
				       const nvmeof::Build &tool, const std::vector<nvmeof::ModuleBuild> &modules);
// Of this machine and program
std::vector<BuildFinding> judgeMachine(const std::vector<nvmeof::ModuleBuild> &modules);
