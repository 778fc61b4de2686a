// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include <algorithm>
#include <cstring>

#include <nvmeof/rendezvous.h>

#include "host_pool.h"

namespace storm {

using namespace initiator;
using namespace nofctl::wire;
using namespace std::chrono_literals;
using ReadOutcome = DiscoveryReader::Outcome;

namespace {

constexpr std::uint32_t none = ~0u; // not measured
constexpr auto minRetryDelay = 20ms, maxRetryDelay = 2000ms, tornRetryDelay = 10ms;
constexpr std::uint8_t maxTorn = 10;
constexpr std::uint32_t eventBits = 0xffffff; // of dword 0: type, information, log page

std::uint32_t elapsedMicroseconds(Host::Clock::duration span)
{
	const auto count = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
	return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, none - 1));
}

} // namespace

Host::Host(HostPool &pool, unsigned number)
	: pool_(pool), identity_{hostnqnOf(pool.options().hostnqn, number), hostidOf(number)},
	  session_(pool.shared(), *this), reader_(session_, *this), backoff_(minRetryDelay, maxRetryDelay)
{
	stepTimes_.fill(none);
}

std::size_t Host::addressIndex() const
{
	const auto &members = pool_.options().members;
	return members.size() == 1 ? 0 : nvmeof::rendezvousOrder(identity_.hostnqn, members)[tried_];
}

bool Host::prepare()
{
	return session_.prepare(pool_.options().endpoints[addressIndex()]);
}

void Host::connect()
{
	reportDue_ = pause_ = true;
	state_ = State::coming;
	open();
}

void Host::go()
{
	reportDue_ = true;
	start_ = pool_.options().ramp > 0 ? Clock::now() : pool_.instant();
	if (state_ == State::failed)
		return report();
	if (!std::exchange(pause_, false)) {
		state_ = State::coming;
		return open();
	}
	since_ = start_;
	if (step_ == HostStep::hello)
		session_.greet();
}

void Host::goLater(Clock::duration delay)
{
	reportDue_ = true;
	pool_.shared().wheel.set(*this, delay);
}

void Host::open()
{
	step_ = HostStep::tcp;
	since_ = Clock::now();
	torn_ = 0;
	if (!wasConnected_)
		stepTimes_.fill(none);
	pool_.countsForUpdate().attempts++;
	session_.open(pool_.options().endpoints[addressIndex()], identity_, pool_.session(), true);
}

void Host::leave()
{
	pool_.shared().wheel.stop(*this);
	session_.close();
	state_ = State::idle;
}

void Host::onDeadline()
{
	switch (state_) {
	case State::idle:
		return go();
	case State::resting:
		state_ = State::coming;
		return open();
	case State::coming:
	case State::connected:
		return readLog();
	case State::failed:
		break;
	}
}

void Host::report()
{
	if (std::exchange(reportDue_, false))
		pool_.reported();
}

void Host::note(HostStep next)
{
	const auto now = Clock::now();
	if (!wasConnected_ && step_ != HostStep::waiting) {
		auto &took = stepTimes_[static_cast<std::size_t>(step_)];
		took = (took == none ? 0 : took) + elapsedMicroseconds(now - since_);
	}
	since_ = now;
	step_ = next;
}

void Host::passed(Step step)
{
	note(static_cast<HostStep>(static_cast<int>(stepOf(step)) + 1));
	if (step == Step::tcp && !pause_)
		session_.greet();
	else if (step == Step::tcp)
		report();
}

void Host::live()
{
	step_ = HostStep::header; // the step for events may have been skipped
	readLog();
}

void Host::onViolation(const char *what)
{
	pool_.countsForUpdate().addViolation(what);
}

void Host::readLog()
{
	reader_.start(pool_.options().piece);
}

// At the second read, the header has to be identical unless the generation has changed.
void Host::header(Data data)
{
	const auto told = *decode<DiscoveryHeader>(data);
	if (reader_.part() == DiscoveryReader::Part::header)
		return pool_.logsForUpdate().begin(log_, data, told.genctr, told.numrec);
	const KnownLogs::Log *log = log_.log();
	if (log && log->generation == told.genctr && std::memcmp(log->header.data(), data.data(), data.size()) != 0)
		onViolation("the header of the log differs when it is read again");
}

void Host::entries(std::uint64_t, Data data)
{
	pool_.logsForUpdate().take(log_, data);
}

void Host::done(const Completion &completion)
{
	constexpr int first = static_cast<int>(HostStep::header);
	const auto before = reader_.part();
	const ReadOutcome outcome = reader_.done(completion);
	if (outcome == ReadOutcome::going && reader_.part() != before)
		note(static_cast<HostStep>(first + static_cast<int>(reader_.part())));
	if (outcome == ReadOutcome::whole)
		return logRead();
	if (outcome == ReadOutcome::torn)
		return readAgain();
	if (outcome != ReadOutcome::failed)
		return;
	session_.close();
	failed(reader_.failure());
}

void Host::readAgain()
{
	pool_.countsForUpdate().torn++;
	note(HostStep::header);
	if (++torn_ < maxTorn)
		return pool_.shared().wheel.set(*this, nofctl::jittered(torn_ * tornRetryDelay));
	session_.close();
	failed({Reason::unusable, Step::live, 0, "the discovery log changes each time it is read"});
}

void Host::logRead()
{
	torn_ = 0;
	note(HostStep::arm);
	pool_.logsForUpdate().end(log_);
	if (session_.info().events)
		session_.arm();
	note(HostStep::waiting);
	if (state_ == State::connected)
		logReadAgain();
	else
		becomeConnected();
	generation_ = reader_.generation();
}

void Host::becomeConnected()
{
	whole_ = wasConnected_ ? whole_ : elapsedMicroseconds(since_ - start_);
	pool_.countsForUpdate().served[addressIndex()]++;
	wasConnected_ = true;
	state_ = State::connected;
	backoff_.reset();
	if (!pool_.options().keeps())
		session_.close();
	report();
}

void Host::logReadAgain()
{
	if (reader_.generation() == generation_)
		onViolation("an event reports a change, but the log has its old generation");
	if (!awaitsEvent_ || !hadEvent_)
		return;
	awaitsEvent_ = false;
	pool_.currentRound().reads.push_back(elapsedMicroseconds(since_ - pool_.instant()));
	report();
}

void Host::expectEvent()
{
	reportDue_ = awaitsEvent_ = true;
	hadEvent_ = false;
	if (state_ != State::connected || !session_.info().events)
		miss();
}

void Host::miss()
{
	if (std::exchange(awaitsEvent_, false))
		pool_.currentRound().missed++;
	report();
}

void Host::endRound()
{
	if (std::exchange(awaitsEvent_, false))
		pool_.currentRound().missed++;
	reportDue_ = true;
	report();
}

void Host::event(const Completion &completion)
{
	pool_.countsForUpdate().events++;
	if (completion.status >> 1)
		return onViolation("a refused request for an event");
	if ((completion.result & eventBits) != event_discovery_changed.result()) {
		onViolation("an event about something other than the discovery log");
		return session_.arm();
	}
	if (awaitsEvent_ && !std::exchange(hadEvent_, true))
		pool_.currentRound().events.push_back(elapsedMicroseconds(Clock::now() - pool_.instant()));
	step_ = HostStep::header;
	since_ = Clock::now();
	readLog();
}

void Host::failed(const Failure &failure)
{
	Counts &counts = pool_.countsForUpdate();
	counts.failures[static_cast<std::size_t>(step_)][static_cast<std::size_t>(failure.reason)]++;
	log_ = {};
	pool_.shared().wheel.stop(*this);
	if (state_ == State::connected) {
		counts.lost++;
		miss();
	}
	failOver(failure);
}

void Host::failOver(const Failure &failure)
{
	const bool was = std::exchange(state_, State::coming) == State::connected;
	Counts &counts = pool_.countsForUpdate();
	if (!was && tried_ + 1u < pool_.options().members.size()) {
		counts.failovers++;
		tried_++;
		return open();
	}
	if (Clock::now() >= pool_.retryUntil())
		return giveUp(failure);
	counts.retries++;
	tried_ = 0;
	state_ = State::resting;
	pool_.shared().wheel.set(*this, backoff_.next());
}

void Host::giveUp(const Failure &failure)
{
	state_ = State::failed;
	pool_.countsForUpdate().failureReasons[describe(failure)]++;
	report();
}

void Host::account(Counts &counts) const
{
	(wasConnected_ ? counts.good : counts.failed)++;
	if (!wasConnected_)
		return;
	counts.whole.push_back(whole_);
	for (std::size_t mark = 0; mark < stepCount; mark++)
		if (stepTimes_[mark] != none)
			counts.stepTimes[mark].push_back(stepTimes_[mark]);
}

} // namespace storm
