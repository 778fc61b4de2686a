// SPDX-License-Identifier: LGPL-2.1-or-later
// Patterns of NQNs, as in fnmatch(3) without flags.
#pragma once

#include <string>

#include <nvmeof/result.h>

namespace nofctl {

// invalid: control characters in it, or no NQN can fit.
nvmeof::Result<void> checkPattern(const std::string &pattern);

} // namespace nofctl
