// SPDX-License-Identifier: LGPL-2.1-or-later
// Connections over rails.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/config.h>

#include "tree.h"

namespace nofctl::gpu {

// Each connection with a rail becomes one through each of its interfaces. Where there is none, it goes as routed,
// and what is returned says why.
std::vector<std::string> spreadOverRails(nvmeof::Config &config, const Tree &tree);

} // namespace nofctl::gpu
