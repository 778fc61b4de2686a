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
	immediate, // retry requests of a lost path on another path at once
	safe,      // hold writes until the lost association cannot execute them any more
	automatic, // hold writes until the peer knows of the loss or was silent for KATO
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
	// Non-optimized paths are also used when the expected latency of all optimized ones exceeds spillLatency, or
	// all have more than spillDepth outstanding commands per queue. 0: off
	std::chrono::microseconds spillLatency{0};
	std::uint32_t spillDepth = 0; // commands of one queue
	bool degrade = false;         // avoid paths with outlying latency or errors
	Fencing fencing = Fencing::automatic;
	std::chrono::seconds delayedRemoval{0}; // how long a namespace stays without paths
	// Used with Fencing::safe if a controller reports no Command Quiesce Time.
	std::chrono::seconds quiesceTimeout{30};
	std::uint32_t tags = 0; // requests per hardware queue; 0: not known yet
	std::uint32_t controllers = 0;
	std::uint32_t namespaces = 0;
};

} // namespace nvmeof
