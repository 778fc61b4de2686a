// SPDX-License-Identifier: LGPL-2.1-or-later
// cufile.json: checks its keys, and plans values for this machine with the reasons.
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
	std::int64_t min, max; // range of a number
	const char *choices;   // allowed words, "A B C"; null: any
	const char *preset;    // default, for display
	const char *help;
};

// The keys that are checked or set. A file may have others.
std::span<const CufileKey> cufileKeys();

// Accepts comments, which NVIDIA's default file has. Errors: invalid.
nvmeof::Result<CufileJson> parseCufile(std::string_view text);
// Problems with the values of known keys, one line each.
std::vector<std::string> cufileProblems(const CufileJson &file);

struct CufileSetting {
	std::string path;
	CufileJson value;
	std::string why;
};

// A mount, and how data moves between it and GPUs
struct MountMode {
	std::string point, mode; // "p2pdma", "nvidia-fs" or "compat"
	std::string why;
};

struct CufilePlan {
	std::vector<CufileSetting> settings;
	std::vector<MountMode> mounts;
	Findings failed; // findings of check() with level fail
};

// @addresses: each interface with its addresses, for rdma_dev_addr_list. P2PDMA is not enabled where check() fails for
// the kernel or the drivers.
CufilePlan planCufile(const Node &node, const std::vector<std::pair<std::string, std::vector<std::string>>> &addresses);
// Returns @file with the settings of @plan.
CufileJson applyCufile(CufileJson file, const CufilePlan &plan);
std::string formatCufile(const CufileJson &file);

// Lines prefixed with "-", "+" or " ", and "@@" for omitted lines; empty if the texts are equal.
std::string lineDifference(std::string_view before, std::string_view after);

} // namespace nofctl::gpu
