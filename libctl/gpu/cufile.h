// SPDX-License-Identifier: LGPL-2.1-or-later
// cufile.json: what may stand in it, what a machine wants in it, and why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <nvmeof/result.h>

#include "finding.h"

namespace nofctl::gpu {

using CufileJson = nlohmann::ordered_json;

struct CufileKey {
	enum class Type { flag, number, word, words };

	const char *path; // "/properties/allow_compat_mode"
	Type type;
	std::int64_t least, most; // of a number
	const char *choices;      // of words, "A B C"; null: any
	const char *preset;       // what holds without it, for people
	const char *help;
};

// Those that are checked, or set; a file may have others.
std::span<const CufileKey> cufileKeys();

// With comments, as NVIDIA's own file has them. invalid: what is wrong, with the line.
nvmeof::Result<CufileJson> parseCufile(std::string_view text);
// What is wrong with known keys, one line each.
std::vector<std::string> cufileProblems(const CufileJson &file);

struct CufileSetting {
	std::string path;
	CufileJson value;
	std::string why;
};

// A mount, and how transfers between it and GPUs go
struct MountMode {
	std::string point, mode; // "p2pdma", "nvidia-fs" or "compat"
	std::string why;
};

struct CufilePlan {
	std::vector<CufileSetting> settings;
	std::vector<MountMode> mounts;
};

// @addresses: of an interface, for the list of RDMA devices.
CufilePlan planCufile(const Node &node, const std::vector<std::pair<std::string, std::vector<std::string>>> &addresses);
// @file with the settings in it.
CufileJson applyCufile(CufileJson file, const CufilePlan &plan);
std::string formatCufile(const CufileJson &file);

// Lines with "-", "+" or " " in front, and "@@" where some are left out; empty: they are the same.
std::string lineDifference(std::string_view before, std::string_view after);

} // namespace nofctl::gpu
