// SPDX-License-Identifier: LGPL-2.1-or-later
// Random mutation of the data of admin commands, by data structure.
#pragma once

#include "random.h"
#include "wire.h"

#include <string>

namespace target {

// Returns a description of the mutation. Empty data stay unchanged.
std::string mutatePayload(const Command &cmd, Bytes &data, Random &random);

} // namespace target
