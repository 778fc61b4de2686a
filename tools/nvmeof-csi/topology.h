// SPDX-License-Identifier: LGPL-2.1-or-later
// Which nodes reach which storage: for each service that is configured, whether somebody accepts a connection there.
#pragma once

#include <string>

#include <nvmeof/address.h>

namespace csi {

struct ReachableService {
	std::string name;
	nvmeof::Address address;
};

// A segment's key: prefix and name, as labels of nodes have them
inline std::string topologyKey(const std::string &service)
{
	return "csi.nvmeof/service-" + service;
}

} // namespace csi
