// SPDX-License-Identifier: LGPL-2.1-or-later
// Converts two readings of monotonic counters into rates per second.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/histogram.h>
#include <nvmeof/path.h>

namespace nvmeof {

struct Rate {
	double ios = 0; // all but latency: per second
	double bytesRead = 0;
	double bytesWritten = 0;
	double errors = 0;
	double retries = 0;
	Histogram latency{}; // reads and writes of the interval; counts, not per second

	Rate &operator+=(const Rate &other);
};

// Paths are identified by name. If a path is new, or its counters decreased because it was recreated, all its counts
// belong to the last interval. The first reading yields no rates.
class Rates {
public:
	// @time: any clock without jumps. A reading that is not later than the previous one is ignored.
	void update(std::chrono::nanoseconds time, const std::vector<Path> &paths);
	// Discards all readings: the next one is the first.
	void reset();

	// Null before the second reading, and for a path that is not in the last one.
	const Rate *of(const std::string &path) const;
	// Length of the last interval; 0 before the second reading.
	std::chrono::nanoseconds interval() const { return interval_; }

private:
	struct Counters {
		std::uint64_t ios = 0, bytesRead = 0, bytesWritten = 0, errors = 0, retries = 0;
		Histogram latency{};
	};
	static Counters countersOf(const Path &path);
	static bool wentBack(const Counters &now, const Counters &before);
	static Rate rateOf(const Counters &now, const Counters &before, double seconds);

	bool started_ = false;
	std::chrono::nanoseconds time_{0};
	std::chrono::nanoseconds interval_{0};
	std::map<std::string, Counters> counters_;
	std::map<std::string, Rate> rates_;
};

} // namespace nvmeof
