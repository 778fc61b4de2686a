// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Computes the changes that make the model match what the services report, and that remove what they no longer report.
 * For a service that could not be read, nothing is removed.
 */
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model.h"

namespace cdc {

// The records of one service
struct ServiceRecords {
	std::string owner;
	std::optional<std::vector<Target>> targets; // absent: not known
};

// The known state of all services. Records of services that are in neither list belong to other instances.
struct PullResult {
	std::vector<ServiceRecords> services; // the first that reports a target owns its record, unless another owns it
	// Owners that no longer exist; their records are removed
	std::vector<std::string> gone;
};

// Records of other sources are not changed: a manual entry takes precedence.
std::vector<Change> difference(const PullResult &pullResult, const Model &model);

} // namespace cdc
