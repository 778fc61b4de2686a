// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of a discovery log.
#pragma once

#include <string>

#include <nvmeof/discovery.h>

#include "json.h"

// The number of entries and the generation, then a table of the entries.
std::string formatLog(const nvmeof::DiscoveryLog &log);
Json toJson(const nvmeof::DiscoveryLog &log);
