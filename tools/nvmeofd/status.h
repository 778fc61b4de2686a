// SPDX-License-Identifier: LGPL-2.1-or-later
// The state of the daemon as JSON; Documentation/discovery.md describes the members.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include <nvmeof/config.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/snapshot.h>

#include "connections.h"
#include "discovery_service.h"
#include "mdns.h"
#include "mdns_services.h"
#include "stripes.h"

namespace nvmeofd {

// References, valid until the loop continues
struct Status {
	const nvmeof::Config &config;
	const nvmeof::Plan &plan;
	const std::map<std::string, std::unique_ptr<DiscoveryService>> &services;
	const Connections &connections;
	const nvmeof::KnownServices &known;
	const MdnsServices &found;
	const Mdns &mdns;
	const Stripes &stripes;
	const nvmeof::Snapshot &present;
	const std::map<std::string, std::string> &unresolved;
	bool paused;
};

nlohmann::json toJson(const Status &status);

} // namespace nvmeofd
