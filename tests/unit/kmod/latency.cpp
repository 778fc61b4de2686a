// SPDX-License-Identifier: LGPL-2.1-or-later
// The calculations of path selectors and of path monitoring: averages, expected latency, probes, outliers
#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>

extern "C" {
#include "core/backoff.h"
#include "mpath/latency.h"
#include "mpath/degrade_limits.h"
}

namespace {

constexpr u32 maxU32 = std::numeric_limits<u32>::max();
constexpr u32 us = 1000, ms = 1000000;

u32 after(u32 ewma, u64 sample, int times)
{
	while (times--)
		ewma = nof_lat_next(ewma, sample, false);
	return ewma;
}

} // namespace

TEST_CASE("latency: reads and writes, small and large, are separate classes")
{
	CHECK(nof_lat_class(false, 512) == NOF_LAT_READ);
	CHECK(nof_lat_class(false, 32768) == NOF_LAT_READ);
	CHECK(nof_lat_class(false, 32768 + 512) == NOF_LAT_READ_LARGE);
	CHECK(nof_lat_class(true, 0) == NOF_LAT_WRITE);
	CHECK(nof_lat_class(true, maxU32) == NOF_LAT_WRITE_LARGE);
}

TEST_CASE("latency: the average begins with the first sample and follows the rest")
{
	CHECK(nof_lat_next(0, 100 * us, false) == 100 * us);
	CHECK(nof_lat_next(30 * ms, 100 * us, true) == 100 * us); // the old average has expired
	CHECK(nof_lat_next(800, 1600, false) == 900);
	CHECK(nof_lat_next(1600, 800, false) == 1500);
	CHECK(after(100 * us, 10 * ms, 40) > 9 * ms);
	CHECK(after(10 * ms, 100 * us, 60) < 200 * us);
}

TEST_CASE("latency: the average is never 0, which means unknown, and stays between its samples")
{
	CHECK(nof_lat_next(0, 0, false) == 1);
	CHECK(nof_lat_next(5, 0, true) == 1);
	CHECK(after(1000, 0, 1000) >= 1);
	CHECK(nof_lat_next(0, 1ull << 40, false) == maxU32);
	CHECK(after(1, maxU32, 1000) <= maxU32);
	CHECK(after(1, maxU32, 1000) > maxU32 - 16);
	for (u32 from : {1u, 7u, 8u, 1000u, maxU32})
		for (u64 to : {0ull, 1ull, 9ull, 5000ull, 1ull << 33}) {
			CAPTURE(from, to);
			const u64 sample = std::min<u64>(to, maxU32), next = nof_lat_next(from, to, false);
			CHECK(next >= std::max<u64>(1, std::min<u64>(from, sample)));
			CHECK(next <= std::max<u64>(from, sample));
		}
}

TEST_CASE("latency: the expected latency grows with the queue depth")
{
	CHECK(nof_lat_expect(100, 0) == 100);
	CHECK(nof_lat_expect(100, 3) == 400);
	CHECK(nof_lat_expect(maxU32, maxU32) == u64(maxU32) << 32);
}

TEST_CASE("latency: the path with the lower expected latency is taken")
{
	CHECK(nof_lat_better(30 * ms, 0, 100 * us, 200));
	CHECK_FALSE(nof_lat_better(100 * us, 200, 30 * ms, 0));
	CHECK(nof_lat_better(100 * us, 400, 30 * ms, 0));
	CHECK_FALSE(nof_lat_better(100 * us, 2, 100 * us, 2)); // equal: no switch
	CHECK(nof_lat_better(100 * us, 2, 100 * us, 1));
	// a path without a queue map has no meaningful depth
	CHECK_FALSE(nof_lat_better(100 * us, 2, 1, std::numeric_limits<s32>::max()));
}

TEST_CASE("latency: without averages the depth decides, and an unknown path gets one request at a time")
{
	CHECK(nof_lat_better(0, 2, 0, 1));
	CHECK_FALSE(nof_lat_better(0, 1, 0, 1));
	CHECK(nof_lat_better(100 * us, 0, 0, 0));
	CHECK_FALSE(nof_lat_better(100 * us, 5, 0, 1));
	CHECK(nof_lat_better(0, 1, 100 * us, 5));
	CHECK_FALSE(nof_lat_better(0, 0, 100 * us, 0));
}

TEST_CASE("latency: an unused path is probed, unless its last probe is outstanding")
{
	const u32 now = 1000000, gap = NOF_LAT_PROBE;
	CHECK_FALSE(nof_lat_due(now, now, now - 9 * gap, 0)); // in use
	CHECK_FALSE(nof_lat_due(now, now - gap + 1, now - gap, 0));
	CHECK_FALSE(nof_lat_due(now, now - 2 * gap, now - gap + 1, 0)); // probed recently
	CHECK(nof_lat_due(now, now - gap, now - gap, 0));
	CHECK_FALSE(nof_lat_due(now, now - gap - 1, now - gap, 1)); // no answer since the probe
	CHECK(nof_lat_due(now, now - gap, now - gap - 1, 1));       // only other requests are outstanding
	CHECK(nof_lat_due(now, now - 5 * gap, now - 4 * gap, 1));   // after several intervals regardless
	// jiffies wrap
	CHECK(nof_lat_due(5, u32(5) - gap, u32(5) - gap, 0));
	CHECK_FALSE(nof_lat_due(5, 0, u32(5) - gap, 0));
	CHECK(nof_lat_due(u32(-gap), u32(-2 * gap), u32(-2 * gap - 1), 1));
}

TEST_CASE("latency: an expired average is unknown")
{
	CHECK(nof_lat_known(1000, 77, 1000) == 77);
	CHECK(nof_lat_known(1000, 77, 1000 - NOF_LAT_PROBE) == 77);
	CHECK(nof_lat_known(1000, 77, 1000 - NOF_LAT_PROBE - 1) == 0);
}

TEST_CASE("latency: buckets of the histogram double")
{
	CHECK(nof_lat_bucket(0) == 0);
	CHECK(nof_lat_bucket(1023) == 0);
	CHECK(nof_lat_bucket(1024) == 1);
	CHECK(nof_lat_bucket(2047) == 1);
	CHECK(nof_lat_bucket(2048) == 2);
	for (unsigned int i = 1; i < NVMEOF_HIST_BUCKETS - 1; i++) {
		CAPTURE(i);
		CHECK(nof_lat_bucket(u64(NVMEOF_HIST_UNIT_NS) << (i - 1)) == i);
		CHECK(nof_lat_bucket((u64(NVMEOF_HIST_UNIT_NS) << i) - 1) == i);
	}
	CHECK(nof_lat_bucket(std::numeric_limits<u64>::max()) == NVMEOF_HIST_BUCKETS - 1);
}

TEST_CASE("outlier: a slow path is several times and noticeably slower than its peers")
{
	CHECK_FALSE(nof_outlier_slow(4 * ms, 1 * ms));
	CHECK(nof_outlier_slow(4 * ms + 1, 1 * ms));
	CHECK_FALSE(nof_outlier_slow(900 * us, 10 * us)); // 90 times as slow, but below 1 ms
	CHECK(nof_outlier_slow(1100 * us, 10 * us));
	CHECK_FALSE(nof_outlier_slow(maxU32, maxU32 / 2));
	CHECK_FALSE(nof_outlier_slow(0, 1));
}

TEST_CASE("outlier: the limit for the return of a slow path is below the limit for its detection")
{
	for (u32 peer : {1u, 10 * us, 100 * us, 300 * us, 1 * ms, 30 * ms, 1000 * ms}) {
		CAPTURE(peer);
		CHECK(nof_outlier_limit(peer) >= peer);
		if (nof_outlier_limit(peer) < maxU32)
			CHECK_FALSE(nof_outlier_slow(nof_outlier_limit(peer), peer));
	}
	CHECK(nof_outlier_limit(30 * ms) == 60 * ms);
	CHECK(nof_outlier_limit(10 * us) == 510 * us);
	CHECK(nof_outlier_limit(maxU32) == 2 * u64(maxU32));
}

TEST_CASE("outlier: a faulty path has at least one error in ten requests, and five errors")
{
	CHECK_FALSE(nof_outlier_faulty(0, 4, 100, 0));
	CHECK(nof_outlier_faulty(0, 5, 100, 0));
	CHECK(nof_outlier_faulty(45, 5, 100, 0));
	CHECK_FALSE(nof_outlier_faulty(46, 5, 100, 0));
	CHECK(nof_outlier_faulty(0, 5, 0, 0)); // its peers were idle
}

TEST_CASE("outlier: errors that the peers have, too, do not count")
{
	CHECK_FALSE(nof_outlier_faulty(10, 10, 10, 10));
	CHECK_FALSE(nof_outlier_faulty(10, 10, 100, 20));
	CHECK(nof_outlier_faulty(10, 10, 100, 10));
	CHECK_FALSE(nof_outlier_faulty(0, 100000000, 0, 100000000));
}

TEST_CASE("a late watch interval counts less, but at least a little")
{
	CHECK(nof_watch_step(0) == 0);
	CHECK(nof_watch_step(20) == 20);
	CHECK(nof_watch_step(30) == 30); // the slack of timers
	CHECK(nof_watch_step(31) == 9);
	CHECK(nof_watch_step(37) == 3);
	CHECK(nof_watch_step(38) == 2);
	CHECK(nof_watch_step(40) == 2);
	CHECK(nof_watch_step(maxU32) == 2);
}
