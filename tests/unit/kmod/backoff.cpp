// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>

extern "C" {
#include "core/backoff.h"
}

namespace {

constexpr uint32_t most = std::numeric_limits<uint32_t>::max();

} // namespace

TEST_CASE("back-off: doubles from 100 ms")
{
	uint32_t step = 100;
	for (uint32_t attempt = 0; attempt < 7; ++attempt, step *= 2) {
		CAPTURE(attempt);
		CHECK(nof_backoff_ms(attempt, 1000000, 0) == step);
		CHECK(nof_backoff_ms(attempt, 1000000, most) == step / 2);
	}
}

TEST_CASE("back-off: the delay is between half the step and the step, up to the bound")
{
	for (uint32_t max : {0u, 1u, 2u, 3u, 99u, 100u, 101u, 150u, 10000u, 600000u, 1u << 31, most - 1, most}) {
		for (uint32_t attempt : {0u, 1u, 5u, 20u, 25u, 26u, 27u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u, most}) {
			for (uint32_t random : {0u, 1u, 0x7fffffffu, 0x80000000u, most - 1, most}) {
				CAPTURE(max, attempt, random);
				const uint64_t step =
					attempt > 40 ? max : std::min<uint64_t>(max, uint64_t(100) << attempt);
				const uint32_t delay = nof_backoff_ms(attempt, max, random);
				CHECK(delay <= step);
				CHECK(delay >= step / 2);
			}
		}
	}
}

TEST_CASE("back-off: the delay is distributed over the whole range")
{
	// 16 evenly spaced random numbers with a step of 1600 ms: each sixteenth of [800, 1600] gets at least one delay
	unsigned int parts = 0;
	for (uint32_t i = 0; i < 16; ++i) {
		const uint32_t delay = nof_backoff_ms(4, 10000, i << 28 | 1u << 27);
		parts |= 1u << std::min((delay - 800) / 50, 15u);
	}
	CHECK(parts == 0xffff);
}

TEST_CASE("back-off: later attempts stay at the bound")
{
	for (uint32_t attempt = 7; attempt < 200; ++attempt)
		CHECK(nof_backoff_ms(attempt, 10000, 0) == 10000);
}

TEST_CASE("flaps: counted while connections are short, reset after a long one")
{
	uint32_t flaps = 0;
	for (uint32_t n = 1; n <= 20; n++) {
		flaps = nof_backoff_flaps(flaps, NOF_FLAP_MS - 1);
		CHECK(flaps == n);
	}
	CHECK(nof_backoff_flaps(flaps, NOF_FLAP_MS) == 0);
	for (int n = 0; n < 100; n++)
		flaps = nof_backoff_flaps(flaps, 0);
	CHECK(nof_backoff_flaps(flaps, 0) == flaps); // saturates without an overflow
	CHECK(nof_backoff_flaps(flaps, most) == 0);
}
