// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rendezvous hashing: chooses among equivalent members, in a different order for each user. Load spreads evenly, and
 * adding or removing a member moves only users to or from that member. No state is shared: any party that knows both
 * names computes the same order.
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
 * The member with the largest weight is used first. The weight is the 64-bit FNV-1a hash of @who, a zero byte and
 * @member, mixed by the finalizer of MurmurHash3. It must never change: hosts and services of different versions have
 * to agree.
 */
std::uint64_t rendezvousWeight(std::string_view who, std::string_view member);

// Indexes of @members by descending weight. Members of equal weight keep their order.
std::vector<std::size_t> rendezvousOrder(std::string_view who, std::span<const std::string> members);

} // namespace nvmeof
