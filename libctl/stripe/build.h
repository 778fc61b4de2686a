// SPDX-License-Identifier: LGPL-2.1-or-later
// Stripes that are configured, and those that there are.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/config.h>
#include <nvmeof/snapshot.h>

#include "mapper.h"

namespace nofctl::stripe {

// A configured stripe, with what is there of its members
struct Parts {
	std::vector<std::string> disks;   // names, in order; "" for one that is not there
	std::vector<std::string> missing; // wwids
	std::uint64_t bytes = 0;          // of the stripe; only when none is missing

	bool whole() const { return missing.empty(); }
};

Parts partsOf(const nvmeof::ConfigStripe &stripe, const nvmeof::Snapshot &all);
// The one target of a stripe over these disks.
Target stripedTarget(const std::vector<std::string> &disks, std::uint64_t chunk, std::uint64_t bytes);
nvmeof::Result<void> makeStripe(const std::string &name, const Target &target);
// Whether a device of device mapper is a stripe of that name of ours.
bool isStripe(const Mapped &mapped);

} // namespace nofctl::stripe
