// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is to be written where something has told of records: as changes to what the model has. Nobody takes away what
 * another has told, and of one record told by several the one of the stronger source holds: by hand, by file, by
 * registration, by reading.
 */
#pragma once

#include <span>

#include "model.h"

namespace cdc {

// Whether both are told by the same source and owner
bool sameOrigin(const Origin &a, const Origin &b);
// Whether a record of @source may stand where one of @there does
bool mayReplace(const Origin &there, const Origin &source);

// What of these is new or another, without what stronger sources hold
std::vector<Change> putAll(const Model &model, std::span<const Target> targets);
std::vector<Change> putAll(const Model &model, std::span<const Zone> zones);
// The same, and the end of all other targets of that origin
std::vector<Change> replaceAll(const Model &model, const Origin &origin, std::span<const Target> targets);

// Of the configuration of the instance @id
std::vector<Change> fileChanges(const Model &model, const std::string &id, std::vector<Target> targets,
				std::vector<Zone> zones);

} // namespace cdc
