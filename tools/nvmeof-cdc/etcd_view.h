// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What etcd has under our prefix:
 *   targets/..., zones/..., hosts/..., instances/...	records, as in record.h
 *   alive/ID		an instance that runs: bound to its lease. Where it is gone, another instance takes the
 *			record away.
 *   generation		put by each transaction that changes what hosts are told
 *   base		a number: GENCTR is this, plus the revision in which "generation" was put last
 * So GENCTR is a matter of what etcd has, not of who reads it when: equal for all, also after a compaction, and after
 * leases have ended while nobody was there.
 */
#pragma once

#include <map>
#include <set>

#include "etcd_json.h"
#include "store.h"

namespace cdc::etcd {

class View {
public:
	struct Marks { // by which one state is told from another
		Header header;
		std::uint64_t base = 0, baseRevision = 0, generationRevision = 0;

		std::uint64_t generation() const { return base && generationRevision ? base + generationRevision : 0; }
		// Whether what has these goes on to be what has @later; else it is another etcd, or one from a copy.
		bool leadsTo(const Marks &later) const;
	};

	explicit View(std::string prefix) : prefix_(std::move(prefix)) {}

	const std::string &prefix() const { return prefix_; }
	std::string aliveKey(const std::string &instance) const { return prefix_ + "alive/" + instance; }
	std::string generationKey() const { return prefix_ + "generation"; }
	std::string baseKey() const { return prefix_ + "base"; }

	// What was read, of a cluster, as of a revision
	void begin(const Header &header) { marks_.header = header; }
	// What has happened since. All of one revision come together.
	News apply(const std::vector<Event> &events);
	News whole() const;

	const Marks &marks() const { return marks_; }
	std::uint64_t revision() const { return marks_.header.revision; } // up to where it has been told
	std::uint64_t generation() const { return marks_.generation(); }
	const std::string *valueOf(const std::string &key) const; // of a record
	bool alive(const std::string &instance) const { return alive_.contains(instance); }
	std::vector<std::string> dead() const; // instances with a record that are not alive

private:
	void apply(const Event &event, std::vector<Change> &changes);

	std::string prefix_;
	Marks marks_;
	std::map<std::string, std::string> records_;
	std::set<std::string> alive_;
};

} // namespace cdc::etcd
