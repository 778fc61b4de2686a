// SPDX-License-Identifier: LGPL-2.1-or-later
// Which interface leads to an address, by the main routing table as /proc shows it.
#pragma once

#include <string>
#include <vector>

#include "tree.h"

namespace nofctl::gpu {

// Empty: none does, or it is no address. Rules beside the main table (ip rule) are not looked at.
std::string interfaceTowards(const Tree &tree, const std::string &address);
// The interface that has that address; of IPv4 the one whose network it is in.
std::string interfaceWith(const Tree &tree, const std::string &address);
// Addresses of an interface, without those of the link alone.
std::vector<std::string> addressesOf(const Tree &tree, const std::string &interface);

} // namespace nofctl::gpu
