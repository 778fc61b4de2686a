// SPDX-License-Identifier: LGPL-2.1-or-later
// Exceptions in callbacks of a loop, and log messages that peers can cause
#include <stdexcept>

#include <catch2/catch.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include "libctl/runtime/loop.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/wheel.h"

using namespace runtime;
using namespace std::chrono_literals;

namespace {

// Runs the loop until @holds is true. Returns false after 30 s.
template <typename Holds> bool turnUntil(Loop &loop, Holds holds)
{
	const auto end = std::chrono::steady_clock::now() + 30s;
	while (!holds()) {
		if (std::chrono::steady_clock::now() > end)
			return false;
		::sd_event_run(loop.event(), 20000);
	}
	return true;
}

struct Thrower final : Poller::Handler, Wheel::Alarm {
	int fd = ::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC), readied = 0, closed = 0;
	Poller *poller = nullptr;
	bool removes = false;

	~Thrower() { ::close(fd); }
	void ready(std::uint32_t) override
	{
		readied++;
		if (removes)
			poller->remove(fd, *this);
		throw std::runtime_error("ready");
	}
	void threw() override
	{
		closed++;
		poller->remove(fd, *this);
	}
	void onDeadline() override { throw 7; }
};

} // namespace

TEST_CASE("an exception in a callback is counted, and the loop continues", "[guard]")
{
	Loop loop(Loop::Watchdog::none);
	const auto before = caughtExceptions();
	Mailbox mailbox(loop);
	Timer timer(loop, [] { throw std::runtime_error("timer"); });
	bool reached = false;
	timer.start(0ms);
	mailbox.post([] { throw std::bad_alloc(); });
	mailbox.post([&] { reached = true; });
	CHECK(turnUntil(loop, [&] { return reached && caughtExceptions() == before + 2; }));
	CHECK_FALSE(guarded([] { throw 7; }));
	CHECK(guarded([] {}));
	CHECK(caughtExceptions() == before + 3);
}

TEST_CASE("a handler that throws is closed, unless it removed itself", "[guard]")
{
	Loop loop(Loop::Watchdog::none);
	Poller poller(loop);
	Thrower stays, goes;
	goes.removes = true;
	for (Thrower *one : {&stays, &goes}) {
		one->poller = &poller;
		REQUIRE(poller.add(one->fd, EPOLLIN, *one));
	}
	CHECK(turnUntil(loop, [&] { return stays.closed == 1 && goes.readied == 1; }));
	CHECK(stays.readied == 1);
	CHECK(goes.closed == 0);
}

TEST_CASE("an alarm that throws does not prevent other alarms", "[guard]")
{
	Loop loop(Loop::Watchdog::none);
	Wheel wheel(loop);
	Thrower first, second;
	const auto before = caughtExceptions();
	wheel.set(first, 10ms);
	wheel.set(second, 10ms);
	CHECK(turnUntil(loop, [&] { return caughtExceptions() == before + 2; }));
	wheel.set(first, 10ms);
	CHECK(turnUntil(loop, [&] { return caughtExceptions() == before + 3; }));
}

TEST_CASE("log messages caused by peers are limited, and the suppressed ones counted", "[guard]")
{
	LogLimit limit(3, 10s);
	const auto start = LogLimit::Clock::time_point(1000s);
	std::uint64_t leftOut = 99;
	for (int i = 0; i < 3; i++)
		CHECK(limit.allow(leftOut, start));
	CHECK(leftOut == 0);
	for (int i = 0; i < 500; i++)
		CHECK_FALSE(limit.allow(leftOut, start + 9s));
	CHECK(limit.allow(leftOut, start + 10s));
	CHECK(leftOut == 500);
	CHECK(limit.allow(leftOut, start + 11s));
	CHECK(leftOut == 0);
}
