// SPDX-License-Identifier: LGPL-2.1-or-later
// CSI topology: for each configured service, whether the node reaches its address.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/address.h>

namespace csi {

struct ReachableService {
	std::string name;
	std::optional<nvmeof::Address> address; // absent: every node with this option reaches it
};

// Set on every node: a plugin with topology has to report at least one segment.
inline constexpr const char *anyNodeKey = "csi.nvmeof/node";

// A segment key, with prefix and name as in node labels
inline std::string topologyKey(const std::string &service)
{
	return "csi.nvmeof/service-" + service;
}

} // namespace csi
