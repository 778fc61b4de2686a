// SPDX-License-Identifier: LGPL-2.1-or-later
// Which zones a host is in.
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

// What a host sees that is in no zone; unlessZoned: all while there are no zones, then nothing
enum class Unzoned { unlessZoned, all, none };

// The zones that some hosts have in common. One object for each such set, as long as the table is there.
struct ZoneSet {
	std::set<std::string> zones; // by name
	bool all = false;            // in none, and sees everything
	// Counters of log reads, one for each zone; they are not compared
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

// Whether @text is a pattern as of fnmatch(3), and whether it is one of @nqn
bool isPattern(const std::string &text);
bool fits(const std::string &pattern, const std::string &nqn);

// Remembers for each host that has asked. Any thread may ask.
class ZoneTable {
public:
	// @before: hosts that it remembers are remembered from the start, and its counters go on; may be null
	ZoneTable(const std::map<std::string, Zone> &zones, Unzoned unzoned, const ZoneTable *before);

	// Until the table ends
	const ZoneSet *of(const std::string &hostnqn) const;
	const std::map<std::string, Zone> &zones() const { return zones_; }
	std::vector<const ZoneSet *> sets() const;                                      // that there are hosts of
	std::vector<std::string> hosts() const;                                         // that are remembered
	std::uint64_t reads(const std::string &zone) const { return *reads_.at(zone); } // of one that there is

private:
	ZoneSet find(const std::string &hostnqn) const;

	std::map<std::string, Zone> zones_;
	std::map<std::string, std::shared_ptr<Counter>> reads_;           // by name of the zone
	bool all_;                                                        // is seen by who is in none
	std::unordered_map<std::string, std::vector<std::string>> exact_; // zones by host
	std::vector<std::pair<std::string, std::string>> patterns_;       // and zone
	mutable std::mutex mutex_;
	const ZoneSet none_;
	mutable std::set<ZoneSet> sets_; // std::set: an element stays where it is
	mutable std::unordered_map<std::string, const ZoneSet *> known_;
};

} // namespace cdc
