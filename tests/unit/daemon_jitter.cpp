// SPDX-License-Identifier: LGPL-2.1-or-later
// 200 hosts that something happens to at the same moment.
#include "libctl/base/jitter.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr unsigned hosts = 200;

// Most of these that come within so long a time
std::size_t crowd(std::vector<std::chrono::milliseconds> when, std::chrono::milliseconds within)
{
	std::ranges::sort(when);
	std::size_t most = 0, first = 0;
	for (std::size_t last = 0; last < when.size(); last++) {
		while (when[last] - when[first] > within)
			first++;
		most = std::max(most, last - first + 1);
	}
	return most;
}

} // namespace

// A service that has gone comes back: who tries again, and when
TEST_CASE("200 hosts do not try again in step", "[daemon][jitter]")
{
	std::vector<nofctl::Backoff> backoffs(hosts, nofctl::Backoff(1s, 60s));
	std::vector<std::chrono::milliseconds> when(hosts, 0ms);
	for (unsigned attempt = 1; attempt <= 8; attempt++) {
		for (unsigned i = 0; i < hosts; i++)
			when[i] += backoffs[i].next();
		// a tenth of the span that they are spread over has a fifth of them on average, where they are even
		INFO("attempt " << attempt);
		CHECK(crowd(when, 50ms) < hosts * 2 / 5);
		CHECK(*std::ranges::max_element(when) - *std::ranges::min_element(when) >= 400ms);
	}
	// in the end an attempt of all is spread over half a minute
	CHECK(crowd(when, 1s) < hosts / 4);
}

TEST_CASE("200 hosts do not read a log in step", "[daemon][jitter]")
{
	std::vector<std::chrono::milliseconds> soaked, polled;
	for (unsigned i = 0; i < hosts; i++) {
		soaked.push_back(nofctl::jittered(20ms)); // after an event that all got
		polled.push_back(nofctl::jittered(60s));
	}
	CHECK(crowd(soaked, 1ms) < hosts / 2);
	CHECK(crowd(polled, 1s) < hosts / 5);
	CHECK(std::ranges::all_of(soaked, [](auto time) { return time >= 10ms && time <= 20ms; }));
}
