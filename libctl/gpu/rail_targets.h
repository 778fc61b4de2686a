// SPDX-License-Identifier: LGPL-2.1-or-later
// Assigns connections to rails. A rail is a GPU with the NIC that serves it.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/config.h>

#include "tree.h"

namespace nofctl::gpu {

// Replaces each connection with a rail by one connection per interface of that rail. If there is no interface, the
// connection uses default routing, and the returned notes give the reason.
std::vector<std::string> spreadOverRails(nvmeof::Config &config, const Tree &tree);

} // namespace nofctl::gpu
