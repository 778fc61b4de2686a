// SPDX-License-Identifier: LGPL-2.1-or-later
// How often each address may do something
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

	// Whether one more is allowed for @peer's network
	bool allow(const Peer &peer, Clock::time_point now = Clock::now());
	std::size_t known() const { return buckets_.size(); }

private:
	static constexpr std::size_t most_known = 65536;

	const Limits limits_;
	std::map<Peer, TokenBucket> buckets_; // of those that are not full again
};

} // namespace cdc
