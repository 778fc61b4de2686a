// SPDX-License-Identifier: LGPL-2.1-or-later
#include "peer_rates.h"

namespace cdc {

bool PeerRates::allow(const Peer &peer, Clock::time_point now)
{
	const Peer network = peer.network();
	if (buckets_.size() >= maxKnown && !buckets_.contains(network)) {
		// a peer decides how often this is reached, and all networks are looked at
		if (now < nextSweep_)
			return false;
		nextSweep_ = now + sweepInterval;
		std::erase_if(buckets_, [&](const auto &one) { return one.second.full(limits_, now); });
		if (buckets_.size() >= maxKnown)
			return false;
	}
	return buckets_.try_emplace(network, limits_, now).first->second.take(limits_, now);
}

} // namespace cdc
