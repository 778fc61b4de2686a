// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peer_rates.h"

#include <algorithm>

namespace cdc {

double PeerRates::leftOf(const Bucket &bucket, Clock::time_point now) const
{
	const double seconds = std::chrono::duration<double>(now - bucket.at).count();
	return std::min(bucket.left + seconds * limits_.perSecond, limits_.burst);
}

bool PeerRates::allow(const Peer &peer, Clock::time_point now)
{
	const Peer network = peer.network();
	if (buckets_.size() >= most_known && !buckets_.contains(network)) {
		std::erase_if(buckets_, [&](const auto &one) { return leftOf(one.second, now) >= limits_.burst; });
		if (buckets_.size() >= most_known)
			return false;
	}
	Bucket &bucket = buckets_.try_emplace(network, Bucket{limits_.burst, now}).first->second;
	bucket = {leftOf(bucket, now), now};
	if (bucket.left < 1)
		return false;
	bucket.left -= 1;
	return true;
}

} // namespace cdc
