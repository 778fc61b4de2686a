// SPDX-License-Identifier: LGPL-2.1-or-later
#include "found.h"

#include <algorithm>

#include <nvmeof/discovery_plan.h>

using namespace nvmeof;

namespace nvmeofd {

FoundServices::FoundServices(std::vector<FoundService> remembered) : all_(std::move(remembered))
{
	if (all_.size() > most)
		all_.resize(most);
	for (FoundService &one : all_)
		one.announced = false;
}

const FoundService *FoundServices::find(const std::string &key) const
{
	auto found = std::ranges::find(all_, key, [](const FoundService &one) { return serviceKey(one.options); });
	return found == all_.end() ? nullptr : &*found;
}

bool FoundServices::makeRoom()
{
	if (all_.size() < most)
		return true;
	auto idle = std::ranges::find(all_, false, &FoundService::announced);
	if (idle == all_.end())
		return false;
	all_.erase(idle);
	return true;
}

std::vector<FoundService> FoundServices::announce(const std::vector<FoundService> &now)
{
	std::vector<FoundService> fresh;
	for (FoundService &one : all_)
		one.announced = false;
	for (const FoundService &one : now) {
		auto same = std::ranges::find(all_, serviceKey(one.options),
					      [](const FoundService &old) { return serviceKey(old.options); });
		if (same != all_.end()) {
			*same = one;
			same->announced = true;
		} else if (makeRoom()) {
			all_.push_back(one);
			all_.back().announced = true;
			fresh.push_back(all_.back());
		}
	}
	return fresh;
}

void FoundServices::forget(const std::function<bool(const std::string &key)> &silent)
{
	std::erase_if(all_, [&](const FoundService &one) { return !one.announced && silent(serviceKey(one.options)); });
}

std::vector<ConnectOptions> FoundServices::wanted(const Config &config) const
{
	std::vector<ConnectOptions> services;
	for (const FoundService &one : all_)
		if (config.mdnsOn(one.interface))
			services.push_back(one.options);
	return services;
}

} // namespace nvmeofd
