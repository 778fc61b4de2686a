// SPDX-License-Identifier: LGPL-2.1-or-later
#include "latency.h"

#include <fmt/format.h>

using std::chrono::nanoseconds;

LatencySummary summaryOf(const nvmeof::Histogram &histogram)
{
	LatencySummary summary;
	summary.count = nvmeof::countOf(histogram);
	summary.p50 = nvmeof::percentile(histogram, 0.5);
	summary.p99 = nvmeof::percentile(histogram, 0.99);
	for (std::size_t i = 0; i < histogram.size(); i++) {
		if (!histogram[i])
			continue;
		summary.max = nvmeof::bucketEnd(i);
		summary.open = i + 1 == histogram.size();
	}
	return summary;
}

std::string formatLatency(nanoseconds time)
{
	if (time.count() < 1000)
		return fmt::format("{} ns", time.count());
	double value = static_cast<double>(time.count()) / 1000;
	const char *unit = "us";
	for (const char *next : {"ms", "s"}) {
		if (value < 999.5)
			break;
		value /= 1000;
		unit = next;
	}
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string formatPercentile(const LatencySummary &summary, nanoseconds time)
{
	return summary.count ? formatLatency(time) : "-";
}

std::string formatMax(const LatencySummary &summary)
{
	if (!summary.count)
		return "-";
	return fmt::format("{} {}", summary.open ? '>' : '<', formatLatency(summary.max));
}
