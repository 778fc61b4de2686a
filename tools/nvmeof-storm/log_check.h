// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks a discovery log against NVMe Base 2.0, 5.16.1.23, down to the last byte.
#pragma once

#include <functional>

#include "libctl/wire/discovery_log.h"

namespace storm {

// Called with a constant text for the violation found in a header or entry, at most once per check.
using Complain = std::function<void(const char *what)>;

void checkHeader(const nofctl::wire::DiscoveryHeader &header, const Complain &complain);
void checkEntry(const nofctl::wire::DiscoveryEntry &entry, const Complain &complain);
// @entries: complete entries
void checkEntries(std::span<const std::uint8_t> entries, const Complain &complain);

} // namespace storm
