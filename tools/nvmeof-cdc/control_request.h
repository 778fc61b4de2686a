// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is asked for over the control socket: a JSON object on a line.
 *   {"command": "status"}, and so "hosts", "targets", "zones", "instances", "changes", "backup"
 *   {"command": "changes", "follow": true}
 *   {"command": "set", "targets": [{"nqn": ..., "traddr": ...}], "zones": [{"name": ..., "hosts": [...]}]}
 *   {"command": "remove", "targets": [...], "zones": ["NAME"], "hosts": ["NQN"]}
 *   {"command": "drain"}, {"command": "reload"}
 * set, remove and reload also with "force": true and "dry_run": true
 */
#pragma once

#include <string_view>
#include <vector>

#include <nvmeof/result.h>

#include "model.h"

namespace cdc {

constexpr std::size_t longest_request = 1u << 20; // bytes

struct ControlRequest {
	enum class What { status, hosts, targets, zones, instances, changes, backup, set, remove, drain, reload };

	What what;
	bool follow = false;                // changes: also those to come
	bool force = false;                 // also what will be told again, or takes more than half from a host
	bool dryRun = false;                // set, remove, reload: nothing is written
	std::vector<Target> targets = {};   // set
	std::vector<Zone> zones = {};       //
	std::vector<std::string> keys = {}; // remove

	bool changes() const { return what >= What::set; } // and is not for everybody
};

nvmeof::Result<ControlRequest> parseControlRequest(std::string_view line);

// Of set and remove. Errors: somebody stronger tells of it, or it is not there; nothing is to be written.
nvmeof::Result<std::vector<Change>> controlChanges(const Model &model, const ControlRequest &request);

} // namespace cdc
