// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mdns_services.h"

#include <algorithm>

#include <nvmeof/discovery_plan.h>

using namespace nvmeof;

namespace nvmeofd {

MdnsServices::MdnsServices(std::vector<MdnsService> remembered, bool displaced)
	: all_(std::move(remembered)), displaced_(displaced)
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

bool MdnsServices::makeRoom(const Silent &silent)
{
	if (all_.size() < max)
		return true;
	auto idle = std::ranges::find_if(
		all_, [&](const MdnsService &one) { return !one.announced && silent(serviceKey(one.options)); });
	if (idle == all_.end())
		return false;
	all_.erase(idle);
	displaced_ = true;
	return true;
}

std::vector<MdnsService> MdnsServices::announce(const std::vector<MdnsService> &now, const Silent &silent)
{
	std::vector<MdnsService> fresh;
	refused_ = 0;
	for (MdnsService &one : all_)
		one.announced = std::ranges::any_of(now, [&](const MdnsService &other) {
			return serviceKey(other.options) == serviceKey(one.options);
		});
	for (const MdnsService &one : now) {
		auto same = std::ranges::find(all_, serviceKey(one.options),
					      [](const MdnsService &old) { return serviceKey(old.options); });
		if (same != all_.end()) {
			*same = one;
			same->announced = true;
		} else if (makeRoom(silent)) {
			all_.push_back(one);
			all_.back().announced = true;
			fresh.push_back(all_.back());
		} else {
			refused_++;
		}
	}
	return fresh;
}

void MdnsServices::forget(const Silent &silent)
{
	displaced_ = false;
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
