// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether a discovery log is as the specification wants it, to the last byte; NVMe Base 2.0, 5.16.1.23.
#pragma once

#include <functional>

#include "libctl/wire/discovery_log.h"

namespace storm {

// Tells what is not in order, in constant words: once for each header or entry that is not.
using Complain = std::function<void(const char *what)>;

void checkHeader(const nofctl::wire::DiscoveryHeader &header, const Complain &complain);
void checkEntry(const nofctl::wire::DiscoveryEntry &entry, const Complain &complain);
// @entries: whole ones
void checkEntries(std::span<const std::uint8_t> entries, const Complain &complain);

} // namespace storm
