// SPDX-License-Identifier: LGPL-2.1-or-later
// The hosts of one thread, and its event loop. The main thread controls it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <thread>

#include "host.h"
#include "options.h"

namespace storm {

// An operation of all pools that the main thread waits for
class Phase {
public:
	explicit Phase(std::size_t pools) : left_(pools) {}

	void arrive();
	void wait();
	bool waitUntil(Host::Clock::time_point until); // false: timed out

private:
	std::mutex mutex_;
	std::condition_variable over_;
	std::size_t left_;
};

class HostPool {
public:
	using Clock = Host::Clock;

	HostPool(const Options &options, unsigned first, unsigned count);
	~HostPool();

	// Called by the main thread. A pool arrives at the phase when each of its hosts has reported.
	void prepare(Phase &phase);
	void connect(Phase &phase); // over TCP
	void go(Clock::time_point instant, Phase &phase);
	void round(Phase &ready, Phase &phase); // expect events, measured from setInstant()
	void endRound(Phase &phase);            // ends the wait of hosts without an event
	void setInstant(Clock::time_point instant) { instant_ = instant; }
	void leave(); // disconnects and ends the thread

	// Valid after leave()
	const Counts &counts() const { return counts_; }
	const KnownLogs &logs() const { return logs_; }
	int error() const { return error_; } // errno: not all sockets could be created

	// Called by hosts
	const Options &options() const { return options_; }
	const initiator::SessionOptions &session() const { return session_; }
	initiator::Shared &shared() { return *shared_; }
	KnownLogs &logsForUpdate() { return logs_; }
	Counts &countsForUpdate() { return counts_; }
	Clock::time_point instant() const { return instant_; } // start of the storm or of the round
	Clock::time_point retryUntil() const { return retryUntil_; }
	Round &currentRound() { return counts_.rounds.back(); }
	void reported();

private:
	template <typename Fn> void order(Phase &phase, Fn each);

	const Options &options_;
	initiator::SessionOptions session_;
	std::unique_ptr<serving::Loop> loop_;
	std::unique_ptr<initiator::Shared> shared_;
	std::unique_ptr<serving::Mailbox> mailbox_;
	KnownLogs logs_;
	Counts counts_;
	std::vector<std::unique_ptr<Host>> hosts_;
	std::atomic<Clock::time_point> instant_ = Clock::time_point();
	Clock::time_point retryUntil_ = Clock::time_point::max();
	Phase *phase_ = nullptr;
	std::size_t pendingReports_ = 0; // hosts that have not reported yet
	int error_ = 0;
	std::jthread thread_;
};

} // namespace storm
