// SPDX-License-Identifier: LGPL-2.1-or-later
// The delays of 200 hosts after an event that all of them see at the same time
#include "libctl/base/jitter.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr unsigned hosts = 200;

// Returns the largest number of these times within an interval of this length.
std::size_t crowd(std::vector<std::chrono::milliseconds> when, std::chrono::milliseconds within)
{
	std::ranges::sort(when);
	std::size_t max = 0, first = 0;
	for (std::size_t last = 0; last < when.size(); last++) {
		while (when[last] - when[first] > within)
			first++;
		max = std::max(max, last - first + 1);
	}
	return max;
}

} // namespace

// A discovery service returns after a failure, and the hosts reconnect.
TEST_CASE("200 hosts do not reconnect at the same time", "[daemon][jitter]")
{
	std::vector<nofctl::Backoff> backoffs(hosts, nofctl::Backoff(1s, 60s));
	std::vector<std::chrono::milliseconds> when(hosts, 0ms);
	for (unsigned attempt = 1; attempt <= 8; attempt++) {
		for (unsigned i = 0; i < hosts; i++)
			when[i] += backoffs[i].next();
		// 50 ms are a tenth of the span after the first attempt, so that 20 hosts are within it on average.
		// That 50 hosts are within any 50 ms happens by chance less than once in a million runs.
		INFO("attempt " << attempt);
		CHECK(crowd(when, 50ms) < hosts / 4);
		CHECK(*std::ranges::max_element(when) - *std::ranges::min_element(when) >= 400ms);
	}
	// later attempts are spread over half a minute
	CHECK(crowd(when, 1s) < hosts / 4);
}

TEST_CASE("200 hosts do not read a log at the same time", "[daemon][jitter]")
{
	std::vector<std::chrono::milliseconds> soaked, polled;
	for (unsigned i = 0; i < hosts; i++) {
		soaked.push_back(nofctl::jittered(20ms)); // after an event that all received
		polled.push_back(nofctl::jittered(60s));
	}
	CHECK(crowd(soaked, 1ms) < hosts / 2);
	CHECK(crowd(polled, 1s) < hosts / 5);
	CHECK(std::ranges::all_of(soaked, [](auto time) { return time >= 10ms && time <= 20ms; }));
}
