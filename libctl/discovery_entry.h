// SPDX-License-Identifier: LGPL-2.1-or-later
// Decodes one entry of a discovery log page.
#pragma once

#include <nvmeof/discovery.h>

#include "wire/discovery_log.h"

namespace nofctl {

// @raw may contain anything: errors are described in DiscoveryEntry::defect.
nvmeof::DiscoveryEntry describe(const wire::DiscoveryEntry &raw);

} // namespace nofctl
