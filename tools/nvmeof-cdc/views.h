// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What hosts are told: a discovery log page for each set of zones that hosts are in, made once and shared by all of
 * them. All of one generation, and never changed once made, so that threads need no lock but that of what is made on
 * demand.
 */
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

#include "libctl/wire/bytes.h"
#include "model.h"
#include "zones.h"

namespace cdc {

// The entries of a log. The same object for as long as it tells the same, over generations.
class Page {
public:
	explicit Page(std::vector<Block> entries);

	std::uint64_t count() const { return entries_.size(); }
	const std::vector<Block> &entries() const { return entries_; }
	// Adds what lies at bytes @offset to @offset + @length of the entries, piece by piece, to @to.
	void slice(std::uint64_t offset, std::uint64_t length, std::vector<std::span<const std::uint8_t>> &to) const;

private:
	struct Run {
		std::uint64_t offset; // in the page
		std::span<const std::uint8_t> bytes;
	};

	std::vector<Block> entries_;
	std::vector<Run> runs_; // entries that lie side by side
};

struct ViewRules {
	Unzoned unzoned = Unzoned::unlessZoned;
	bool cached = true; // else each page is made when it is asked for, to see what it is good for
};

class Views {
public:
	// @before: the views so far, whose pages are made ahead of demand; may be null
	Views(const Model &model, const ViewRules &rules, const Views *before);

	std::shared_ptr<const Page> of(const std::string &hostnqn) const;
	// The zones of a host, and what is told to all hosts of these
	const ZoneSet *zonesOf(const std::string &hostnqn) const { return zones_->of(hostnqn); }
	std::shared_ptr<const Page> of(const ZoneSet *zones) const;
	// What zonesOf() gives is good for both
	bool sameZones(const Views &other) const { return zones_ == other.zones_; }
	// Whether this instance is the one that the host should turn to: rendezvous hashing over all addresses
	bool firstChoice(const std::string &hostnqn) const;
	std::uint64_t generation() const { return generation_; }
	std::size_t pages() const;
	const ZoneTable &zoneTable() const { return *zones_; }
	// Targets that hosts in this zone alone see. The zone exists; its targets are counted once.
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
	std::vector<Block> services_; // of this instance, and of others
	std::vector<Listed> targets_; // the best first
	std::unordered_multimap<std::string, std::size_t> byNqn_;
	std::shared_ptr<const ZoneTable> zones_;
	mutable std::mutex mutex_;
	mutable std::unordered_map<const ZoneSet *, std::shared_ptr<const Page>> pages_;
	mutable std::map<std::string, Extent> extents_; // by zone, as far as they were asked for
};

} // namespace cdc
