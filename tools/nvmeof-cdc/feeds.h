// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Computes the changes to write for records from one source, relative to the model. A source never removes the records
 * of another. If several sources define a record, the strongest wins: control socket, configuration, registration,
 * pull.
 */
#pragma once

#include <span>

#include "model.h"

namespace cdc {

// Whether source and owner are the same
bool sameOrigin(const Origin &a, const Origin &b);
// Whether a record of @source may replace one of @there
bool mayReplace(const Origin &there, const Origin &source);

// Puts the records that are new or differ, unless a stronger source defines them
std::vector<Change> putAll(const Model &model, std::span<const Target> targets);
std::vector<Change> putAll(const Model &model, std::span<const Zone> zones);
// The same, and removes all other targets of @origin
std::vector<Change> replaceAll(const Model &model, const Origin &origin, std::span<const Target> targets);

// For the configuration of the instance @id
std::vector<Change> fileChanges(const Model &model, const std::string &id, std::vector<Target> targets,
				std::vector<Zone> zones);

} // namespace cdc
