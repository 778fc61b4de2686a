// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keys in etcd, below the configured prefix:
 *   targets/..., zones/..., hosts/..., instances/...	records, as in record.h
 *   alive/ID		an instance that is running: bound to its lease. When it is gone, another instance removes
 *			the record.
 *   generation		put by each transaction that changes discovery logs
 *   base		a number: GENCTR is this, plus the revision in which "generation" was put last
 * GENCTR therefore depends only on the contents of etcd, not on the reader: it is the same for all instances, also
 * after a compaction, and after leases have expired while no instance was running.
 */
#pragma once

#include <map>
#include <set>

#include "etcd_json.h"
#include "store.h"

namespace cdc::etcd {

class View {
public:
	struct Position { // identify a state of the store
		Header header;
		std::uint64_t base = 0, baseRevision = 0, generationRevision = 0;

		std::uint64_t generation() const { return base && generationRevision ? base + generationRevision : 0; }
		// Whether @later continues this state; if not, it is another cluster or a restored backup.
		bool isContinuedBy(const Position &later) const;
	};

	explicit View(std::string prefix) : prefix_(std::move(prefix)) {}

	const std::string &prefix() const { return prefix_; }
	std::string aliveKey(const std::string &instance) const { return prefix_ + "alive/" + instance; }
	std::string generationKey() const { return prefix_ + "generation"; }
	std::string baseKey() const { return prefix_ + "base"; }

	// Starts with the result of a range request, at its revision
	void begin(const Header &header) { marks_.header = header; }
	// Applies events. All events of one revision have to be in one call.
	StoreUpdate apply(const std::vector<Event> &events);
	StoreUpdate whole() const;

	const Position &position() const { return marks_; }
	std::uint64_t revision() const { return marks_.header.revision; } // the last one applied
	std::uint64_t generation() const { return marks_.generation(); }
	const std::string *valueOf(const std::string &key) const; // of a record; null: there is none
	bool alive(const std::string &instance) const { return alive_.contains(instance); }
	std::vector<std::string> dead() const; // instances with a record that are not alive

private:
	void apply(const Event &event, std::vector<Change> &changes);

	std::string prefix_;
	Position marks_;
	std::map<std::string, std::string> records_;
	std::set<std::string> alive_;
};

} // namespace cdc::etcd
