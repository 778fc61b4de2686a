// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the interface for an address in the main routing table, as shown in /proc.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace nofctl::gpu {

// Empty: no route, or not an address. Policy routing (ip rule) is not considered.
std::string interfaceTowards(const Tree &tree, const std::string &address);
// The interface with that IPv6 address. For IPv4, the interface whose network contains the address.
std::string interfaceWith(const Tree &tree, const std::string &address);
// The interface of a connection: @hostIface, else the one with @hostTraddr, else the one towards @traddr. Empty: not
// known
std::string interfaceOf(const Tree &tree, const std::string &hostIface, const std::string &hostTraddr,
			const std::string &traddr);
// "eth1 has no carrier", "eth1 is down", "there is no interface eth1"; empty: none of these, or @interface is empty
std::string interfaceTrouble(const Tree &tree, const std::string &interface);
// Addresses of an interface, without link-local IPv6 addresses.
std::vector<std::string> addressesOf(const Tree &tree, const std::string &interface);

} // namespace nofctl::gpu
