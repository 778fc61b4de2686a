// SPDX-License-Identifier: LGPL-2.1-or-later
// Summary of a latency histogram.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/histogram.h>
#include <nvmeof/path.h>

struct LatencySummary {
	std::uint64_t count = 0;
	std::chrono::nanoseconds p50{0};
	std::chrono::nanoseconds p99{0};
	std::chrono::nanoseconds max{0}; // end of the last bucket in use
	bool open = false;               // that bucket has no end: max is a lower bound
};

LatencySummary summaryOf(const nvmeof::Histogram &histogram);

// Three digits and a unit: "820 ns", "12.3 us", "4.51 ms", "1.20 s".
std::string formatLatency(std::chrono::nanoseconds time);
// "-" when nothing was counted.
std::string formatPercentile(const LatencySummary &summary, std::chrono::nanoseconds time);
// "< 2.10 ms", "> 4.29 s", "-"
std::string formatMax(const LatencySummary &summary);

// The comparison of a slow path with the fastest one
struct Slowness {
	const char *op = ""; // "reads" or "writes"
	std::chrono::nanoseconds p50{0};
	std::string fastest; // path
	std::chrono::nanoseconds fastestP50{0};
};

// Whether the median @p50 is more than 8 times, and at least 1 ms, above that of the fastest path.
bool muchSlower(std::chrono::nanoseconds p50, std::chrono::nanoseconds fastest);

using SlowPaths = std::map<std::string, Slowness>; // by the name of the path

/*
 * The slow ones of @paths: the median of their reads, or of their writes, is muchSlower() than that of the fastest live
 * path to the same namespace in the same ANA state. Compares all requests since the paths appeared, and only paths that
 * completed at least 1000.
 */
SlowPaths slowPaths(const std::vector<nvmeof::Path> &paths);
