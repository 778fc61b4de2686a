// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs all hosts from start to end.
#pragma once

#include "host_pool.h"
#include "process.h"
#include "push.h"

namespace storm {

struct Outcome {
	Counts counts;
	KnownLogs logs;
	std::vector<std::uint64_t> acknowledged = {};    // per round: time until the change was made; microseconds
	std::uint64_t elapsed = 0;                       // microseconds until the last host had its log or had failed
	std::uint64_t memoryBefore = 0, memoryAfter = 0; // bytes
	// CPU time from the start until the last host had its log; of the service, if its process is known
	std::optional<CpuTime> serviceTime = {};
	CpuTime ownTime = {};
	std::string trouble = {}; // local error that ended the run
};

Outcome run(const Options &options);

} // namespace storm
