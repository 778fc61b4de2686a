// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps hosts to zones.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "counters.h"
#include "record.h"

namespace cdc {

// The targets that a host without a zone sees; unlessZoned: all targets if no zone is defined, else none
enum class Unzoned { unlessZoned, all, none };

// A set of zones that some hosts share. One object per distinct set, valid as long as the table.
struct ZoneSet {
	std::set<std::string> zones; // by name
	bool all = false;            // the host is in no zone and sees everything
	// Counters of log reads, one per zone; not compared
	std::vector<std::shared_ptr<Counter>> reads = {};

	bool operator==(const ZoneSet &other) const { return all == other.all && zones == other.zones; }
	auto operator<=>(const ZoneSet &other) const
	{
		return std::tie(zones, all) <=> std::tie(other.zones, other.all);
	}
	void countRead() const
	{
		for (const auto &counter : reads)
			count(*counter);
	}
};

// Whether @text is an fnmatch(3) pattern; whether @nqn matches it
bool isPattern(const std::string &text);
bool fits(const std::string &pattern, const std::string &nqn);

// Caches the result per host. Any thread may call.
class ZoneTable {
public:
	// @before: its cached hosts are looked up in advance, and its counters continue; may be null
	ZoneTable(const std::map<std::string, Zone> &zones, Unzoned unzoned, const ZoneTable *before);

	// Valid as long as the table
	const ZoneSet *of(const std::string &hostnqn) const;
	const std::map<std::string, Zone> &zones() const { return zones_; }
	std::vector<const ZoneSet *> sets() const;                                      // of all cached hosts
	std::vector<std::string> hosts() const;                                         // cached
	std::uint64_t reads(const std::string &zone) const { return *reads_.at(zone); } // the zone has to exist

private:
	ZoneSet find(const std::string &hostnqn) const;

	std::map<std::string, Zone> zones_;
	std::map<std::string, std::shared_ptr<Counter>> reads_;           // by name of the zone
	bool all_;                                                        // hosts in no zone see all targets
	std::unordered_map<std::string, std::vector<std::string>> exact_; // zones by host
	std::vector<std::pair<std::string, std::string>> patterns_;       // pattern, zone
	mutable std::mutex mutex_;
	const ZoneSet none_;
	mutable std::set<ZoneSet> sets_; // std::set does not move its elements
	mutable std::unordered_map<std::string, const ZoneSet *> known_;
};

} // namespace cdc
