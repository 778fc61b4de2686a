// SPDX-License-Identifier: LGPL-2.1-or-later
// Latency histogram of the kernel: request counts per bucket; bucket widths double.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace nvmeof {

// NVMEOF_HIST_BUCKETS and NVMEOF_HIST_UNIT_NS of include/uapi/linux/nvmeof.h.
inline constexpr std::size_t histogramBuckets = 24;
inline constexpr std::chrono::nanoseconds histogramUnit{1024};

// [0] counts latencies below one unit, [i] those in [2^(i-1), 2^i) units; the last bucket has no upper bound. Counts
// start when the path is created.
using Histogram = std::array<std::uint64_t, histogramBuckets>;

// Lower and upper bound of a bucket. The last bucket's upper bound equals its lower bound.
std::chrono::nanoseconds bucketBegin(std::size_t bucket);
std::chrono::nanoseconds bucketEnd(std::size_t bucket);

std::uint64_t countOf(const Histogram &histogram);

// Counts between two readings of the same counters. A counter that decreased was reset: it is taken as counted from
// zero.
Histogram difference(const Histogram &now, const Histogram &before);
Histogram sum(const Histogram &a, const Histogram &b);

/*
 * The latency below which @fraction (0 to 1; 0.99 for p99) of the requests completed. Interpolates linearly within a
 * bucket, like histogram_quantile() of Prometheus, so the error is less than a factor of two. Requests in the last
 * bucket count as its lower bound, about 4.3 s. 0 if the histogram is empty.
 */
std::chrono::nanoseconds percentile(const Histogram &histogram, double fraction);

} // namespace nvmeof
