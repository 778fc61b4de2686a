// SPDX-License-Identifier: LGPL-2.1-or-later
// A controller as one host sees it: made by a Connect of queue 0, ended with its admin connection.
#pragma once

#include "config.h"
#include "nvme.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace target {

class Connection;

struct AsyncEvent {
	std::uint8_t type; // figure 145
	std::uint8_t info;
	std::uint8_t log;
};

constexpr AsyncEvent event_ns_changed{2, 0, log_changed_ns};
constexpr AsyncEvent event_ana_changed{2, 3, log_ana};

struct Association {
	std::uint16_t cntlid = 0;
	std::string hostnqn;
	std::array<std::uint8_t, 16> hostid{};
	std::chrono::milliseconds kato{0};

	std::mutex lock; // all below
	std::uint32_t cc = 0;
	std::uint32_t csts = 0;
	std::uint32_t asyncConfig = 0;
	Clock::time_point lastSign = Clock::now(); // of life
	std::deque<std::uint16_t> asyncCommands;   // cids waiting for an event
	std::deque<AsyncEvent> asyncEvents;        // events waiting for a command
	Connection *admin = nullptr;               // cleared before the connection goes
	bool changedNs = false;
};

class Associations {
public:
	// Also assigns the controller ID.
	std::shared_ptr<Association> create();
	std::shared_ptr<Association> find(std::uint16_t cntlid) const;
	void remove(std::uint16_t cntlid);
	std::vector<std::shared_ptr<Association>> all() const;

private:
	mutable std::mutex lock_;
	std::map<std::uint16_t, std::shared_ptr<Association>> map_;
	std::uint16_t last_ = 0;
};

} // namespace target
