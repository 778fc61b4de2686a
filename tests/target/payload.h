// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes at random to the data of admin commands, by their structure.
#pragma once

#include "random.h"
#include "wire.h"

#include <string>

namespace target {

// What was done, for a person. Nothing is done to data that are empty.
std::string mutatePayload(const Command &cmd, Bytes &data, Random &random);

} // namespace target
