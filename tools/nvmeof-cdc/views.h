// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Discovery log pages, one for each set of zones that hosts are in, made once and shared by these hosts. All pages of a
 * Views object have one generation and are immutable; only the lazily made parts need a lock.
 */
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "counters.h"
#include "libctl/wire/bytes.h"
#include "model.h"
#include "record.h"

namespace cdc {

// The targets that a host without a zone sees; unlessZoned: all targets if no zone is defined, else none
enum class Unzoned { unlessZoned, all, none };

// A demand that the zones of a host make
struct ZoneDemand {
	std::optional<Demand> strictest; // of the zones with a demand
	bool inherits = false;           // a zone has none: that of the configuration counts for it

	void add(const std::optional<Demand> &demand)
	{
		strictest = std::max(strictest, demand);
		inherits = inherits || !demand;
	}
	// The effective one, where the configuration has @general
	Demand with(Demand general) const
	{
		if (!strictest)
			return general;
		return inherits ? std::max(*strictest, general) : *strictest;
	}
};

// A set of zones that some hosts share. One object per distinct set, valid as long as the table.
struct ZoneSet {
	std::set<std::string> zones;    // by name
	bool all = false;               // the host is in no zone and sees everything
	ZoneDemand auth = {}, tls = {}; // follow from the zones, and are not compared
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

// Maps hosts to zones, and caches the result per host. Any thread may call.
class ZoneTable {
public:
	// @before: its hosts in use are looked up in advance, and its counters continue; may be null
	ZoneTable(const std::map<std::string, Zone> &zones, Unzoned unzoned, const ZoneTable *before);

	// The zones of a host; valid as long as the table
	const ZoneSet *of(const std::string &hostnqn) const;
	// Marks the host as in use while the result exists: the next table looks it up in advance
	std::shared_ptr<const void> use(const std::string &hostnqn) const;
	// Like of(), without caching it: for names that somebody may have invented
	ZoneSet lookUp(const std::string &hostnqn) const;
	const std::map<std::string, Zone> &zones() const { return zones_; }
	std::vector<const ZoneSet *> sets() const;                                      // of all cached hosts
	std::vector<std::string> hosts() const;                                         // cached
	std::uint64_t reads(const std::string &zone) const { return *reads_.at(zone); } // the zone has to exist

private:
	struct Known {
		const ZoneSet *set;
		std::weak_ptr<const void> use = {};
	};

	ZoneSet find(const std::string &hostnqn) const;
	const ZoneSet *cache(const std::string &hostnqn) const; // with mutex_ held

	std::map<std::string, Zone> zones_;
	std::map<std::string, std::shared_ptr<Counter>> reads_;           // by name of the zone
	bool all_;                                                        // hosts in no zone see all targets
	std::unordered_map<std::string, std::vector<std::string>> exact_; // zones by host
	std::vector<std::pair<std::string, std::string>> patterns_;       // pattern, zone
	mutable std::mutex mutex_;
	ZoneSet none_;                   // demands all that any zone does
	mutable std::set<ZoneSet> sets_; // std::set does not move its elements
	mutable std::unordered_map<std::string, Known> known_;
};

// The entries of a log. The same object across generations, as long as the entries do not change.
class Page {
public:
	explicit Page(std::vector<Block> entries);

	std::uint64_t count() const { return entries_.size(); }
	const std::vector<Block> &entries() const { return entries_; }
	// Appends bytes @offset to @offset + @length of the entries to @to, as one or more pieces.
	void slice(std::uint64_t offset, std::uint64_t length, std::vector<std::span<const std::uint8_t>> &to) const;

private:
	struct Run {
		std::uint64_t offset; // in the page
		std::span<const std::uint8_t> bytes;
	};

	std::vector<Block> entries_;
	std::vector<Run> runs_; // entries that are contiguous in memory
};

struct ViewRules {
	Unzoned unzoned = Unzoned::unlessZoned;
	bool cached = true; // false: each page is made on demand, to measure the benefit of the cache
};

class Views {
public:
	// @before: the previous views, whose zone sets get their pages in advance; may be null
	Views(const Model &model, const ViewRules &rules, const Views *before);

	std::shared_ptr<const Page> of(const std::string &hostnqn) const;
	// The zones of a host, and the page for all hosts in them
	const ZoneSet *zonesOf(const std::string &hostnqn) const { return zones_->of(hostnqn); }
	std::shared_ptr<const Page> of(const ZoneSet *zones) const;
	// Whether results of zonesOf() are valid for both
	bool sameZones(const Views &other) const { return zones_ == other.zones_; }
	// Whether this instance ranks first for the host, by rendezvous hashing over all addresses
	bool firstChoice(const std::string &hostnqn) const;
	std::uint64_t generation() const { return generation_; }
	std::size_t pages() const;
	const ZoneTable &zoneTable() const { return *zones_; }
	// The targets that a host in only this zone sees. The zone has to exist; the result is cached.
	struct Extent {
		std::size_t subsystems = 0, targets = 0;
	};
	Extent extentOf(const std::string &zone) const;

private:
	struct Member {
		std::string name;
		bool own;
	};
	struct Listed {
		std::string nqn;
		Block entry;
	};

	std::vector<bool> seen(const ZoneSet &zones) const;
	std::shared_ptr<const Page> make(const ZoneSet &zones, const Views *before) const;
	std::shared_ptr<const Page> sameAs(const ZoneSet &zones) const;

	bool cached_;
	std::uint64_t generation_;
	std::vector<Member> members_;
	std::vector<Block> services_; // entries of all instances
	std::vector<Listed> targets_; // by ANA state, best first
	std::unordered_multimap<std::string, std::size_t> byNqn_;
	std::shared_ptr<const ZoneTable> zones_;
	mutable std::mutex mutex_;
	mutable std::unordered_map<const ZoneSet *, std::shared_ptr<const Page>> pages_;
	mutable std::map<std::string, Extent> extents_; // by zone, made on demand
};

} // namespace cdc
