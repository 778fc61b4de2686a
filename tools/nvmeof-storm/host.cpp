// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include <algorithm>
#include <cstring>

#include <nvmeof/rendezvous.h>

#include "crowd.h"

namespace storm {

using namespace initiator;
using namespace nofctl::wire;
using namespace std::chrono_literals;
using Outcome = DiscoveryReader::Outcome;

namespace {

constexpr std::uint32_t none = ~0u; // not measured
constexpr auto first_rest = 20ms, longest_rest = 2000ms, torn_rest = 10ms;
constexpr std::uint8_t most_torn = 10;
constexpr std::uint32_t event_bits = 0xffffff; // of dword 0: type, information, log page

std::uint32_t microseconds(Host::Clock::duration span)
{
	const auto count = std::chrono::duration_cast<std::chrono::microseconds>(span).count();
	return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, none - 1));
}

} // namespace

Host::Host(Crowd &crowd, unsigned number)
	: crowd_(crowd), who_{hostnqnOf(crowd.options().hostnqn, number), hostidOf(number)},
	  session_(crowd.shared(), *this), reader_(session_, *this), backoff_(first_rest, longest_rest)
{
	took_.fill(none);
}

std::size_t Host::place() const
{
	const auto &members = crowd_.options().members;
	return members.size() == 1 ? 0 : nvmeof::rendezvousOrder(who_.hostnqn, members)[tried_];
}

bool Host::prepare()
{
	return session_.prepare(crowd_.options().endpoints[place()]);
}

void Host::connect()
{
	owes_ = pause_ = true;
	state_ = State::coming;
	open();
}

void Host::go()
{
	owes_ = true;
	start_ = crowd_.options().ramp > 0 ? Clock::now() : crowd_.instant();
	if (state_ == State::failed)
		return report();
	if (!std::exchange(pause_, false)) {
		state_ = State::coming;
		return open();
	}
	since_ = start_;
	if (doing_ == Mark::hello)
		session_.greet();
}

void Host::goLater(Clock::duration delay)
{
	owes_ = true;
	crowd_.shared().wheel.set(*this, delay);
}

void Host::open()
{
	doing_ = Mark::tcp;
	since_ = Clock::now();
	torn_ = 0;
	if (!came_)
		took_.fill(none);
	crowd_.mutableCounts().attempts++;
	session_.open(crowd_.options().endpoints[place()], who_, crowd_.session(), true);
}

void Host::leave()
{
	crowd_.shared().wheel.stop(*this);
	session_.close();
	state_ = State::idle;
}

void Host::rang()
{
	switch (state_) {
	case State::idle:
		return go();
	case State::resting:
		state_ = State::coming;
		return open();
	case State::coming:
	case State::there:
		return readLog();
	case State::failed:
		break;
	}
}

void Host::report()
{
	if (std::exchange(owes_, false))
		crowd_.reported();
}

void Host::note(Mark next)
{
	const auto now = Clock::now();
	if (!came_ && doing_ != Mark::waiting) {
		auto &took = took_[static_cast<std::size_t>(doing_)];
		took = (took == none ? 0 : took) + microseconds(now - since_);
	}
	since_ = now;
	doing_ = next;
}

void Host::passed(Step step)
{
	note(static_cast<Mark>(static_cast<int>(markOf(step)) + 1));
	if (step == Step::tcp && !pause_)
		session_.greet();
	else if (step == Step::tcp)
		report();
}

void Host::live()
{
	doing_ = Mark::header; // the step for events may have been skipped
	readLog();
}

void Host::odd(const char *what)
{
	crowd_.mutableCounts().odd(what);
}

void Host::readLog()
{
	reader_.start(crowd_.options().piece);
}

// At the second read, the header has to be identical unless the generation has changed.
void Host::header(Data data)
{
	const auto told = *decode<DiscoveryHeader>(data);
	if (reader_.part() == DiscoveryReader::Part::header)
		return crowd_.mutableLogs().begin(log_, data, told.genctr, told.numrec);
	const KnownLogs::Log *log = log_.log();
	if (log && log->generation == told.genctr && std::memcmp(log->header.data(), data.data(), data.size()) != 0)
		odd("the header of the log differs when it is read again");
}

void Host::entries(std::uint64_t, Data data)
{
	crowd_.mutableLogs().take(log_, data);
}

void Host::done(const Completion &completion)
{
	constexpr int first = static_cast<int>(Mark::header);
	const auto before = reader_.part();
	const Outcome outcome = reader_.done(completion);
	if (outcome == Outcome::going && reader_.part() != before)
		note(static_cast<Mark>(first + static_cast<int>(reader_.part())));
	if (outcome == Outcome::whole)
		return hasRead();
	if (outcome == Outcome::torn)
		return readAgain();
	if (outcome != Outcome::failed)
		return;
	session_.close();
	failed(reader_.failure());
}

void Host::readAgain()
{
	crowd_.mutableCounts().torn++;
	note(Mark::header);
	if (++torn_ < most_torn)
		return crowd_.shared().wheel.set(*this, nofctl::jittered(torn_ * torn_rest));
	session_.close();
	failed({Reason::unusable, Step::live, 0, "the discovery log changes each time it is read"});
}

void Host::hasRead()
{
	torn_ = 0;
	note(Mark::arm);
	crowd_.mutableLogs().end(log_);
	if (session_.told().events)
		session_.arm();
	note(Mark::waiting);
	if (state_ == State::there)
		hasReadAgain();
	else
		becomeThere();
	generation_ = reader_.generation();
}

void Host::becomeThere()
{
	whole_ = came_ ? whole_ : microseconds(since_ - start_);
	crowd_.mutableCounts().served[place()]++;
	came_ = true;
	state_ = State::there;
	backoff_.reset();
	if (!crowd_.options().keeps())
		session_.close();
	report();
}

void Host::hasReadAgain()
{
	if (reader_.generation() == generation_)
		odd("an event reports a change, but the log has its old generation");
	if (!waits_ || !hadEvent_)
		return;
	waits_ = false;
	crowd_.roundNow().reads.push_back(microseconds(since_ - crowd_.instant()));
	report();
}

void Host::expectEvent()
{
	owes_ = waits_ = true;
	hadEvent_ = false;
	if (state_ != State::there || !session_.told().events)
		miss();
}

void Host::miss()
{
	if (std::exchange(waits_, false))
		crowd_.roundNow().missed++;
	report();
}

void Host::endRound()
{
	if (std::exchange(waits_, false))
		crowd_.roundNow().missed++;
	owes_ = true;
	report();
}

void Host::event(const Completion &completion)
{
	crowd_.mutableCounts().told++;
	if (completion.status >> 1)
		return odd("a refused request for an event");
	if ((completion.result & event_bits) != event_discovery_changed.result()) {
		odd("an event about something other than the discovery log");
		return session_.arm();
	}
	if (waits_ && !std::exchange(hadEvent_, true))
		crowd_.roundNow().events.push_back(microseconds(Clock::now() - crowd_.instant()));
	doing_ = Mark::header;
	since_ = Clock::now();
	readLog();
}

void Host::failed(const Failure &failure)
{
	Counts &counts = crowd_.mutableCounts();
	counts.failures[static_cast<std::size_t>(doing_)][static_cast<std::size_t>(failure.reason)]++;
	log_ = {};
	crowd_.shared().wheel.stop(*this);
	if (state_ == State::there) {
		counts.lost++;
		miss();
	}
	fallOver(failure);
}

void Host::fallOver(const Failure &failure)
{
	const bool was = std::exchange(state_, State::coming) == State::there;
	Counts &counts = crowd_.mutableCounts();
	if (!was && tried_ + 1u < crowd_.options().members.size()) {
		counts.fellOver++;
		tried_++;
		return open();
	}
	if (Clock::now() >= crowd_.retryUntil())
		return giveUp(failure);
	counts.retries++;
	tried_ = 0;
	state_ = State::resting;
	crowd_.shared().wheel.set(*this, backoff_.next());
}

void Host::giveUp(const Failure &failure)
{
	state_ = State::failed;
	crowd_.mutableCounts().endings[describe(failure)]++;
	report();
}

void Host::account(Counts &counts) const
{
	(came_ ? counts.good : counts.failed)++;
	if (!came_)
		return;
	counts.whole.push_back(whole_);
	for (std::size_t mark = 0; mark < mark_count; mark++)
		if (took_[mark] != none)
			counts.marks[mark].push_back(took_[mark]);
}

} // namespace storm
