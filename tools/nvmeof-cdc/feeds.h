// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is to be written where something has told of records: as changes to what the model has. Nobody takes away what
 * another has told, and of one record told by several the one of the stronger source holds: by hand, by file, by
 * registration, by reading.
 */
#pragma once

#include <span>

#include <nvmeof/result.h>

#include "libctl/wire/registration.h"
#include "model.h"

namespace cdc {

constexpr std::size_t most_hosts = 100000, most_targets = 100000; // that may register

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

// Errors: it cannot be registered; nothing is.
nvmeof::Result<std::vector<Change>> registrationChanges(const Model &model, nofctl::wire::DimTask task,
							const nofctl::wire::Registration &registration,
							std::int64_t ends);

// Of records whose time is over at @now, seconds since 1970
std::vector<Change> endedChanges(const Model &model, std::int64_t now);

} // namespace cdc
