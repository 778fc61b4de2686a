// SPDX-License-Identifier: LGPL-2.1-or-later
// Patterns of NQNs, as in fnmatch(3) without flags.
#pragma once

#include <string>
#include <string_view>

#include <nvmeof/result.h>

namespace nofctl {

// invalid: control characters in it, or no NQN can fit.
nvmeof::Result<void> checkPattern(const std::string &pattern);

// A [ that begins no set, for no ] ends it, and that no \ makes a character of its own: fnmatch() takes it as one.
bool hasOpenBracket(std::string_view pattern);

} // namespace nofctl
