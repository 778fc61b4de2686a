// SPDX-License-Identifier: LGPL-2.1-or-later
// Report of what a reload of the configuration has changed, for the caller and the journal
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
	std::string name;                 // of an entry of a list: its NQN, address or name
	std::vector<std::string> was, is; // lines as in the file that are not the same; those of an entry all

	bool operator==(const ConfigChange &) const = default;
	std::string toString() const; // in one line
};

const char *toString(ConfigChange::Kind kind); // "added", "removed", "changed", "moved"

// Of two texts of formatConfig(). An entry is changed where another with the same first key takes its place.
std::vector<ConfigChange> configChanges(const std::string &before, const std::string &after);

struct Reloaded {
	std::vector<ConfigChange> changes;
	// "tcp 10.0.0.1:4420 nqn...": what the plan has now and had not, and the other way round. Names of hosts that
	// are still being looked up are in neither.
	std::vector<std::string> wanted, unwanted;
	std::vector<std::string> services, bygone; // discovery services likewise
	std::vector<std::string> notes;
};

// Of @changes and notes nothing
Reloaded planChanges(const nvmeof::Plan &before, const nvmeof::Plan &after);

// For people, a line each, one at least
std::vector<std::string> linesOf(const Reloaded &reloaded);
nlohmann::json toJson(const Reloaded &reloaded);

} // namespace nvmeofd
