// SPDX-License-Identifier: LGPL-2.1-or-later
// Randomized delays, so that hosts do not act in lockstep after a common event.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>

namespace nofctl {

// A random time from @time / 2 to @time
inline std::chrono::milliseconds jittered(std::chrono::milliseconds time)
{
	thread_local std::mt19937_64 random{std::random_device{}()};
	std::uniform_int_distribution<std::chrono::milliseconds::rep> from(time.count() / 2, time.count());
	return std::chrono::milliseconds(from(random));
}

// Exponential back-off with jitter: the delay doubles with each attempt
class Backoff {
public:
	Backoff(std::chrono::milliseconds first, std::chrono::milliseconds max) : first_(first), max_(max) {}

	std::chrono::milliseconds next()
	{
		step_ = step_.count() ? std::min(2 * step_, max_) : first_;
		return jittered(step_);
	}
	void reset() { step_ = {}; }

private:
	std::chrono::milliseconds first_, max_, step_{0};
};

} // namespace nofctl
