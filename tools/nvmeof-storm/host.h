// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A simulated host: connects to a discovery service, reads its log, waits for an event that reports a change, and reads
 * the log again. It checks each byte that it receives and measures each step.
 */
#pragma once

#include "counts.h"
#include "initiator/discovery_reader.h"
#include "known_logs.h"
#include "libctl/base/jitter.h"

namespace storm {

class HostPool;

class Host : initiator::Session::User, initiator::DiscoveryReader::User, serving::Wheel::Alarm {
public:
	using Clock = serving::Wheel::Clock;

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

} // namespace storm
