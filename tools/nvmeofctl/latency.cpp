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

bool muchSlower(nanoseconds p50, nanoseconds fastest)
{
	constexpr int factor = 8; // well above the factor of two to which percentiles are exact
	constexpr nanoseconds leastDifference = std::chrono::milliseconds(1);
	return p50 > fastest * factor && p50 - fastest >= leastDifference;
}

static std::optional<Slowness> slownessIn(const char *op, nvmeof::Histogram nvmeof::Path::*histogram,
					  const nvmeof::Path &path, const std::vector<nvmeof::Path> &paths)
{
	constexpr std::uint64_t enough = 1000; // requests
	if (nvmeof::countOf(path.*histogram) < enough)
		return std::nullopt;
	Slowness slow{op, nvmeof::percentile(path.*histogram, 0.5), "", nanoseconds::max()};
	for (const nvmeof::Path &other : paths) {
		if (other.name == path.name || other.nameSpace != path.nameSpace || other.anaState != path.anaState ||
		    other.controllerState != nvmeof::ControllerState::live ||
		    nvmeof::countOf(other.*histogram) < enough)
			continue;
		const nanoseconds p50 = nvmeof::percentile(other.*histogram, 0.5);
		if (p50 < slow.fastestP50) {
			slow.fastest = other.name;
			slow.fastestP50 = p50;
		}
	}
	return !slow.fastest.empty() && muchSlower(slow.p50, slow.fastestP50) ? std::optional(slow) : std::nullopt;
}

std::optional<Slowness> slownessOf(const nvmeof::Path &path, const std::vector<nvmeof::Path> &paths)
{
	if (path.controllerState != nvmeof::ControllerState::live)
		return std::nullopt;
	std::optional<Slowness> slow = slownessIn("reads", &nvmeof::Path::readLatency, path, paths);
	return slow ? slow : slownessIn("writes", &nvmeof::Path::writeLatency, path, paths);
}
