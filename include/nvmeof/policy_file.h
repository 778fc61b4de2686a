// SPDX-License-Identifier: LGPL-2.1-or-later
// /etc/nvmeof/policy.conf: settings of subsystems by NQN, for the moment when one appears.
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
	std::string pattern; // as in fnmatch(3), without flags: * ? [...] and \ to quote one of them
	SubsystemSettings settings;
	unsigned line = 0; // in its file, from 1
};

/*
 * One rule a line: PATTERN NAME=VALUE..., parted by blanks. Empty lines and what follows a # at the beginning of a word
 * do not count. Errors begin with "@file:LINE: ". A file that has an error anywhere has no rules.
 */
Result<std::vector<PolicyRule>> parsePolicy(std::string_view text, const std::string &file);

// noSuchObject when there is no such file. At most 1 MiB.
Result<std::vector<PolicyRule>> readPolicy(const std::filesystem::path &file = defaultPolicyFile);

// The first rule whose pattern fits the whole of @nqn; nullptr when there is none.
const PolicyRule *matchPolicy(const std::vector<PolicyRule> &rules, const std::string &nqn);

} // namespace nvmeof
