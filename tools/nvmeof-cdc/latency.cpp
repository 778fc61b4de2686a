// SPDX-License-Identifier: LGPL-2.1-or-later
#include "latency.h"

#include <algorithm>
#include <bit>

namespace cdc {

void Latency::add(Clock::duration took)
{
	const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
	const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
	const auto units = time / static_cast<std::uint64_t>(nvmeof::histogramUnit.count());
	const auto bucket = std::min(static_cast<std::size_t>(std::bit_width(units)), nvmeof::histogramBuckets - 1);
	counts_[bucket].fetch_add(1, std::memory_order_relaxed);
	sum_.fetch_add(time, std::memory_order_release);
}

// The sum is read first: a concurrent add() may be in a count and not in the sum, but not the reverse.
Latency::Reading Latency::read() const
{
	Reading reading;
	reading.sum = std::chrono::nanoseconds(sum_.load(std::memory_order_acquire));
	for (std::size_t i = 0; i < counts_.size(); i++)
		reading.histogram[i] = counts_[i].load(std::memory_order_relaxed);
	return reading;
}

const char *toString(Served command)
{
	switch (command) {
	case Served::connect:
		return "connect";
	case Served::getLogPage:
		return "get_log_page";
	case Served::registration:
		return "registration";
	case Served::other:
		break;
	}
	return "other";
}

} // namespace cdc
