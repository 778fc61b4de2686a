// SPDX-License-Identifier: LGPL-2.1-or-later
// State that the ports of a target share: namespaces, controllers, and writes that are executed late.
#pragma once

#include "association.h"
#include "discovery.h"
#include "store.h"

#include <condition_variable>

namespace target {

// Writes that were received but neither completed nor executed. A controller may execute such a write as long as its
// host has no proof that the controller has stopped: until a Cross-Controller Reset has succeeded, or the keep-alive
// timer and CQT have passed. Executing it later would be a fault of the target, so it is dropped then.
class StalledWrites {
public:
	void keep(std::shared_ptr<Association> owner, std::shared_ptr<Store> store, std::uint64_t slba, Bytes data);
	// Executes the writes that are permitted at that time and drops the others. Returns the number executed.
	std::size_t execute(Clock::time_point now = Clock::now());
	// Drops those of one controller instance.
	void drop(std::uint16_t cntlid, std::uint64_t cirn);
	// Drops those of a host whose commands were aborted.
	void drop(const HostId &host);
	void clear();

	std::size_t waiting() const;
	std::uint64_t executed() const;
	std::uint64_t dropped() const;
	// Waits until `count` writes have been kept in total, executed or not.
	bool wait(std::uint64_t count, std::chrono::milliseconds timeout) const;
	std::uint64_t kept() const;
	// Latest time at which the oldest may be executed; the current time if there is none.
	Clock::time_point deadline() const;

private:
	struct Write {
		std::shared_ptr<Association> owner;
		std::shared_ptr<Store> store;
		std::uint64_t slba;
		Bytes data;
		Clock::time_point until; // from the last sign of life of the host when the write was received
	};

	mutable std::mutex lock_;
	mutable std::condition_variable changed_;
	std::deque<Write> writes_;
	std::uint64_t kept_ = 0, executed_ = 0, dropped_ = 0;
};

class Subsystem {
public:
	// Subsystems may share a discovery service, as ports share a subsystem.
	explicit Subsystem(std::shared_ptr<Discovery> discovery = std::make_shared<Discovery>())
		: discovery_(std::move(discovery))
	{
	}

	Stores &stores() { return stores_; }
	Associations &associations() { return associations_; }
	StalledWrites &stalledWrites() { return stalledWrites_; }
	Discovery &discovery() { return *discovery_; }

	// Ends a controller instance if it exists. After return, none of its commands executes any more.
	void endInstance(std::uint16_t cntlid, std::uint8_t ciu, std::uint64_t cirn, const std::string &hostnqn);

private:
	Stores stores_;
	Associations associations_;
	StalledWrites stalledWrites_;
	std::shared_ptr<Discovery> discovery_;
};

} // namespace target
