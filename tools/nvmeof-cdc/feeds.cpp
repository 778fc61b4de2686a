// SPDX-License-Identifier: LGPL-2.1-or-later
#include "feeds.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace cdc {

namespace {

int strength(const Origin &origin)
{
	constexpr std::string_view sources[] = {"pull", "push", "file", "control"};
	for (int i = 0; i < 4; i++)
		if (origin.source == sources[i])
			return i;
	return 0;
}

} // namespace

bool sameOrigin(const Origin &a, const Origin &b)
{
	return a.source == b.source && a.owner == b.owner;
}

bool mayReplace(const Origin &there, const Origin &source)
{
	return sameOrigin(there, source) || strength(source) > strength(there);
}

std::vector<Change> putAll(const Model &model, std::span<const Target> targets)
{
	std::vector<Change> changes;
	for (const Target &target : targets) {
		auto there = model.targets().find(target.key());
		if (there == model.targets().end() ||
		    (there->second.target != target && mayReplace(there->second.target.origin, target.origin)))
			changes.push_back(changeOf(target));
	}
	return changes;
}

std::vector<Change> putAll(const Model &model, std::span<const Zone> zones)
{
	std::vector<Change> changes;
	for (const Zone &zone : zones) {
		auto there = model.zones().find(zone.key());
		if (there == model.zones().end() ||
		    (there->second != zone && mayReplace(there->second.origin, zone.origin)))
			changes.push_back(changeOf(zone));
	}
	return changes;
}

std::vector<Change> replaceAll(const Model &model, const Origin &origin, std::span<const Target> targets)
{
	std::vector<Change> changes = putAll(model, targets);
	std::set<std::string> keys;
	for (const Target &target : targets)
		keys.insert(target.key());
	for (const auto &[key, port] : model.targets())
		if (sameOrigin(port.target.origin, origin) && !keys.contains(key))
			changes.push_back({key, {}});
	return changes;
}

std::vector<Change> fileChanges(const Model &model, const std::string &id, std::vector<Target> targets,
				std::vector<Zone> zones)
{
	const Origin origin{"file", id, 0};
	for (Target &target : targets)
		target.origin = origin;
	std::vector<Change> changes = replaceAll(model, origin, targets);
	std::set<std::string> keys;
	for (Zone &zone : zones) {
		zone.origin = origin;
		keys.insert(zone.key());
	}
	std::ranges::move(putAll(model, zones), std::back_inserter(changes));
	for (const auto &[key, zone] : model.zones())
		if (sameOrigin(zone.origin, origin) && !keys.contains(key))
			changes.push_back({key, {}});
	return changes;
}

} // namespace cdc
