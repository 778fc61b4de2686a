// SPDX-License-Identifier: LGPL-2.1-or-later
// What "discover" prints of a discovery log.
#pragma once

#include <string>

#include <nvmeof/discovery.h>

#include "json.h"

// A line for each entry, below a title.
std::string formatLog(const nvmeof::DiscoveryLog &log);
Json toJson(const nvmeof::DiscoveryLog &log);
