// SPDX-License-Identifier: LGPL-2.1-or-later
// The hosts of one thread, and their loop. What they are to do is told from another thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <thread>

#include "host.h"
#include "options.h"

namespace storm {

// Something that all crowds do, and somebody waits for
class Phase {
public:
	explicit Phase(std::size_t crowds) : left_(crowds) {}

	void arrive();
	void wait();
	bool waitUntil(Host::Clock::time_point until); // false: it is not over

private:
	std::mutex mutex_;
	std::condition_variable over_;
	std::size_t left_;
};

class Crowd {
public:
	using Clock = Host::Clock;

	Crowd(const Options &options, unsigned first, unsigned count);
	~Crowd();

	// From another thread. The phase is over here when each host has reported.
	void prepare(Phase &phase);
	void connect(Phase &phase);                       // over TCP
	void go(Clock::time_point instant, Phase &phase); //
	void round(Phase &ready, Phase &phase);           // events are expected, from setInstant() on
	void endRound(Phase &phase);                      // for those that have not come
	void setInstant(Clock::time_point instant) { instant_ = instant; }
	void leave(); // and the thread ends

	// Behind leave()
	const Counts &counts() const { return counts_; }
	const KnownLogs &logs() const { return logs_; }
	int error() const { return error_; } // errno: there could not be as many hosts

	// For hosts
	const Options &options() const { return options_; }
	const initiator::SessionOptions &session() const { return session_; }
	initiator::Shared &shared() { return *shared_; }
	KnownLogs &mutableLogs() { return logs_; }
	Counts &mutableCounts() { return counts_; }
	Clock::time_point instant() const { return instant_; } // of the storm, or of a round
	Clock::time_point retryUntil() const { return retryUntil_; }
	Round &roundNow() { return counts_.rounds.back(); }
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
	std::size_t owing_ = 0; // hosts
	int error_ = 0;
	std::jthread thread_;
};

} // namespace storm
