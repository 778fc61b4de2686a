// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One host: turns to a service, asks for its log, waits for the event that tells of another one, and reads that. What
 * it is told is judged to the last byte; what it does takes the time that it takes, which is noted.
 */
#pragma once

#include "counts.h"
#include "initiator/discovery_reader.h"
#include "known_logs.h"
#include "libctl/base/jitter.h"

namespace storm {

class Crowd;

class Host : initiator::Session::User, initiator::DiscoveryReader::User, serving::Wheel::Alarm {
public:
	using Clock = serving::Wheel::Clock;

	Host(Crowd &crowd, unsigned number);
	virtual ~Host() = default;

	// Each of these ends with a report to the crowd.
	bool prepare();                      // a socket, ahead of time; false: errno tells why
	void connect();                      // over TCP
	void go();                           // to the log and the event, connected or not
	void goLater(Clock::duration delay); //
	void expectEvent();                  // that tells of a change, and read the log again
	void endRound();                     // whether it has come or not

	void leave();
	// What it took, in the end
	void account(Counts &counts) const;

private:
	using Data = std::span<const std::uint8_t>;
	enum class State : std::uint8_t {
		idle,
		coming,  // on its way to its log
		resting, // before it tries again
		there,   // has its log, and waits for an event
		failed,
	};

	// Of the session
	void passed(initiator::Step step) override;
	void live() override;
	void data(std::uint32_t offset, Data data) override { reader_.data(offset, data); }
	void done(const nofctl::wire::Completion &completion) override;
	void event(const nofctl::wire::Completion &completion) override;
	void failed(const initiator::Failure &failure) override;
	void odd(const char *what) override;
	// Of the log
	void header(Data header) override;
	void entries(std::uint64_t offset, Data data) override;

	void rang() override;
	void open();
	void note(Mark next);
	void readLog();
	void readAgain();
	void hasRead();
	void becomeThere();
	void hasReadAgain();
	void fallOver(const initiator::Failure &failure);
	void giveUp(const initiator::Failure &failure);
	void miss();
	void report();
	std::size_t place() const; // of the address that it turns to now

	Crowd &crowd_;
	initiator::Who who_;
	initiator::Session session_;
	initiator::DiscoveryReader reader_;
	KnownLogs::Reader log_;
	Clock::time_point start_, since_; // of all, of what it does now
	std::array<std::uint32_t, mark_count> took_{};
	std::uint32_t whole_ = 0;
	std::uint64_t generation_ = 0; // of the log that it has
	nofctl::Backoff backoff_;
	std::uint16_t tried_ = 0; // addresses
	std::uint8_t torn_ = 0;
	Mark doing_ = Mark::tcp;
	State state_ = State::idle;
	bool pause_ = false;    // when connected over TCP
	bool owes_ = false;     // the crowd a report
	bool came_ = false;     // was there, at least once
	bool waits_ = false;    // for the event of a round
	bool hadEvent_ = false; // of that round
};

} // namespace storm
