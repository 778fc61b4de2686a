// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares configured stripes with existing ones and creates them.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/snapshot.h>

#include "mapper.h"

namespace nofctl::stripe {

// A configured stripe, and the members that exist
struct Parts {
	std::vector<std::string> disks;   // names, in order; "" for a missing member
	std::vector<std::string> missing; // wwids of missing members
	std::uint64_t bytes = 0;          // size of the stripe; only if no member is missing

	bool whole() const { return missing.empty(); }
};

Parts membersOfStripe(const nvmeof::ConfigStripe &stripe, const nvmeof::Snapshot &all);
// The single target of a stripe over @disks.
Target stripedTarget(const std::vector<std::string> &disks, std::uint64_t chunk, std::uint64_t bytes);
nvmeof::Result<void> makeStripe(const std::string &name, const Target &target);
// Whether @mapped is one of our stripes, judged by its name and uuid.
bool isStripe(const Mapped &mapped);

} // namespace nofctl::stripe
