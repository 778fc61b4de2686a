// SPDX-License-Identifier: LGPL-2.1-or-later
// Rate limit per address
#pragma once

#include <map>

#include "peers.h"
#include "token_bucket.h"

namespace cdc {

class PeerRates {
public:
	using Clock = TokenBucket::Clock;
	using Limits = TokenBucket::Limits;

	explicit PeerRates(Limits limits) : limits_(limits) {}

	// Whether one more action is allowed for @peer's network; counts it if so
	bool allow(const Peer &peer, Clock::time_point now = Clock::now());
	std::size_t known() const { return buckets_.size(); }

private:
	static constexpr std::size_t maxKnown = 65536;
	static constexpr std::chrono::seconds sweepInterval{1};

	const Limits limits_;
	Clock::time_point nextSweep_{};
	std::map<Peer, TokenBucket> buckets_; // without buckets that are full again
};

} // namespace cdc
