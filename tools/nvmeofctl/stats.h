// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of "stats".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nvmeof/histogram.h>
#include <nvmeof/path.h>
#include <nvmeof/snapshot.h>

#include "json.h"

Json statsJson(const nvmeof::Snapshot &snapshot);
std::string statsText(const nvmeof::Snapshot &snapshot);

// Sums of the counters of several paths.
struct Totals {
	std::uint64_t ios = 0;
	std::uint64_t bytesRead = 0;
	std::uint64_t bytesWritten = 0;
	std::uint64_t errors = 0;
	std::uint64_t retries = 0;
	std::uint64_t aborts = 0;
	std::uint64_t failovers = 0; // failovers from a path; each is also counted "to" at most one path
	std::uint32_t inflight = 0;
	nvmeof::Histogram readLatency{};
	nvmeof::Histogram writeLatency{};
};

Totals totalsOf(const std::vector<const nvmeof::Path *> &paths);
