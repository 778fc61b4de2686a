// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Targets that hosts would not see any more if records were changed, so that one line of 'nvmeofctl cdc' does not take
 * a cluster's storage away unnoticed.
 */
#pragma once

#include <set>

#include <nvmeof/result.h>

#include "views.h"

namespace cdc {

struct Loss {
	std::string hostnqn;
	std::size_t before = 0;           // targets that it sees now
	std::size_t lost = 0;             // of these, that it would not see
	std::vector<std::string> targets; // the first 20 of the latter, by name

	// More than half of what it sees
	bool large() const { return lost * 2 > before; }
};

// Targets whose record itself is removed: meant, where the change names them; else counted as lost
enum class Removed { meant, counted };

// Of each of @hosts that would lose something if the model were @changed, a copy of @model; in their order
std::vector<Loss> lossesBy(const Model &model, const Model &changed, const ViewRules &rules,
			   const std::set<std::string> &hosts, Removed removed = Removed::meant);

// "HOST would lose 3 of 4 targets: TARGET, TARGET, TARGET"
std::string textOf(const Loss &loss);
// The refusal of a change by which one of @losses is large. @next: ways to go on
nvmeof::Error tooLarge(const std::vector<Loss> &losses, std::string_view next);

} // namespace cdc
