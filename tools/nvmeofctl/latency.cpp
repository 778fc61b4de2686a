// SPDX-License-Identifier: LGPL-2.1-or-later
#include "latency.h"

#include <optional>

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

bool muchSlower(nanoseconds p50, nanoseconds fastest)
{
	constexpr int factor = 8; // well above the factor of two to which percentiles are exact
	constexpr nanoseconds leastDifference = std::chrono::milliseconds(1);
	return p50 > fastest * factor && p50 - fastest >= leastDifference;
}

// Of a live path with enough requests to compare
static std::optional<nanoseconds> median(const nvmeof::Path &path, const nvmeof::Histogram &histogram)
{
	constexpr std::uint64_t enough = 1000; // requests
	if (path.controllerState != nvmeof::ControllerState::live || nvmeof::countOf(histogram) < enough)
		return std::nullopt;
	return nvmeof::percentile(histogram, 0.5);
}

SlowPaths slowPaths(const std::vector<nvmeof::Path> &paths)
{
	SlowPaths slow;
	for (const auto &[op, of] :
	     {std::pair("reads", &nvmeof::Path::readLatency), std::pair("writes", &nvmeof::Path::writeLatency)}) {
		std::map<std::pair<std::string, nvmeof::AnaState>, std::pair<nanoseconds, std::string>> fastest;
		for (const nvmeof::Path &path : paths)
			if (const auto p50 = median(path, path.*of)) {
				const std::pair own(*p50, path.name);
				auto &best = fastest.try_emplace({path.nameSpace, path.anaState}, own).first->second;
				if (*p50 < best.first)
					best = own;
			}
		for (const nvmeof::Path &path : paths)
			if (const auto p50 = median(path, path.*of)) {
				const auto &[best, name] = fastest.at({path.nameSpace, path.anaState});
				if (muchSlower(*p50, best))
					slow.try_emplace(path.name, Slowness{op, *p50, name, best});
			}
	}
	return slow;
}
