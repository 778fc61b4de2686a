// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Discovery log pages, one for each set of zones that hosts are in, made once and shared by these hosts. All pages of a
 * Views object have one generation and are immutable; only the lazily made parts need a lock.
 */
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "libctl/wire/bytes.h"
#include "model.h"
#include "zones.h"

namespace cdc {

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
