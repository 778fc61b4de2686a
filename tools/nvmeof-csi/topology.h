// SPDX-License-Identifier: LGPL-2.1-or-later
// Which nodes reach which storage: for each service that is configured, whether the node reaches its address.
#pragma once

#include <optional>
#include <string>

#include <nvmeof/address.h>

namespace csi {

struct ReachableService {
	std::string name;
	std::optional<nvmeof::Address> address; // nothing: every node that has the option reaches it
};

// Every node with the plugin has it: a plugin with topology has to report some.
inline constexpr const char *anyNodeKey = "csi.nvmeof/node";

// A segment's key: prefix and name, as labels of nodes have them
inline std::string topologyKey(const std::string &service)
{
	return "csi.nvmeof/service-" + service;
}

} // namespace csi
