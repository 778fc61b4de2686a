// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether command, library, loaded and installed modules are of one tree, and what to do where they are not.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/build.h>

#include "json.h"

// Something that is not as it should be; @code is for programs.
struct BuildFinding {
	std::string code;
	std::string message;
	std::string step;
};

// "0.1.0 of sources 0123456789abcdef"
std::string words(const nvmeof::Build &build);

// Of the command itself
nvmeof::Build toolBuild();

// The first thing to do comes first. Nothing of modules that are neither loaded nor installed.
std::vector<BuildFinding> judgeBuilds(const nvmeof::Build &tool, const nvmeof::Build &library,
				      const std::vector<nvmeof::ModuleBuild> &modules);

Json toJson(const nvmeof::Build &build);
Json toJson(const nvmeof::ModuleBuild &module);
Json toJson(const BuildFinding &finding);

// A line for each module that is there.
std::string formatModules(const std::vector<nvmeof::ModuleBuild> &modules);
