// SPDX-License-Identifier: LGPL-2.1-or-later
// Summary of a latency histogram.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/histogram.h>

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
