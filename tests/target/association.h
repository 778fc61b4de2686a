// SPDX-License-Identifier: LGPL-2.1-or-later
// A controller as created for one host by the Connect of queue 0. It ends with its admin connection.
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
	std::uint64_t cirn; // of the impacted controller; identifies the entry, not part of the log
};

struct Association {
	std::uint16_t cntlid = 0;
	std::uint64_t serial = 0;     // counts the controllers; unlike cntlid, it is never used again
	const Server *port = nullptr; // the port that accepted the Connect
	std::string hostnqn;
	std::array<std::uint8_t, 16> hostid{};
	// Controller Instance Uniquifier and Random Number (TP8028); renewed by each enable (CC.EN)
	std::atomic<std::uint8_t> ciu{0};
	std::atomic<std::uint64_t> cirn{0};
	std::atomic<bool> discovery{false}; // a discovery controller
	std::atomic<bool> dead{false};      // reset by another controller
	std::atomic<bool> silent{false};    // stops reading and sending, and does not notice that the host disconnects
	std::atomic<bool> extendedFormats{false}; // LBAFEE
	std::mutex executing;                     // held while an I/O command executes; protects dead

	mutable std::mutex lock; // protects all members below
	std::chrono::milliseconds kato{0};
	std::chrono::milliseconds katoUnit{0}; // granularity of kato
	bool lateExpiry = false;               // keep-alive timer evaluated only once per period
	std::chrono::milliseconds quiesce{0};  // CQT
	std::chrono::milliseconds idle{0};     // timeout without KATO; 0: none
	bool trafficKeepAlive = false;
	std::uint32_t cc = 0;
	std::uint32_t csts = 0;
	std::uint32_t asyncConfig = 0;
	Clock::time_point lastSign = Clock::now(); // of the host
	std::deque<std::uint16_t> asyncCommands;   // cids waiting for an event
	std::deque<AsyncEvent> asyncEvents;        // events waiting for a command
	Connection *admin = nullptr;               // cleared before the connection is destroyed
	bool changedNs = false;
	bool discoveryEventPending = false; // no further event until the log has been read
	std::vector<CcrEntry> ccrLog;
	std::deque<ReservationNotice> reservationLog;

	// Assigns a new instance (CIU and CIRN).
	void renew();
	// The discovery log was read: re-arms the event.
	void clearDiscoveryEvent();
	// When the keep-alive timer expires in the controller's view, without a further sign of life.
	Clock::time_point keepAliveExpiry() const;
	// When the last command received has ended: keepAliveExpiry() plus CQT.
	Clock::time_point quiescedAt() const;

private:
	Clock::time_point lostAtLocked() const;
};

class Associations {
public:
	// Also assigns the controller ID and the serial number.
	std::shared_ptr<Association> create();
	std::shared_ptr<Association> find(std::uint16_t cntlid) const;
	void remove(const Association &a);
	std::vector<std::shared_ptr<Association>> all() const;

private:
	mutable std::mutex lock_;
	std::map<std::uint16_t, std::shared_ptr<Association>> map_;
	std::uint16_t last_ = 0;
	std::uint64_t created_ = 0;
};

} // namespace target
