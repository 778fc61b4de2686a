// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include "config.h"

namespace cdc {

// By the ID in @rules.state, which is made where there is none.
nvmeof::Result<Identity> readIdentity(const Rules &rules);

// That a UUID makes, where none is configured
std::string nqnOf(const std::string &id);

} // namespace cdc
