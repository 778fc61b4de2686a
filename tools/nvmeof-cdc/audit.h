// SPDX-License-Identifier: LGPL-2.1-or-later
// Audit lines for changed records
#pragma once

#include "model.h"

namespace cdc {

// A line for each record that is another by @changes than in @model, "targets/KEY: BEFORE -> AFTER" as JSON; the first
// 100 of them, and how many more there are. A renewed lease alone is no change.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes);

} // namespace cdc
