// SPDX-License-Identifier: LGPL-2.1-or-later
// All hosts, from their beginning to their end.
#pragma once

#include "crowd.h"
#include "process.h"
#include "push.h"

namespace storm {

struct Outcome {
	Counts counts;
	KnownLogs logs;
	std::vector<std::uint64_t> acknowledged = {};    // of each round, when the change was made; microseconds
	std::uint64_t elapsed = 0;                       // microseconds until the last host was there, or had given up
	std::uint64_t memoryBefore = 0, memoryAfter = 0; // bytes
	// Of processors, from the instant until the last host was there: the service's, where its process is known
	std::optional<CpuTime> serviceTime = {};
	CpuTime ownTime = {};
	std::string trouble = {}; // of this machine, that ended it
};

Outcome run(const Options &options);

} // namespace storm
