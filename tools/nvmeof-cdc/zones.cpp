// SPDX-License-Identifier: LGPL-2.1-or-later
#include "zones.h"

#include <fnmatch.h>

namespace cdc {

namespace {

constexpr std::size_t maxSets = 10000;        // zone sets
constexpr std::size_t maxKnownHosts = 100000; // hosts; further names are looked up each time

} // namespace

bool isPattern(const std::string &text)
{
	return text.find_first_of("*?[\\") != text.npos;
}

bool fits(const std::string &pattern, const std::string &nqn)
{
	return ::fnmatch(pattern.c_str(), nqn.c_str(), 0) == 0;
}

ZoneTable::ZoneTable(const std::map<std::string, Zone> &zones, Unzoned unzoned, const ZoneTable *before)
	: zones_(zones), all_(unzoned == Unzoned::all || (unzoned == Unzoned::unlessZoned && zones.empty()))
{
	for (const auto &[key, zone] : zones_) {
		for (const std::string &host : zone.hosts) {
			if (isPattern(host))
				patterns_.emplace_back(host, zone.name);
			else
				exact_[host].push_back(zone.name);
		}
		const auto had = before ? before->reads_.find(zone.name) : reads_.end();
		const bool goesOn = before && had != before->reads_.end();
		reads_.emplace(zone.name, goesOn ? had->second : std::make_shared<Counter>(0));
	}
	if (before)
		for (const std::string &host : before->hosts())
			of(host);
}

ZoneSet ZoneTable::find(const std::string &hostnqn) const
{
	ZoneSet set;
	if (auto found = exact_.find(hostnqn); found != exact_.end())
		set.zones.insert(found->second.begin(), found->second.end());
	for (const auto &[pattern, zone] : patterns_)
		if (!set.zones.contains(zone) && fits(pattern, hostnqn))
			set.zones.insert(zone);
	set.all = set.zones.empty() && all_;
	for (const std::string &zone : set.zones)
		set.reads.push_back(reads_.at(zone));
	return set;
}

const ZoneSet *ZoneTable::of(const std::string &hostnqn) const
{
	std::lock_guard lock(mutex_);
	if (auto known = known_.find(hostnqn); known != known_.end())
		return known->second;
	const ZoneSet wanted = find(hostnqn);
	auto found = sets_.find(wanted);
	if (found == sets_.end() && sets_.size() >= maxSets)
		return &none_; // reached only by a client that invents names to match the patterns in many combinations
	if (found == sets_.end())
		found = sets_.insert(wanted).first;
	const ZoneSet *set = &*found;
	if (known_.size() < maxKnownHosts)
		known_.emplace(hostnqn, set);
	return set;
}

std::vector<const ZoneSet *> ZoneTable::sets() const
{
	std::lock_guard lock(mutex_);
	std::vector<const ZoneSet *> sets;
	for (const ZoneSet &set : sets_)
		sets.push_back(&set);
	return sets;
}

std::vector<std::string> ZoneTable::hosts() const
{
	std::lock_guard lock(mutex_);
	std::vector<std::string> hosts;
	for (const auto &[host, set] : known_)
		hosts.push_back(host);
	return hosts;
}

} // namespace cdc
