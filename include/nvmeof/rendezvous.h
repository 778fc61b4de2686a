// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rendezvous hashing: which of several that can do the same somebody turns to, and to which next. Everybody gets an
 * order of his own, all together are spread evenly, and one that goes or comes moves only those who had it, or get it.
 * No state is shared: who knows both names knows the order, on either side.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvmeof {

/*
 * The more, the earlier. FNV-1a of 64 bits over @who, a zero byte and @member, its bits then mixed by the finalizer of
 * MurmurHash3. Hosts and services of different versions have to agree, so it never changes.
 */
std::uint64_t rendezvousWeight(std::string_view who, std::string_view member);

// Indexes of @members, the one to turn to first first. Of the same name: as they stand.
std::vector<std::size_t> rendezvousOrder(std::string_view who, std::span<const std::string> members);

} // namespace nvmeof
