// SPDX-License-Identifier: LGPL-2.1-or-later
#include "loop.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <syslog.h>
#include <system_error>
#include <unistd.h>

#include "journal.h"

namespace runtime {

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

// ---- exceptions in callbacks

namespace {

std::atomic<std::uint64_t> caught{0};

} // namespace

std::uint64_t caughtExceptions()
{
	return caught.load(std::memory_order_relaxed);
}

void caughtException(const char *what) noexcept
{
	static LogLimit limit;
	caught.fetch_add(1, std::memory_order_relaxed);
	try {
		say(limit, LOG_ERR,
		    std::string("a callback threw an exception: ") + what + "; this is a defect, please report it");
	} catch (...) { // out of memory: it is only counted
	}
}

// ---- poller

namespace {

int made(int fd)
{
	if (fd < 0)
		throw std::system_error(errno, std::generic_category(), "cannot watch descriptors");
	return fd;
}

} // namespace

Poller::Poller(Loop &loop) : fd_(made(::epoll_create1(EPOLL_CLOEXEC))), readable_(loop, fd_, [this] { poll(); }) {}

Poller::~Poller()
{
	::close(fd_);
}

bool Poller::add(int fd, std::uint32_t events, Handler &handler)
{
	epoll_event event{.events = events, .data = {.ptr = &handler}};
	return ::epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::want(int fd, std::uint32_t events, Handler &handler)
{
	epoll_event event{.events = events, .data = {.ptr = &handler}};
	::epoll_ctl(fd_, EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd, const Handler &handler)
{
	::epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr);
	for (std::size_t i = next_; i < count_; i++)
		if (events_[i].data.ptr == &handler)
			events_[i].data.ptr = nullptr;
	if (current_ == &handler)
		current_ = nullptr;
}

// One batch per call, so that other sources of the loop are not delayed.
void Poller::poll()
{
	const int count = ::epoll_wait(fd_, events_.data(), static_cast<int>(events_.size()), 0);
	count_ = count < 0 ? 0 : static_cast<std::size_t>(count);
	for (next_ = 0; next_ < count_;) {
		const epoll_event event = events_[next_++];
		current_ = static_cast<Handler *>(event.data.ptr);
		if (current_ && !guarded([&] { current_->ready(event.events); }) && current_)
			guarded([this] { current_->threw(); });
	}
	current_ = nullptr;
	count_ = 0;
}

} // namespace runtime
