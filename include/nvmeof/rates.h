// SPDX-License-Identifier: LGPL-2.1-or-later
// From counters that only grow to what happens per second, between two readings.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <nvmeof/histogram.h>
#include <nvmeof/path.h>

namespace nvmeof {

struct Rate {
	double ios = 0; // per second, as all below
	double bytesRead = 0;
	double bytesWritten = 0;
	double errors = 0;
	double retries = 0;
	Histogram latency{}; // reads and writes of the interval, not per second

	Rate &operator+=(const Rate &other);
};

/*
 * Paths are known by name. One that was not there at the reading before has begun to count since, as has one whose
 * counters went back because it went and came again: all that it counted belongs to the interval. Of the first reading
 * nothing is known but that.
 */
class Rates {
public:
	// @time: of any clock that does not jump. A reading at the time of the one before, or earlier, changes nothing.
	void update(std::chrono::nanoseconds time, const std::vector<Path> &paths);
	// Forgets everything: the next reading is the first.
	void reset();

	// Null before the second reading, and for a path that the last one did not have.
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
