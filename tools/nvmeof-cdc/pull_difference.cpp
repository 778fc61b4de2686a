// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pull_difference.h"

#include <algorithm>
#include <set>

namespace cdc {

namespace {

using Wanted = std::map<std::string, const Target *>; // by key

const Target *modelled(const Model &model, const std::string &key)
{
	auto found = model.targets().find(key);
	return found == model.targets().end() ? nullptr : &found->second.target;
}

bool isPulled(const Target &target)
{
	return target.origin.source == "pull";
}

// If several services report a port, the current owner keeps the record, so that it does not flap.
Wanted wantedOf(const PullResult &pullResult, const Model &model)
{
	Wanted wanted;
	for (const ServiceRecords &service : pullResult.services) {
		if (!service.targets)
			continue;
		for (const Target &target : *service.targets) {
			auto [at, fresh] = wanted.emplace(target.key(), &target);
			const Target *had = modelled(model, at->first);
			if (!fresh && had && isPulled(*had) && had->origin.owner == service.owner)
				at->second = &target;
		}
	}
	return wanted;
}

// Owners whose records are removed when no service reports them any more
std::set<std::string> knownOwners(const PullResult &pullResult)
{
	std::set<std::string> owners(pullResult.gone.begin(), pullResult.gone.end());
	for (const ServiceRecords &service : pullResult.services)
		if (service.targets)
			owners.insert(service.owner);
	return owners;
}

} // namespace

std::vector<Change> difference(const PullResult &pullResult, const Model &model)
{
	const Wanted wanted = wantedOf(pullResult, model);
	const std::set<std::string> known = knownOwners(pullResult);
	std::vector<Change> changes;
	for (const auto &[key, target] : wanted) {
		const Target *had = modelled(model, key);
		const bool ours = !had || (isPulled(*had) && (known.contains(had->origin.owner)));
		if (ours && (!had || *had != *target))
			changes.push_back(changeOf(*target));
	}
	for (const auto &[key, port] : model.targets())
		if (isPulled(port.target) && known.contains(port.target.origin.owner) && !wanted.contains(key))
			changes.push_back({key, std::nullopt});
	return changes;
}

} // namespace cdc
