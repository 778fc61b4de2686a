// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Applies a changed configuration at run time. As with 'nvmeofctl cdc record set', it is refused if any host would lose
 * more than half of its targets, so that a mistake in the file does not hide storage.
 */
#pragma once

#include <set>

#include <nvmeof/result.h>

#include "service.h"
#include "views.h"

namespace cdc {

// The targets that a host would lose by a change of records
struct Loss {
	std::string hostnqn;
	std::size_t before = 0;           // targets that the host sees now
	std::size_t lost = 0;             // of these, targets that it would no longer see
	std::vector<std::string> targets; // names of the first 20 lost ones

	// More than half of what it sees
	bool large() const { return lost * 2 > before; }
};

// meant: a target whose record the change removes is not a loss; counted: it is
enum class Removed { meant, counted };

// The losses of each of @hosts if the model became @changed, a modified copy of @model; in the order of @hosts. Shows
// whether one 'nvmeofctl cdc' command would hide a cluster's storage.
std::vector<Loss> lossesBy(const Model &model, const Model &changed, const ViewRules &rules,
			   const std::set<std::string> &hosts, Removed removed = Removed::meant);

// "HOST would lose 3 of 4 targets: TARGET, TARGET, TARGET"
std::string textOf(const Loss &loss);
// The error for a change with a large loss. @next: advice for the user
nvmeof::Error tooLarge(const std::vector<Loss> &losses, std::string_view next);

enum class ReloadMode {
	judged, // refused if a host would lose more than half of its targets
	forced,
	dryRun, // nothing is applied
};

struct Reloaded {
	std::size_t records = 0;                // changed at once by the configuration
	std::vector<Loss> losses;               // not with ReloadMode::forced
	std::vector<std::string> problems = {}; // of key files, whose hosts have an unusable key; see HostKeys::read()
	std::string unwritten = {}; // why the store does not have the records yet; the service tries that again
};

// @done may be called at once, or when the store has the records. Errors: the configuration is refused and nothing
// changes; the journal lists the hosts and their losses.
void reload(Service &service, Rules rules, ReloadMode mode, std::function<void(const nvmeof::Result<Reloaded> &)> done);

} // namespace cdc
