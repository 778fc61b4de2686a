// SPDX-License-Identifier: LGPL-2.1-or-later
// Audit lines for changed records
#pragma once

#include "model.h"

namespace cdc {

constexpr std::size_t most_audited = 100;

// Lines "targets/KEY: BEFORE -> AFTER", as JSON, for records that are others by @changes than in @model: @most of them,
// of the first 10 x @most changes, and how many changes were not looked at. A renewed lease alone is no change.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes,
				    std::size_t most = most_audited);

} // namespace cdc
