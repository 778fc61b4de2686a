// SPDX-License-Identifier: LGPL-2.1-or-later
// Audit log lines for changed records
#pragma once

#include "model.h"

namespace cdc {

constexpr std::size_t maxAudited = 100;

// Returns one line "targets/KEY: BEFORE -> AFTER", in JSON, for each record that @changes make differ from @model.
// Returns at most @max lines and compares at most the first 10 x @max changes; a last line has the number of changes
// that were not compared. A renewed lease alone does not count as a change.
std::vector<std::string> auditLines(const Model &model, const std::vector<Change> &changes,
				    std::size_t max = maxAudited);

} // namespace cdc
