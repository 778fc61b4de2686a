// SPDX-License-Identifier: LGPL-2.1-or-later
// A controller as one host sees it: made by a Connect of queue 0, ended with its admin connection.
#pragma once

#include "config.h"
#include "reservations.h"
#include "wire.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace target {

class Server;
class Connection;

struct CcrEntry {
	CcrRecord told;
	std::uint64_t cirn; // not in the log: tells entries apart
};

struct Association {
	std::uint16_t cntlid = 0;
	const Server *port = nullptr; // the one it was made at
	std::string hostnqn;
	std::array<std::uint8_t, 16> hostid{};
	// Of this instance of the controller; TP8028. Another one with each CC.EN.
	std::atomic<std::uint8_t> ciu{0};
	std::atomic<std::uint64_t> cirn{0};
	std::atomic<bool> discovery{false}; // a discovery controller
	std::atomic<bool> dead{false};      // ended by another controller
	std::atomic<bool> silent{false};    // reads and says nothing any more, and does not see that its host leaves
	std::atomic<bool> extendedFormats{false}; // LBAFEE
	std::mutex executing;                     // of I/O commands; dead changes under it

	mutable std::mutex lock; // all below
	std::chrono::milliseconds kato{0};
	std::chrono::milliseconds katoUnit{0}; // granularity of kato
	bool lateExpiry = false;               // looks at the timer once in each period only
	std::chrono::milliseconds quiesce{0};  // CQT
	std::chrono::milliseconds idle{0};     // without KATO it ends when silent for so long; 0: never
	bool trafficKeepAlive = false;
	std::uint32_t cc = 0;
	std::uint32_t csts = 0;
	std::uint32_t asyncConfig = 0;
	Clock::time_point lastSign = Clock::now(); // of life
	std::deque<std::uint16_t> asyncCommands;   // cids waiting for an event
	std::deque<AsyncEvent> asyncEvents;        // events waiting for a command
	Connection *admin = nullptr;               // cleared before the connection goes
	bool changedNs = false;
	bool discoveryTold = false; // no further event until the log was read
	std::vector<CcrEntry> ccrLog;
	std::deque<ReservationNotice> reservationLog;

	// Makes it another instance.
	void renew();
	// The log of a discovery controller was read.
	void clearDiscoveryEvent();
	// When, without a further sign of life, the keep-alive timer has passed, as the controller sees it
	Clock::time_point lostAt() const;
	// And when the last of what it was told has ended
	Clock::time_point quietAt() const;

private:
	Clock::time_point lostAtLocked() const;
};

class Associations {
public:
	// Also assigns the controller ID.
	std::shared_ptr<Association> create();
	std::shared_ptr<Association> find(std::uint16_t cntlid) const;
	void remove(const Association &a);
	std::vector<std::shared_ptr<Association>> all() const;

private:
	mutable std::mutex lock_;
	std::map<std::uint16_t, std::shared_ptr<Association>> map_;
	std::uint16_t last_ = 0;
};

} // namespace target
