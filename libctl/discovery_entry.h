// SPDX-License-Identifier: LGPL-2.1-or-later
// One entry of a discovery log page, as it comes from the target.
#pragma once

#include <cstddef>
#include <span>

#include <nvmeof/discovery.h>

namespace nofctl {

inline constexpr std::size_t discoveryEntrySize = 1024;

// Any bytes will do: what is wrong with them is said in DiscoveryEntry::defect.
nvmeof::DiscoveryEntry decodeDiscoveryEntry(std::span<const std::byte, discoveryEntrySize> bytes);

} // namespace nofctl
