// SPDX-License-Identifier: LGPL-2.1-or-later
// /etc/nvmeof/policy.conf: subsystem settings by NQN, applied when a subsystem appears.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/result.h>
#include <nvmeof/settings.h>

namespace nvmeof {

inline constexpr const char *defaultPolicyFile = "/etc/nvmeof/policy.conf";

struct PolicyRule {
	std::string pattern; // see fnmatch(3), without flags: * ? [...] and \ to quote one of them
	SubsystemSettings settings;
	unsigned line = 0; // from 1
};

/*
 * One rule per line: PATTERN NAME=VALUE..., separated by blanks. Empty lines are ignored, and a word that begins with #
 * starts a comment. Errors: invalid; the message begins with "@file:LINE: ". An error anywhere in the file invalidates
 * all its rules.
 */
Result<std::vector<PolicyRule>> parsePolicy(std::string_view text, const std::string &file);

// noSuchObject if the file does not exist. Limit: 1 MiB.
Result<std::vector<PolicyRule>> readPolicy(const std::filesystem::path &file = defaultPolicyFile);

// The first rule whose pattern matches the whole of @nqn; nullptr if none does.
const PolicyRule *matchPolicy(const std::vector<PolicyRule> &rules, const std::string &nqn);

} // namespace nvmeof
