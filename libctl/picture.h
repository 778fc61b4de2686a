// SPDX-License-Identifier: LGPL-2.1-or-later
// The objects of a Topology: events and samples put together.
#pragma once

#include <set>
#include <string>

#include <nvmeof/topology.h>

namespace nofctl {

class Picture {
public:
	std::optional<nvmeof::AnaBefore> fold(const nvmeof::Event &event);
	// From here on until the sample what events tell is newer than it.
	void beginSample() { told_.clear(); }
	void take(const std::vector<nvmeof::Namespace> &sampled);
	void take(const std::vector<nvmeof::Path> &sampled);
	// Numbers of objects that belong to others; no event tells when they change.
	void count();

	const nvmeof::Snapshot &now() const { return now_; }
	bool synced() const { return synced_; }

private:
	std::optional<nvmeof::AnaBefore> before(const nvmeof::Event &event) const;
	void put(const nvmeof::Event &event);
	void pass(const nvmeof::Controller &controller);
	bool told(const std::string &name) const { return told_.contains(name); }

	nvmeof::Snapshot now_, next_; // next_: while objects are read
	bool synced_ = false;
	std::set<std::string> told_; // by events since the sample was asked for
};

} // namespace nofctl
