// SPDX-License-Identifier: LGPL-2.1-or-later
// Rate limit: a burst, then a sustained rate per second
#pragma once

#include <algorithm>
#include <chrono>

namespace cdc {

class TokenBucket {
public:
	using Clock = std::chrono::steady_clock;
	struct Limits {
		double burst, perSecond;
	};

	TokenBucket(const Limits &limits, Clock::time_point now) : left_(limits.burst), at_(now) {}

	// Whether an event is allowed at @now; takes a token if so
	bool take(const Limits &limits, Clock::time_point now)
	{
		left_ = leftAt(limits, now);
		at_ = now;
		if (left_ < 1)
			return false;
		left_ -= 1;
		return true;
	}
	// Time from @now until the next token
	std::chrono::duration<double> wait(const Limits &limits, Clock::time_point now) const
	{
		return std::chrono::duration<double>(std::max(1 - leftAt(limits, now), 0.0) / limits.perSecond);
	}
	bool full(const Limits &limits, Clock::time_point now) const { return leftAt(limits, now) >= limits.burst; }

private:
	double leftAt(const Limits &limits, Clock::time_point now) const
	{
		const double seconds = std::chrono::duration<double>(now - at_).count();
		return std::min(left_ + seconds * limits.perSecond, limits.burst);
	}

	double left_;
	Clock::time_point at_; // time of left_
};

} // namespace cdc
