// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks the network path to TCP targets: route, interface, and whether packets of the full MTU get through.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <nvmeof/controller.h>

namespace doctor {

enum class Echo {
	none,  // no echo request was answered
	small, // small ones only
	full,  // one as large as the MTU of the route as well
};

struct PathProbe {
	std::string controller;
	std::string interface;     // that the route uses; empty: not known
	int routeErrno = 0;        // positive: there is no route
	bool carrier = true;       // of the interface; false also if it is down
	bool local = false;        // the target is on this machine: no echo request was sent
	std::uint32_t mtu = 0;     // of the route, bytes: of the interface, or less
	std::uint32_t pathMtu = 0; // that a router reported for a long echo request, bytes; 0: none
	Echo echo = Echo::none;
	std::string skipped; // why no echo request was sent; empty: one was sent, or is not needed
};

/*
 * Probes the address of each TCP controller in @controllers, all at the same time, within @patience. Sends ICMP echo
 * requests with "don't fragment" set, which needs CAP_NET_RAW or a group in net.ipv4.ping_group_range. Controllers of
 * other transports have no entry in the result.
 */
std::vector<PathProbe> probePaths(const std::vector<nvmeof::Controller> &controllers,
				  std::chrono::milliseconds patience);

} // namespace doctor
