// SPDX-License-Identifier: LGPL-2.1-or-later
#include <nvmeof/histogram.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <linux/nvmeof.h>

namespace nvmeof {

static_assert(histogramBuckets == NVMEOF_HIST_BUCKETS);
static_assert(histogramUnit.count() == NVMEOF_HIST_UNIT_NS);

std::chrono::nanoseconds bucketBegin(std::size_t bucket)
{
	if (bucket == 0)
		return std::chrono::nanoseconds(0);
	return histogramUnit * (1LL << (std::min(bucket, histogramBuckets - 1) - 1));
}

std::chrono::nanoseconds bucketEnd(std::size_t bucket)
{
	return bucket + 1 < histogramBuckets ? bucketBegin(bucket + 1) : bucketBegin(histogramBuckets - 1);
}

std::uint64_t countOf(const Histogram &histogram)
{
	return std::accumulate(histogram.begin(), histogram.end(), std::uint64_t{0});
}

Histogram difference(const Histogram &now, const Histogram &before)
{
	Histogram result{};
	for (std::size_t i = 0; i < histogramBuckets; i++)
		result[i] = now[i] < before[i] ? now[i] : now[i] - before[i];
	return result;
}

Histogram sum(const Histogram &a, const Histogram &b)
{
	Histogram result{};
	for (std::size_t i = 0; i < histogramBuckets; i++)
		result[i] = a[i] + b[i];
	return result;
}

std::chrono::nanoseconds percentile(const Histogram &histogram, double fraction)
{
	double wanted = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(countOf(histogram));
	double below = 0;
	std::chrono::nanoseconds answer{0};
	for (std::size_t i = 0; i < histogramBuckets; i++) {
		double here = static_cast<double>(histogram[i]);
		if (here == 0)
			continue;
		double part = std::clamp((wanted - below) / here, 0.0, 1.0);
		double width = static_cast<double>((bucketEnd(i) - bucketBegin(i)).count());
		answer = bucketBegin(i) + std::chrono::nanoseconds(std::llround(part * width));
		below += here;
		if (below >= wanted)
			break;
	}
	return answer;
}

} // namespace nvmeof
