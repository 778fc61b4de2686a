// SPDX-License-Identifier: LGPL-2.1-or-later
// What is to be done so that what is connected is what is wanted. Nothing is done here.
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

// Which controllers go that nobody wants any more.
enum class RemovalPolicy {
	never,
	own, // those of the same owner
	all,
};

const char *toString(RemovalPolicy policy); // "never", "own", "all"

struct DifferenceRules {
	RemovalPolicy removal = RemovalPolicy::own;
	std::string owner = {};                      // whose controllers are one's own; empty: none are
	bool removeOpen = false;                     // also where it is the last path of a disk that is open
	std::size_t connections = 4096;              // most that there may be of one's own, with those to come
	std::string hostnqn = {};                    // of what is wanted without one
	std::vector<std::string> discoveryNqns = {}; // of discovery services, besides the one that all go by
};

struct Change {
	enum class Kind { connect, keep, disconnect };

	Kind kind = Kind::keep;
	std::optional<std::size_t> wanted; // index of what is wanted; not set: nobody wants it
	std::string controller;            // that is there; empty: none is
	std::string reason;                // for people
};

const char *toString(Change::Kind kind); // "connect", "keep", "disconnect"

// Whether that controller is what @options would make. What they leave open, a local address say, any has.
// @hostnqn: of this host, where @options have none; empty: any.
bool isConnection(const Controller &controller, const ConnectOptions &options, const std::string &hostnqn = {});

/*
 * One change for each of @wanted, in their order, then one for each further controller of @present. Controllers of
 * discovery services, to which @wanted does not lead, are in none. Nothing is disconnected that is only not known: with
 * @complete unset everything stays.
 */
std::vector<Change> differenceBetween(const DifferenceRules &rules, std::span<const PlannedConnection> wanted,
				      bool complete, const Snapshot &present);

} // namespace nvmeof
