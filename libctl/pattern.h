// SPDX-License-Identifier: LGPL-2.1-or-later
// Patterns for NQNs, see fnmatch(3), without flags.
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

namespace nofctl {

// Errors: invalid, if @pattern has control characters or cannot match any NQN.
nvmeof::Result<void> checkPattern(const std::string &pattern);

// Whether @pattern has an unescaped [ without a closing ]. fnmatch() then treats the [ as an ordinary character.
bool hasOpenBracket(std::string_view pattern);

} // namespace nofctl
