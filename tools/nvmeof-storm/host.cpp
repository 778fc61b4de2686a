// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <nvmeof/rendezvous.h>

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
	for (std::size_t step = 0; step < stepCount; step++)
		if (stepTimes_[step] != none)
			counts.stepTimes[step].push_back(stepTimes_[step]);
}

// ---- counters and times

namespace {

constexpr const char *names[stepCount + 1] = {"tcp",      "hello",  "connect", "cap",     "vs",    "enable", "ready",
					      "identify", "events", "header",  "entries", "check", "arm",    "waiting"};

void appendTimes(Times &to, const Times &from)
{
	to.insert(to.end(), from.begin(), from.end());
}

void add(std::map<std::string, std::uint64_t> &to, const std::map<std::string, std::uint64_t> &from)
{
	for (const auto &[what, count] : from)
		to[what] += count;
}

void addRounds(std::vector<Round> &to, const std::vector<Round> &from)
{
	to.resize(std::max(to.size(), from.size()));
	for (std::size_t i = 0; i < from.size(); i++) {
		appendTimes(to[i].events, from[i].events);
		appendTimes(to[i].reads, from[i].reads);
		to[i].missed += from[i].missed;
	}
}

} // namespace

const char *toString(HostStep step)
{
	return names[static_cast<std::size_t>(step)];
}

// A live session reads the log header next.
HostStep stepOf(initiator::Step step)
{
	return static_cast<HostStep>(step);
}
static_assert(static_cast<int>(HostStep::header) == static_cast<int>(initiator::Step::live));

void Counts::add(const Counts &other)
{
	attempts += other.attempts;
	failovers += other.failovers;
	retries += other.retries;
	torn += other.torn;
	events += other.events;
	lost += other.lost;
	good += other.good;
	failed += other.failed;
	bytesIn += other.bytesIn;
	bytesOut += other.bytesOut;
	commands += other.commands;
	exchanges += other.exchanges;
	writes += other.writes;
	for (std::size_t step = 0; step < failures.size(); step++)
		for (std::size_t reason = 0; reason < reasonCount; reason++)
			failures[step][reason] += other.failures[step][reason];
	storm::add(failureReasons, other.failureReasons);
	storm::add(violations, other.violations);
	for (std::size_t step = 0; step < stepCount; step++)
		appendTimes(stepTimes[step], other.stepTimes[step]);
	appendTimes(whole, other.whole);
	served.resize(std::max(served.size(), other.served.size()));
	for (std::size_t i = 0; i < other.served.size(); i++)
		served[i] += other.served[i];
	addRounds(rounds, other.rounds);
}

Summary summarize(Times times)
{
	if (times.empty())
		return {};
	std::ranges::sort(times);
	const auto at = [&](double part) {
		const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(times.size())));
		return times[std::clamp<std::size_t>(rank, 1, times.size()) - 1] / 1000.0;
	};
	return {times.size(), at(0.5), at(0.9), at(0.99), at(1)};
}

// ---- pools

namespace {

initiator::SessionOptions sessionOf(const Options &options)
{
	initiator::SessionOptions session;
	session.subsysnqn = options.subsysnqn;
	session.digests = {options.headerDigest, options.dataDigest};
	session.kato = options.keeps() ? options.kato : 0;
	session.events = initiator::wantDiscoveryChanges;
	session.patience = std::chrono::duration_cast<std::chrono::milliseconds>(seconds(options.patience));
	return session;
}

} // namespace

void Phase::arrive()
{
	std::lock_guard lock(mutex_);
	if (--left_ == 0)
		over_.notify_all();
}

void Phase::wait()
{
	std::unique_lock lock(mutex_);
	over_.wait(lock, [this] { return left_ == 0; });
}

bool Phase::waitUntil(Host::Clock::time_point until)
{
	std::unique_lock lock(mutex_);
	return over_.wait_until(lock, until, [this] { return left_ == 0; });
}

HostPool::HostPool(const Options &options, unsigned first, unsigned count)
	: options_(options), session_(sessionOf(options)),
	  loop_(std::make_unique<runtime::Loop>(runtime::Loop::Watchdog::none)),
	  shared_(std::make_unique<initiator::Shared>(*loop_)), mailbox_(std::make_unique<runtime::Mailbox>(*loop_))
{
	counts_.served.resize(options.members.size());
	hosts_.reserve(count);
	for (unsigned i = 0; i < count; i++)
		hosts_.push_back(std::make_unique<Host>(*this, first + i));
	thread_ = std::jthread([this] { loop_->run(); });
}

HostPool::~HostPool()
{
	leave();
}

void HostPool::reported()
{
	if (--pendingReports_ == 0)
		std::exchange(phase_, nullptr)->arrive();
}

template <typename Fn> void HostPool::order(Phase &phase, Fn each)
{
	mailbox_->post([this, &phase, each]() mutable {
		phase_ = &phase;
		pendingReports_ = hosts_.size();
		for (auto &host : hosts_)
			each(*host);
	});
}

void HostPool::prepare(Phase &phase)
{
	order(phase, [this](Host &host) {
		if (!host.prepare())
			error_ = errno;
		reported();
	});
}

void HostPool::connect(Phase &phase)
{
	retryUntil_ = options_.retry > 0 ? Clock::now() + seconds(options_.retry) : Clock::time_point::min();
	order(phase, [](Host &host) { host.connect(); });
}

void HostPool::go(Clock::time_point instant, Phase &phase)
{
	const auto step = seconds(options_.ramp) / options_.hosts;
	mailbox_->post([this, instant] {
		instant_ = instant;
		retryUntil_ = options_.retry > 0 ? instant + seconds(options_.ramp + options_.retry)
						 : Clock::time_point::min();
	});
	order(phase, [this, step, number = 0u](Host &host) mutable {
		if (options_.ramp > 0)
			host.goLater(step * (number++ * options_.threads));
		else
			host.go();
	});
}

void HostPool::round(Phase &ready, Phase &phase)
{
	mailbox_->post([this] { counts_.rounds.emplace_back(); });
	order(phase, [](Host &host) { host.expectEvent(); });
	mailbox_->post([&ready] { ready.arrive(); });
}

void HostPool::endRound(Phase &phase)
{
	order(phase, [](Host &host) { host.endRound(); });
}

void HostPool::leave()
{
	if (!thread_.joinable())
		return;
	mailbox_->post([this] {
		for (auto &host : hosts_) {
			host->account(counts_);
			host->leave();
		}
		counts_.bytesIn = shared_->bytesIn;
		counts_.bytesOut = shared_->bytesOut;
		counts_.commands = shared_->commands;
		counts_.exchanges = shared_->exchanges;
		counts_.writes = shared_->writes;
		loop_->end(0);
	});
	thread_.join();
}

} // namespace storm
