// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the planned connections with the existing controllers and lists the changes to make. Changes nothing itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/snapshot.h>

namespace nvmeof {

// The controllers to disconnect if they are no longer wanted.
enum class RemovalPolicy {
	never,
	own, // those with the same owner
	all,
};

const char *toString(RemovalPolicy policy); // "never", "own", "all"

struct DifferenceRules {
	RemovalPolicy removal = RemovalPolicy::own;
	std::string owner = {};                      // owner of "own" controllers; empty: no controller is own
	bool removeOpen = false;                     // also disconnect the last path of an open disk
	std::size_t connections = 4096;              // limit of own controllers, existing and planned
	std::string hostnqn = {};                    // host NQN of planned connections without one
	std::vector<std::string> discoveryNqns = {}; // NQNs of discovery services, besides discoveryNqn
};

struct Change {
	enum class Kind { connect, keep, disconnect };

	Kind kind = Kind::keep;
	std::optional<std::size_t> wanted; // index of the planned connection; not set: not wanted
	std::string controller;            // the existing controller; empty: none
	std::string reason;                // for display
};

const char *toString(Change::Kind kind); // "connect", "keep", "disconnect"

// Whether @options would create this controller. Options that are not set, such as a local address, match anything.
// @hostnqn: this host's NQN, if @options have none; empty: matches any.
bool isConnection(const Controller &controller, const ConnectOptions &options, const std::string &hostnqn = {});

/*
 * Returns one change for each of @wanted, in that order, then one for each other controller in @present. Controllers of
 * discovery services that are not in @wanted are left out. If @complete is false, no controller is disconnected: the
 * plan may be missing connections.
 */
std::vector<Change> differenceBetween(const DifferenceRules &rules, std::span<const PlannedConnection> wanted,
				      bool complete, const Snapshot &present);

} // namespace nvmeof
