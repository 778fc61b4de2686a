// SPDX-License-Identifier: LGPL-2.1-or-later
// One entry of a discovery log page, as it comes from the target.
#pragma once

#include <nvmeof/discovery.h>

#include "wire/discovery_log.h"

namespace nofctl {

// Any bytes will do: what is wrong with them is said in DiscoveryEntry::defect.
nvmeof::DiscoveryEntry describe(const wire::DiscoveryEntry &raw);

} // namespace nofctl
