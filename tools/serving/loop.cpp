// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop.h"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guard.h"

namespace serving {

namespace {

// Throws if an sd_event function has returned a negative errno
void check(int result, const char *what)
{
	if (result < 0)
		throw std::system_error(-result, std::generic_category(), what);
}

int called(void *call)
{
	guarded(*static_cast<std::function<void()> *>(call));
	return 0;
}

} // namespace

Loop::Loop(Watchdog watchdog)
{
	check(sd_event_new(&event_), "cannot create an event loop");
	if (watchdog == Watchdog::fed)
		check(sd_event_set_watchdog(event_, true), "cannot feed the watchdog");
}

Loop::~Loop()
{
	sd_event_unref(event_);
}

int Loop::run()
{
	int code = sd_event_loop(event_);
	check(code, "the event loop failed");
	return code;
}

void Loop::end(int code)
{
	sd_event_exit(event_, code);
}

Source::~Source()
{
	sd_event_source_disable_unref(source_);
}

Readable::Readable(Loop &loop, int fd, std::function<void()> call) : Source(std::move(call))
{
	check(sd_event_add_io(
		      loop.event(), &source_, fd, EPOLLIN,
		      [](sd_event_source *, int, uint32_t, void *data) { return called(data); }, &call_),
	      "cannot watch a descriptor");
}

Watched::Watched(Loop &loop, int fd, std::uint32_t events, std::function<void(std::uint32_t)> call)
	: call_(std::move(call)), wanted_(events)
{
	check(sd_event_add_io(
		      loop.event(), &source_, fd, events,
		      [](sd_event_source *, int, uint32_t got, void *data) {
			      guarded([=] { (*static_cast<std::function<void(std::uint32_t)> *>(data))(got); });
			      return 0;
		      },
		      &call_),
	      "cannot watch a descriptor");
}

Watched::~Watched()
{
	sd_event_source_disable_unref(source_);
}

void Watched::want(std::uint32_t events)
{
	if (events == wanted_)
		return;
	wanted_ = events;
	check(sd_event_source_set_io_events(source_, events), "cannot watch a descriptor");
}

OnSignal::OnSignal(Loop &loop, int signal, std::function<void()> call) : Source(std::move(call))
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, nullptr);
	check(sd_event_add_signal(
		      loop.event(), &source_, signal,
		      [](sd_event_source *, const signalfd_siginfo *, void *data) { return called(data); }, &call_),
	      "cannot watch a signal");
}

Timer::Timer(Loop &loop, std::function<void()> call) : Source(std::move(call))
{
	check(sd_event_add_time(
		      loop.event(), &source_, CLOCK_BOOTTIME, 0, 1000,
		      [](sd_event_source *, uint64_t, void *data) { return called(data); }, &call_),
	      "cannot create a timer");
	sd_event_source_set_enabled(source_, SD_EVENT_OFF);
}

void Timer::start(std::chrono::milliseconds delay)
{
	auto us = std::chrono::duration_cast<std::chrono::microseconds>(delay).count();
	sd_event_source_set_time_relative(source_, static_cast<uint64_t>(us < 0 ? 0 : us));
	sd_event_source_set_enabled(source_, SD_EVENT_ONESHOT);
}

void Timer::startUnlessRunning(std::chrono::milliseconds delay)
{
	if (!running())
		start(delay);
}

void Timer::stop()
{
	sd_event_source_set_enabled(source_, SD_EVENT_OFF);
}

bool Timer::running() const
{
	int enabled = SD_EVENT_OFF;
	sd_event_source_get_enabled(source_, &enabled);
	return enabled != SD_EVENT_OFF;
}

Mailbox::Mailbox(Loop &loop) : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), readable_(loop, fd_, [this] { open(); })
{
}

Mailbox::~Mailbox()
{
	::close(fd_);
}

void Mailbox::post(std::function<void()> work)
{
	{
		std::lock_guard lock(mutex_);
		work_.push_back(std::move(work));
	}
	::eventfd_write(fd_, 1);
}

void Mailbox::open()
{
	eventfd_t count;
	::eventfd_read(fd_, &count);
	std::vector<std::function<void()>> work;
	{
		std::lock_guard lock(mutex_);
		work.swap(work_);
	}
	for (auto &piece : work)
		guarded(piece);
}

} // namespace serving
