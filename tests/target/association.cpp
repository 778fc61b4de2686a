// SPDX-License-Identifier: LGPL-2.1-or-later
#include "association.h"

#include <random>

namespace target {

void Association::renew()
{
	static std::mutex one;
	static std::mt19937_64 random{std::random_device{}()};
	std::lock_guard guard(one);
	ciu = static_cast<std::uint8_t>(ciu % 255 + 1); // 0 means not supported
	cirn = random() | 1;
}

void Association::clearDiscoveryEvent()
{
	std::lock_guard guard(lock);
	discoveryEventPending = false;
	std::erase_if(asyncEvents, [](auto &e) { return e.log == log_discovery; });
}

// The timer is rounded up to its granularity. With traffic-based keep-alive it is evaluated once per period, so two
// periods may pass (Base 2.0, 3.9); with lateExpiry one more (TP4129).
Clock::time_point Association::lostAtLocked() const
{
	if (!kato.count())
		return Clock::time_point::max();
	auto timer = kato;
	if (katoUnit.count())
		timer = (kato + katoUnit - std::chrono::milliseconds(1)) / katoUnit * katoUnit;
	return lastSign + timer * ((trafficKeepAlive ? 2 : 1) + (lateExpiry ? 1 : 0));
}

Clock::time_point Association::keepAliveExpiry() const
{
	std::lock_guard guard(lock);
	return lostAtLocked();
}

Clock::time_point Association::quiescedAt() const
{
	std::lock_guard guard(lock);
	auto lost = lostAtLocked();
	return lost == Clock::time_point::max() ? lost : lost + quiesce;
}

std::shared_ptr<Association> Associations::create()
{
	std::lock_guard guard(lock_);
	auto a = std::make_shared<Association>();
	do {
		// FFF0h and above are reserved; Base 2.0, figure 275
		last_ = static_cast<std::uint16_t>(last_ >= 0xffef ? 1 : last_ + 1);
	} while (map_.contains(last_));
	a->cntlid = last_;
	a->serial = ++created_;
	a->renew();
	map_[last_] = a;
	return a;
}

std::shared_ptr<Association> Associations::find(std::uint16_t cntlid) const
{
	std::lock_guard guard(lock_);
	auto at = map_.find(cntlid);
	return at == map_.end() ? nullptr : at->second;
}

void Associations::remove(const Association &a)
{
	std::lock_guard guard(lock_);
	auto at = map_.find(a.cntlid);
	if (at != map_.end() && at->second.get() == &a)
		map_.erase(at);
}

std::vector<std::shared_ptr<Association>> Associations::all() const
{
	std::lock_guard guard(lock_);
	std::vector<std::shared_ptr<Association>> list;
	for (auto &[id, a] : map_)
		list.push_back(a);
	return list;
}

} // namespace target
