// SPDX-License-Identifier: LGPL-2.1-or-later
// Latency as the kernel counts it: how many requests took how long, in classes that double in width.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace nvmeof {

// NVMEOF_HIST_BUCKETS and NVMEOF_HIST_UNIT_NS of include/uapi/linux/nvmeof.h.
inline constexpr std::size_t histogramBuckets = 24;
inline constexpr std::chrono::nanoseconds histogramUnit{1024};

/*
 * [0] counts requests below one unit, [i] those from 2^(i-1) up to, but not with, 2^i units; the last one has no upper
 * end. Counters grow from the moment that the path appeared.
 */
using Histogram = std::array<std::uint64_t, histogramBuckets>;

// Where a bucket begins, and where it ends. The end of the last one is its beginning.
std::chrono::nanoseconds bucketBegin(std::size_t bucket);
std::chrono::nanoseconds bucketEnd(std::size_t bucket);

std::uint64_t countOf(const Histogram &histogram);

// What was counted between two readings of the same counters. A counter that went back has started anew: it counts
// from zero.
Histogram difference(const Histogram &now, const Histogram &before);
Histogram sum(const Histogram &a, const Histogram &b);

/*
 * The time within which the part @fraction (0 to 1; 0.99 for p99) of the requests was done. Requests are taken as
 * evenly spread over their bucket, as Prometheus' histogram_quantile() does, so the answer is off by less than a factor
 * of two. One in the last bucket counts as its beginning (about 4.3 s), a lower bound. 0 when nothing was counted.
 */
std::chrono::nanoseconds percentile(const Histogram &histogram, double fraction);

} // namespace nvmeof
