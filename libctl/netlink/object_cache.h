// SPDX-License-Identifier: LGPL-2.1-or-later
// The object lists of a Topology, updated by events and samples.
#pragma once

#include <set>
#include <string>

#include <nvmeof/topology.h>

namespace nofctl {

class ObjectCache {
public:
	std::optional<nvmeof::AnaBefore> apply(const nvmeof::Event &event);
	// Events from now on are newer than the sample that is being read.
	void beginSample() { told_.clear(); }
	void take(const std::vector<nvmeof::Namespace> &sampled);
	void take(const std::vector<nvmeof::Path> &sampled);
	// Recomputes the counts of related objects; no event reports their changes.
	void count();

	const nvmeof::Snapshot &now() const { return now_; }
	bool synced() const { return synced_; }

private:
	std::optional<nvmeof::AnaBefore> before(const nvmeof::Event &event) const;
	void put(const nvmeof::Event &event);
	void pass(const nvmeof::Controller &controller);
	bool told(const std::string &name) const { return told_.contains(name); }

	nvmeof::Snapshot now_, next_; // next_: the lists while they are read
	bool synced_ = false;
	std::set<std::string> told_; // names from events since the sample began
};

} // namespace nofctl
