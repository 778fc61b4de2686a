// SPDX-License-Identifier: LGPL-2.1-or-later
// Report of the effects of a configuration reload, for the caller and the journal
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <nvmeof/discovery_plan.h>

namespace nvmeofd {

struct ConfigChange {
	enum class Kind { added, removed, changed, moved };

	Kind kind;
	std::string table;                // "limits", "connection"
	std::string name;                 // of a list entry: its NQN, address or name
	std::vector<std::string> was, is; // lines of the file that differ; for an entry, all of its lines

	bool operator==(const ConfigChange &) const = default;
	std::string toString() const; // on one line
};

const char *toString(ConfigChange::Kind kind); // "added", "removed", "changed", "moved"

// Compares two texts of formatConfig(). An entry counts as changed if an entry with the same first key replaces it.
std::vector<ConfigChange> configChanges(const std::string &before, const std::string &after);

struct Reloaded {
	std::vector<ConfigChange> changes;
	// "tcp 10.0.0.1:4420 nqn...": connections added to and removed from the plan. Addresses of host names that are
	// still being resolved are in neither.
	std::vector<std::string> wanted, unwanted;
	std::vector<std::string> services, bygone; // the same for discovery services
	std::vector<std::string> rekeyed;          // controllers that get changed keys; the journal has the result
	std::vector<std::string> notes;
};

// Sets only the changes of the plan
Reloaded planChanges(const nvmeof::Plan &before, const nvmeof::Plan &after);

// Text lines for users, at least one
std::vector<std::string> linesOf(const Reloaded &reloaded);
nlohmann::json toJson(const Reloaded &reloaded);

} // namespace nvmeofd
