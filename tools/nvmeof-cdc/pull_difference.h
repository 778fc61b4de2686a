// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What has to be written for the model to have what services tell, and nothing that they have ceased to tell. A service
 * that could not be read has ceased to tell nothing.
 */
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model.h"

namespace cdc {

// What a service tells, as records of its own
struct Telling {
	std::string owner;
	std::optional<std::vector<Target>> targets; // nothing: not known
};

// Whose log has not said that there is such a service any more: records of others are somebody else's.
struct Pulled {
	std::vector<Telling> services; // the earlier has a record that several tell, if none of them has it
	// Owners that are not among these, and are nobody's: what they told goes.
	std::vector<std::string> gone;
};

// Records of other sources stay as they are: who has written one by hand knows better.
std::vector<Change> difference(const Pulled &pulled, const Model &model);

} // namespace cdc
