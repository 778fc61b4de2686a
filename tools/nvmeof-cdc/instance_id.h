// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

#include "config.h"

namespace cdc {

// By the ID in @rules.state, which is made where there is none.
nvmeof::Result<Identity> readIdentity(const Rules &rules);

} // namespace cdc
