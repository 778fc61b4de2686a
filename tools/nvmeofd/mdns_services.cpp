// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mdns_services.h"

#include <algorithm>

#include <nvmeof/discovery_plan.h>

using namespace nvmeof;

namespace nvmeofd {

MdnsServices::MdnsServices(std::vector<MdnsService> remembered) : all_(std::move(remembered))
{
	if (all_.size() > max)
		all_.resize(max);
	for (MdnsService &one : all_)
		one.announced = false;
}

const MdnsService *MdnsServices::find(const std::string &key) const
{
	auto found = std::ranges::find(all_, key, [](const MdnsService &one) { return serviceKey(one.options); });
	return found == all_.end() ? nullptr : &*found;
}

bool MdnsServices::makeRoom()
{
	if (all_.size() < max)
		return true;
	auto idle = std::ranges::find(all_, false, &MdnsService::announced);
	if (idle == all_.end())
		return false;
	all_.erase(idle);
	return true;
}

std::vector<MdnsService> MdnsServices::announce(const std::vector<MdnsService> &now)
{
	std::vector<MdnsService> fresh;
	for (MdnsService &one : all_)
		one.announced = false;
	for (const MdnsService &one : now) {
		auto same = std::ranges::find(all_, serviceKey(one.options),
					      [](const MdnsService &old) { return serviceKey(old.options); });
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

void MdnsServices::forget(const std::function<bool(const std::string &key)> &silent)
{
	std::erase_if(all_, [&](const MdnsService &one) { return !one.announced && silent(serviceKey(one.options)); });
}

std::vector<ConnectOptions> MdnsServices::wanted(const Config &config) const
{
	std::vector<ConnectOptions> services;
	for (const MdnsService &one : all_)
		if (config.mdnsOn(one.interface))
			services.push_back(one.options);
	return services;
}

} // namespace nvmeofd
