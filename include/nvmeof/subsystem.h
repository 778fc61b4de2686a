// SPDX-License-Identifier: LGPL-2.1-or-later
// An NVM subsystem as this host sees it: one per (subsystem NQN, host NQN, host ID).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/uuid.h>

namespace nvmeof {

// Values of enum nvmeof_fencing.
enum class Fencing : std::uint32_t {
	immediate, // what a lost path had goes to another at once
	safe,      // what modifies data waits until the old association is known to be dead
	automatic, // it waits if the peer has not ended the association itself
};

const char *toString(Fencing fencing); // "immediate", "safe", "auto"; "unknown" for a value of a newer module

struct Subsystem {
	std::uint32_t id = 0; // the 0 of nvmeof0
	std::string name;
	std::string nqn;
	std::string hostnqn;
	std::optional<Uuid> hostid;
	std::string model;
	std::string serial;
	std::string firmware;
	std::string iopolicy; // name of the path selector
	// Non-optimized paths join in when every optimized one is expected to take longer, or has more outstanding.
	// 0: off
	std::chrono::microseconds spillLatency{0};
	std::uint32_t spillDepth = 0; // commands of one queue
	bool degrade = false;         // outliers in latency or errors are left out
	Fencing fencing = Fencing::automatic;
	std::chrono::seconds delayedRemoval{0}; // how long a namespace outlives its last path
	// Stands for the Command Quiesce Time of a controller that does not report one, with Fencing::safe
	std::chrono::seconds quiesceTimeout{30};
	std::uint32_t tags = 0; // requests under way for each queue that the first connect asked for; 0: not known yet
	std::uint32_t controllers = 0;
	std::uint32_t namespaces = 0;
};

} // namespace nvmeof
