// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <nvmeof/rates.h>

#include "latency.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Path counted(const char *name, std::uint64_t ios)
{
	Path path;
	path.name = name;
	path.ios = ios;
	path.bytesRead = ios * 4096;
	path.bytesWritten = ios * 512;
	path.errors = ios / 100;
	path.retries = ios / 50;
	path.readLatency[3] = ios / 2;
	path.writeLatency[5] = ios - ios / 2;
	return path;
}

} // namespace

TEST_CASE("rates of one interval are per second", "[rates]")
{
	Rates rates;
	rates.update(100s, {counted("a", 1000), counted("b", 0)});
	CHECK_FALSE(rates.of("a")); // the first reading has no interval
	CHECK(rates.interval() == 0s);
	rates.update(102s, {counted("a", 3000), counted("b", 0)});
	REQUIRE(rates.of("a"));
	CHECK(rates.of("a")->ios == Approx(1000));
	CHECK(rates.of("a")->bytesRead == Approx(1000 * 4096));
	CHECK(rates.of("a")->bytesWritten == Approx(1000 * 512));
	CHECK(rates.of("a")->errors == Approx(10));
	CHECK(rates.of("a")->retries == Approx(20));
	CHECK(rates.of("a")->latency[3] == 1000);
	CHECK(rates.of("a")->latency[5] == 1000);
	CHECK(rates.interval() == 2s);
	REQUIRE(rates.of("b"));
	CHECK(rates.of("b")->ios == 0);
	CHECK(countOf(rates.of("b")->latency) == 0);
	CHECK_FALSE(rates.of("c"));
}

TEST_CASE("each interval begins at the end of the previous one", "[rates]")
{
	Rates rates;
	rates.update(1s, {counted("a", 1000)});
	rates.update(2s, {counted("a", 2000)});
	rates.update(2500ms, {counted("a", 2100)});
	CHECK(rates.of("a")->ios == Approx(200));
	CHECK(rates.interval() == 500ms);
}

TEST_CASE("an interval of zero or negative length is ignored", "[rates]")
{
	Rates rates;
	rates.update(1s, {counted("a", 1000)});
	rates.update(1s, {counted("a", 1500)});
	CHECK_FALSE(rates.of("a"));
	rates.update(2s, {counted("a", 2000)});
	CHECK(rates.of("a")->ios == Approx(1000)); // since the first reading: the second one was ignored
	rates.update(2s, {counted("a", 9000)});
	rates.update(1500ms, {counted("a", 9000)}); // the clock went back
	CHECK(rates.of("a")->ios == Approx(1000));
	CHECK(rates.interval() == 1s);
}

TEST_CASE("the counters of an object that was created again start from zero", "[rates]")
{
	Rates rates;
	rates.update(1s, {counted("a", 1000000)});
	rates.update(2s, {counted("a", 300)});
	REQUIRE(rates.of("a"));
	CHECK(rates.of("a")->ios == Approx(300)); // the difference does not wrap
	CHECK(rates.of("a")->bytesRead == Approx(300 * 4096));
	CHECK(countOf(rates.of("a")->latency) == 300);
	rates.update(3s, {counted("a", 400)});
	CHECK(rates.of("a")->ios == Approx(100));
	Path fewer = counted("a", 500); // one smaller counter suffices
	fewer.readLatency = {};
	fewer.writeLatency = {};
	rates.update(4s, {fewer});
	CHECK(rates.of("a")->ios == Approx(500));
}

TEST_CASE("paths have rates from their first reading on after the first one", "[rates]")
{
	Rates rates;
	rates.update(1s, {counted("a", 1000)});
	rates.update(2s, {counted("a", 1100), counted("b", 50)});
	REQUIRE(rates.of("b")); // a new path has counted since the last reading
	CHECK(rates.of("b")->ios == Approx(50));
	rates.update(3s, {counted("b", 150)});
	CHECK_FALSE(rates.of("a"));
	CHECK(rates.of("b")->ios == Approx(100));
	rates.update(4s, {counted("a", 7), counted("b", 150)}); // a path with the same name returned
	CHECK(rates.of("a")->ios == Approx(7));
	rates.update(5s, {});
	rates.update(6s, {});
	CHECK_FALSE(rates.of("b"));
	CHECK(rates.interval() == 1s);
}

TEST_CASE("after a reset the next reading is the first one", "[rates]")
{
	Rates rates;
	rates.update(10s, {counted("a", 1000)});
	rates.update(11s, {counted("a", 1100)});
	rates.reset();
	CHECK_FALSE(rates.of("a"));
	CHECK(rates.interval() == 0s);
	rates.update(5s, {counted("a", 5000)}); // an earlier time is valid, too
	CHECK_FALSE(rates.of("a"));
	rates.update(6s, {counted("a", 5010)});
	CHECK(rates.of("a")->ios == Approx(10));
}

TEST_CASE("rates of several paths add up", "[rates]")
{
	Rates rates;
	rates.update(1s, {counted("a", 0), counted("b", 0)});
	rates.update(2s, {counted("a", 100), counted("b", 300)});
	Rate both;
	both += *rates.of("a");
	both += *rates.of("b");
	CHECK(both.ios == Approx(400));
	CHECK(both.bytesWritten == Approx(400 * 512));
	CHECK(countOf(both.latency) == 400);
}

TEST_CASE("a latency summary has the count and the percentiles", "[latency]")
{
	Histogram none{};
	CHECK(formatMax(summaryOf(none)) == "-");
	CHECK(formatPercentile(summaryOf(none), 0ns) == "-");
	Histogram some{};
	some[0] = 98;
	some[10] = 2; // 2^9 to 2^10 units: 0.52 to 1.05 ms
	LatencySummary summary = summaryOf(some);
	CHECK(summary.count == 100);
	CHECK(summary.p50 < 1024ns);
	CHECK(summary.p99 >= 512 * 1024ns);
	CHECK(summary.p99 <= 1024 * 1024ns);
	CHECK(formatMax(summary) == "< 1.05 ms");
	some[23] = 1;
	CHECK(summaryOf(some).open);
	CHECK(formatMax(summaryOf(some)) == "> 4.29 s");
	CHECK(formatLatency(0ns) == "0 ns");
	CHECK(formatLatency(999ns) == "999 ns");
	CHECK(formatLatency(1000ns) == "1.00 us");
	CHECK(formatLatency(12345ns) == "12.3 us");
	CHECK(formatLatency(999499ns) == "999 us");
	CHECK(formatLatency(999500ns) == "1.00 ms");
	CHECK(formatLatency(9995us) == "10.0 ms");
	CHECK(formatLatency(4s) == "4.00 s");
	CHECK(formatLatency(5000s) == "5000 s");
}
