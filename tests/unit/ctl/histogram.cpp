// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <nvmeof/histogram.h>

using namespace nvmeof;
using namespace std::chrono_literals;

TEST_CASE("buckets are contiguous", "[histogram]")
{
	CHECK(bucketBegin(0) == 0ns);
	CHECK(bucketEnd(0) == 1024ns);
	CHECK(bucketBegin(1) == 1024ns);
	CHECK(bucketEnd(1) == 2048ns);
	for (std::size_t i = 1; i < histogramBuckets; i++)
		CHECK(bucketBegin(i) == bucketEnd(i - 1));
	CHECK(bucketEnd(histogramBuckets - 1) == bucketBegin(histogramBuckets - 1)); // the last bucket has no end
	CHECK(bucketBegin(histogramBuckets - 1) == 1024ns * (1 << 22));
	CHECK(bucketBegin(1000) == bucketBegin(histogramBuckets - 1));
}

TEST_CASE("percentiles", "[histogram]")
{
	Histogram h{};
	SECTION("of nothing are zero")
	{
		CHECK(percentile(h, 0.5) == 0ns);
		CHECK(percentile(h, 1) == 0ns);
	}
	SECTION("within one bucket are spread over it")
	{
		h[4] = 100; // bucket 4: 8 to 16 units
		CHECK(percentile(h, 0) == 8 * 1024ns);
		CHECK(percentile(h, 0.5) == 12 * 1024ns);
		CHECK(percentile(h, 1) == 16 * 1024ns);
	}
	SECTION("fall into the bucket that holds that part")
	{
		h[0] = 99;
		h[10] = 1; // bucket 10: 512 to 1024 units
		CHECK(percentile(h, 0.5) < 1024ns);
		CHECK(percentile(h, 0.98) <= 1024ns);
		CHECK(percentile(h, 0.995) == 768 * 1024ns);
	}
	SECTION("beyond all buckets are the beginning of the last")
	{
		h[histogramBuckets - 1] = 3;
		CHECK(percentile(h, 0.5) == bucketBegin(histogramBuckets - 1));
		CHECK(percentile(h, 1) == bucketBegin(histogramBuckets - 1));
	}
	SECTION("of an invalid fraction are those of the nearest valid one")
	{
		h[4] = 2;
		CHECK(percentile(h, -1) == percentile(h, 0));
		CHECK(percentile(h, 99) == percentile(h, 1));
	}
	SECTION("do not overflow")
	{
		h.fill(UINT64_MAX / histogramBuckets);
		CHECK(percentile(h, 0.99) > 0ns);
	}
}

TEST_CASE("the difference of two readings has the samples between them", "[histogram]")
{
	Histogram before{}, now{};
	before[3] = 5, now[3] = 12;
	before[4] = 9, now[4] = 2; // the path was created again
	Histogram between = difference(now, before);
	CHECK(between[3] == 7);
	CHECK(between[4] == 2);
	CHECK(countOf(between) == 9);
	CHECK(sum(between, before)[3] == 12);
}
