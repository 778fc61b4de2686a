// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/rendezvous.h>

#include <algorithm>
#include <numeric>

namespace nvmeof {

namespace {

constexpr std::uint64_t fnvBasis = 0xcbf29ce484222325, fnvPrime = 0x100000001b3;

std::uint64_t hashed(std::uint64_t hash, std::string_view text)
{
	for (unsigned char c : text)
		hash = (hash ^ c) * fnvPrime;
	return hash;
}

// FNV-1a alone spreads names that differ only at the end too little over the upper bits.
std::uint64_t mixed(std::uint64_t hash)
{
	hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
	hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
	return hash ^ (hash >> 33);
}

} // namespace

std::uint64_t rendezvousWeight(std::string_view who, std::string_view member)
{
	return mixed(hashed(hashed(hashed(fnvBasis, who), std::string_view("\0", 1)), member));
}

std::vector<std::size_t> rendezvousOrder(std::string_view who, std::span<const std::string> members)
{
	std::vector<std::uint64_t> weights;
	weights.reserve(members.size());
	for (const std::string &member : members)
		weights.push_back(rendezvousWeight(who, member));
	std::vector<std::size_t> order(members.size());
	std::iota(order.begin(), order.end(), 0);
	std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
	return order;
}

} // namespace nvmeof
