// SPDX-License-Identifier: LGPL-2.1-or-later
// Simulated hosts, what they count and measure, and the thread that runs a pool of them.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libctl/base/jitter.h"
#include "libctl/initiator/discovery_reader.h"
#include "libctl/initiator/failure.h"
#include "log_check.h"
#include "options.h"

namespace storm {

class HostPool;

// Activity of a host: the steps of a session, reading the log, waiting for the event
enum class HostStep : std::uint8_t {
	tcp,
	hello,
	connect,
	cap,
	vs,
	enable,
	ready,
	identify,
	events,
	header,
	entries,
	check,
	arm,
	waiting, // for an event; not measured
};
constexpr std::size_t stepCount = 13; // measured ones
const char *toString(HostStep step);
HostStep stepOf(initiator::Step step);

constexpr std::size_t reasonCount = static_cast<std::size_t>(initiator::Reason::unusable) + 1;

// Times in microseconds
using Times = std::vector<std::uint32_t>;

// One change, and the times from its start until hosts had the event and had read the log
struct Round {
	Times events, reads;
	std::uint64_t missed = 0; // hosts that did not get it
};

// Counters and times of hosts and connection attempts. Each thread has its own; they are summed at the end.
struct Counts {
	std::uint64_t attempts = 0;         // connection attempts
	std::uint64_t failovers = 0;        // attempts at the next address
	std::uint64_t retries = 0;          // attempts from the first address again, after a back-off
	std::uint64_t torn = 0;             // logs that changed while they were read
	std::uint64_t events = 0;           // events received
	std::uint64_t lost = 0;             // connections of hosts that had read their log
	std::uint64_t good = 0, failed = 0; // hosts
	std::uint64_t bytesIn = 0, bytesOut = 0;
	std::uint64_t commands = 0;  // sent
	std::uint64_t exchanges = 0; // responses to ICReq and to commands
	std::uint64_t writes = 0;    // to sockets
	std::array<std::array<std::uint64_t, reasonCount>, stepCount + 1> failures{}; // by step and reason
	std::map<std::string, std::uint64_t> failureReasons;                          // failed hosts, by reason
	std::map<std::string, std::uint64_t> violations;                              // defects of the service, by text
	std::array<Times, stepCount> stepTimes;
	Times whole;
	std::vector<std::uint64_t> served; // hosts, by address
	std::vector<Round> rounds;

	void addViolation(const std::string &what, std::uint64_t times = 1) { violations[what] += times; }
	void add(const Counts &other);
};

// Percentiles
struct Summary {
	std::size_t count = 0;
	double p50 = 0, p90 = 0, p99 = 0, last = 0; // ms
};
Summary summarize(Times times);

/*
 * A simulated host: connects to a discovery service, reads its log, waits for an event that reports a change, and reads
 * the log again. It checks each byte that it receives and measures each step.
 */
class Host : initiator::Session::User, initiator::DiscoveryReader::User, runtime::Wheel::Alarm {
public:
	using Clock = runtime::Wheel::Clock;

	Host(HostPool &pool, unsigned number);
	virtual ~Host() = default;

	// Each of these ends with a report to the pool.
	bool prepare(); // creates the socket in advance; false: errno has the reason
	void connect(); // TCP connection only
	void go();      // reads the log and requests the event
	void goLater(Clock::duration delay);
	void expectEvent(); // of a change, then reads the log again
	void endRound();    // with or without the event

	void leave();
	// Adds the measured times at the end
	void account(Counts &counts) const;

private:
	using Data = std::span<const std::uint8_t>;
	enum class State : std::uint8_t {
		idle,
		coming,    // connecting or reading its log
		resting,   // waiting out a back-off
		connected, // has read its log, and waits for an event
		failed,
	};

	// Session::User
	void passed(initiator::Step step) override;
	void live() override;
	void data(std::uint32_t offset, Data data) override { reader_.data(offset, data); }
	void done(const nofctl::wire::Completion &completion) override;
	void event(const nofctl::wire::Completion &completion) override;
	void failed(const initiator::Failure &failure) override;
	void onViolation(const char *what) override;
	// DiscoveryReader::User
	void header(Data header) override;
	void entries(std::uint64_t offset, Data data) override;

	void onDeadline() override;
	void open();
	void note(HostStep next);
	void readLog();
	void readAgain();
	void logRead();
	void becomeConnected();
	void logReadAgain();
	void failOver(const initiator::Failure &failure);
	void giveUp(const initiator::Failure &failure);
	void miss();
	void report();
	std::size_t addressIndex() const; // index of the current address

	HostPool &pool_;
	initiator::HostIdentity identity_;
	initiator::Session session_;
	initiator::DiscoveryReader reader_;
	KnownLogs::Reader log_;
	Clock::time_point start_, since_; // of the first attempt, of the current step
	std::array<std::uint32_t, stepCount> stepTimes_{};
	std::uint32_t whole_ = 0;
	std::uint64_t generation_ = 0; // of the log last read
	nofctl::Backoff backoff_;
	std::uint16_t tried_ = 0; // addresses tried
	std::uint8_t torn_ = 0;
	HostStep step_ = HostStep::tcp;
	State state_ = State::idle;
	bool pause_ = false;        // wait after the TCP connection
	bool reportDue_ = false;    // a report to the pool is due
	bool wasConnected_ = false; // has read its log at least once
	bool awaitsEvent_ = false;  // for the event of a round
	bool hadEvent_ = false;     // in the current round
};

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

// The hosts of one thread, and its event loop. The main thread controls it.
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
	std::unique_ptr<runtime::Loop> loop_;
	std::unique_ptr<initiator::Shared> shared_;
	std::unique_ptr<runtime::Mailbox> mailbox_;
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
