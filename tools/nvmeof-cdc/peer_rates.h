// SPDX-License-Identifier: LGPL-2.1-or-later
// How often each address may do something: so many at once, and so many a second from then on.
#pragma once

#include <chrono>
#include <map>

#include "peers.h"

namespace cdc {

class PeerRates {
public:
	using Clock = std::chrono::steady_clock;
	struct Limits {
		double burst, perSecond;
	};

	explicit PeerRates(Limits limits) : limits_(limits) {}

	// Whether one more is allowed for @peer's network
	bool allow(const Peer &peer, Clock::time_point now = Clock::now());
	std::size_t known() const { return buckets_.size(); }

private:
	static constexpr std::size_t most_known = 65536;
	struct Bucket {
		double left;
		Clock::time_point at;
	};

	double leftOf(const Bucket &bucket, Clock::time_point now) const;

	const Limits limits_;
	std::map<Peer, Bucket> buckets_; // of those that are not full again
};

} // namespace cdc
