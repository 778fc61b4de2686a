// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests on the control socket, one JSON object per line:
 *   {"command": "status"}, and likewise "hosts", "targets", "zones", "instances", "changes", "backup"
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

constexpr std::size_t maxRequestSize = 1u << 20; // bytes

struct ControlRequest {
	enum class What { status, hosts, targets, zones, instances, changes, backup, set, remove, drain, reload };

	What what;
	bool follow = false;                // changes: also send new changes as they occur
	bool force = false;                 // skips the checks for large losses and for records that would return
	bool dryRun = false;                // set, remove, reload: write nothing
	std::vector<Target> targets = {};   // set
	std::vector<Zone> zones = {};       // set
	std::vector<std::string> keys = {}; // remove

	bool changes() const { return what >= What::set; } // changes need privileges
};

nvmeof::Result<ControlRequest> parseControlRequest(std::string_view line);

// The record changes of a set or remove request. Errors: a stronger source defines the record, or it does not exist;
// nothing may be written then.
nvmeof::Result<std::vector<Change>> controlChanges(const Model &model, const ControlRequest &request);

} // namespace cdc
