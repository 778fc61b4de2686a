// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "config.h"

namespace cdc {

// Uses the ID in @rules.state, which is created if missing
nvmeof::Result<Identity> readIdentity(const Rules &rules);

// The default NQN, derived from a UUID
std::string nqnOf(const std::string &id);

} // namespace cdc
