// SPDX-License-Identifier: LGPL-2.1-or-later
// What the ports of one target have in common: namespaces, controllers, and writes that are executed late.
#pragma once

#include "association.h"
#include "discovery.h"
#include "store.h"

#include <condition_variable>

namespace target {

// Writes that were taken and neither answered nor executed. A controller may do that to a write for as long as its host
// has no proof that it is gone: until a Cross-Controller Reset of it has succeeded, or the keep-alive timer and the
// command quiesce time have passed. What the host's newer writes meet after that is a breach by the target, so later
// than that none is executed here.
class Ghosts {
public:
	void keep(std::shared_ptr<Association> owner, std::shared_ptr<Store> store, std::uint64_t slba, Bytes data);
	// Writes those which may be written still, and forgets the others. Returns how many were written.
	std::size_t execute();
	// Those of an instance of a controller
	void drop(std::uint16_t cntlid, std::uint64_t cirn);
	// Those of a host whose commands were aborted
	void drop(const HostId &host);
	void clear();

	std::size_t waiting() const;
	std::uint64_t executed() const;
	std::uint64_t dropped() const;
	// Until so many were kept, since the beginning; what became of them does not matter.
	bool wait(std::uint64_t count, std::chrono::milliseconds timeout) const;
	std::uint64_t kept() const;
	// The last moment at which the oldest of them may be executed; now when there is none.
	Clock::time_point deadline() const;

private:
	struct Ghost {
		std::shared_ptr<Association> owner;
		std::shared_ptr<Store> store;
		std::uint64_t slba;
		Bytes data;
		Clock::time_point until; // by what the controller has heard of its host when it took the write
	};

	mutable std::mutex lock_;
	mutable std::condition_variable changed_;
	std::deque<Ghost> ghosts_;
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
	Ghosts &ghosts() { return ghosts_; }
	Discovery &discovery() { return *discovery_; }

	// Ends an instance of a controller, where there is one. When it returns, nothing more is executed of what that
	// was told.
	void endInstance(std::uint16_t cntlid, std::uint8_t ciu, std::uint64_t cirn, const std::string &hostnqn);

private:
	Stores stores_;
	Associations associations_;
	Ghosts ghosts_;
	std::shared_ptr<Discovery> discovery_;
};

} // namespace target
