// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine.h"

#include <algorithm>
#include <cstdint>
#include <sys/timerfd.h>

namespace nofctl {

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds patience = 5s;
constexpr int answersAtOnce = 256, eventsAtOnce = 1024; // limits per call, so that the caller's loop keeps running

timespec timespecOf(Clock::duration duration)
{
	auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
	return {static_cast<time_t>(seconds.count()),
		static_cast<long>(std::chrono::nanoseconds(duration - seconds).count())};
}

} // namespace

Engine::StopSignal::StopSignal(Engine &engine, const std::stop_token &stop)
	: callback_(stop, Wake{engine.workers_.fd()})
{
}

void Engine::StopSignal::Wake::operator()() const
{
	std::uint64_t one = 1;
	while (::write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

Result<std::unique_ptr<Engine>> Engine::open(std::chrono::milliseconds answer)
{
	Result<Session> session = Session::open(answer);
	if (!session)
		return session.error();
	Result<Epoll> epoll = Epoll::create();
	if (!epoll)
		return epoll.error();
	Result<Workers> workers = Workers::create();
	if (!workers)
		return workers.error();
	OwnedFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
	if (timer.get() < 0)
		return errorFromErrno(errno);
	std::unique_ptr<Engine> engine(
		new Engine(*std::move(session), *std::move(epoll), *std::move(workers), std::move(timer)));
	for (int fd : {engine->session_.fd(), engine->workers_.fd(), engine->timer_.get()})
		if (Result<void> watched = engine->epoll_.watch(fd, true); !watched)
			return watched.error();
	return engine;
}

// Jobs still running are asked to stop. The remaining operations are deletions that cancelled operations started; a
// deletion that the kernel refuses with EAGAIN is retried.
Engine::~Engine()
{
	try {
		end();
	} catch (const std::exception &) { // out of memory: controllers stay in the kernel
	}
}

void Engine::end()
{
	dispatch();
	for (const std::shared_ptr<Operation> &operation : std::exchange(operations_, {}))
		operation->cancel();
	Clock::time_point deadline = Clock::now() + patience;
	for (;;) {
		dispatch();
		bool left = std::ranges::any_of(operations_, [](const std::shared_ptr<Operation> &operation) {
			return operation->wake() != Clock::time_point::max();
		});
		// also while datagrams keep arriving
		if (!left || Clock::now() >= deadline)
			return;
		if (Result<bool> readable = waitReadable(fd(), deadline); !readable || !*readable)
			return;
	}
}

Result<void> Engine::listen()
{
	if (events_)
		return {};
	Result<EventStream> events = EventStream::subscribe();
	if (!events)
		return events.error();
	events_.emplace(*std::move(events));
	return epoll_.watch(events_->fd(), true);
}

bool Engine::followUdev()
{
	if (!udev_) {
		udev_ = UdevMonitor::open();
		if (udev_)
			epoll_.watch(udev_->fd(), true).ok();
	}
	return udev_.has_value();
}

void Engine::add(std::shared_ptr<Operation> operation)
{
	if (!operation->advance())
		fresh_.push_back(std::move(operation));
	setTimer();
}

void Engine::hear()
{
	std::uint64_t expirations;
	while (::read(timer_.get(), &expirations, sizeof(expirations)) > 0)
		;
	workers_.heard();
	if (udev_)
		udev_->drain();
	session_.receive(answersAtOnce);
	more_ = false;
	if (std::exchange(missed_, false)) {
		Event again;
		again.type = EventType::synced;
		for (const std::shared_ptr<Operation> &operation : operations_)
			operation->onEvent(again);
	}
	for (int i = 0; events_ && i < eventsAtOnce; i++) {
		Result<std::optional<Event>> event = events_->next(0ms);
		if (!event) {
			events_.reset(); // closing the descriptor removes it from the epoll set
			for (const std::shared_ptr<Operation> &operation : operations_)
				operation->onStreamEnd(event.error());
			return;
		}
		if (!*event)
			return;
		for (const std::shared_ptr<Operation> &operation : operations_)
			operation->onEvent(**event);
	}
	more_ = events_.has_value();
}

// After an exception, the operation that threw and all later ones stay in the list.
void Engine::advance()
{
	struct Sweep {
		std::vector<std::shared_ptr<Operation>> &operations;
		~Sweep() { std::erase(operations, nullptr); }
	} sweep{operations_};
	for (std::shared_ptr<Operation> &operation : operations_)
		if (operation->advance())
			operation.reset();
}

void Engine::setTimer()
{
	bool now = more_ || !notifications_.empty();
	Clock::time_point next = now ? Clock::time_point::min() : Clock::time_point::max();
	for (const std::shared_ptr<Operation> &operation : operations_)
		next = std::min(next, operation->wake());
	for (const std::shared_ptr<Operation> &operation : fresh_)
		next = std::min(next, operation->wake());
	itimerspec when{};
	if (next != Clock::time_point::max())
		when.it_value =
			timespecOf(std::max<Clock::duration>(next.time_since_epoch(), 1ns)); // 0 would disarm the timer
	::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

// Callbacks run last, with consistent state: they may start operations or wait. After an exception (no memory, or from
// a callback), the next call continues.
void Engine::dispatch()
{
	struct Rearm {
		Engine &engine;
		int exceptions = std::uncaught_exceptions();
		~Rearm()
		{
			if (std::uncaught_exceptions() > exceptions)
				engine.more_ = engine.missed_ = true;
			engine.setTimer();
		}
	} rearm{*this};
	operations_.reserve(operations_.size() + fresh_.size());
	std::move(fresh_.begin(), fresh_.end(), std::back_inserter(operations_));
	fresh_.clear();
	hear();
	advance();
	for (std::size_t left = notifications_.size(); left && !notifications_.empty(); left--) {
		std::function<void()> notify = std::move(notifications_.front());
		notifications_.erase(notifications_.begin());
		notify();
	}
}

} // namespace nofctl
