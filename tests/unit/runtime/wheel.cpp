// SPDX-License-Identifier: LGPL-2.1-or-later
#include <functional>
#include <memory>
#include <thread>

#include <catch2/catch.hpp>

#include "libctl/runtime/wheel.h"
#include "turns.h"

using namespace runtime;
using namespace std::chrono_literals;

namespace {

struct TestTimer final : Wheel::Alarm {
	std::function<void()> call = [] {};
	int expirations = 0;
	Wheel::Clock::time_point when;

	void onDeadline() override
	{
		expirations++;
		when = Wheel::Clock::now();
		call();
	}
};

struct Time {
	Loop loop{Loop::Watchdog::none};
	Wheel wheel{loop};
	Wheel::Clock::time_point start = Wheel::Clock::now();

	void pass(std::chrono::milliseconds span)
	{
		Turns turns(loop);
		Timer over(loop, [&turns] { turns.stop(); });
		over.start(span);
		turns.run();
	}
	std::chrono::milliseconds after(const TestTimer &bell) const
	{
		return std::chrono::duration_cast<std::chrono::milliseconds>(bell.when - start);
	}
};

} // namespace

TEST_CASE("an alarm fires once, and not early", "[serving]")
{
	Time time;
	TestTimer soon, later, never;
	time.wheel.set(later, 100ms);
	time.wheel.set(soon, 0ms);
	time.wheel.set(never, 50ms);
	time.wheel.stop(never);
	time.pass(200ms);
	CHECK(soon.expirations == 1);
	CHECK(later.expirations == 1);
	CHECK(time.after(later) >= 100ms);
	CHECK(never.expirations == 0);
	CHECK_FALSE(later.set());
}

TEST_CASE("an alarm that is set again fires at the new time", "[serving]")
{
	Time time;
	TestTimer put_off, advanced, kept;
	time.wheel.set(put_off, 20ms);
	time.wheel.set(put_off, 120ms);
	time.wheel.set(advanced, 30000ms); // beyond one turn of the wheel
	time.wheel.set(advanced, 20ms);
	time.wheel.set(kept, 11000ms);
	time.pass(80ms);
	CHECK(put_off.expirations == 0);
	CHECK(advanced.expirations == 1);
	time.pass(80ms);
	CHECK(put_off.expirations == 1);
	CHECK(time.after(put_off) >= 120ms);
	CHECK(kept.expirations == 0);
	CHECK(kept.set());
}

TEST_CASE("alarms may remove and set each other and themselves", "[serving]")
{
	Time time;
	auto victim = std::make_unique<TestTimer>();
	TestTimer killer, again;
	killer.call = [&] { victim.reset(); };
	again.call = [&] {
		if (again.expirations < 3)
			time.wheel.set(again, 10ms);
	};
	time.wheel.set(killer, 10ms);
	time.wheel.set(*victim, 10ms);
	time.wheel.set(again, 10ms);
	time.pass(150ms);
	CHECK(killer.expirations == 1);
	CHECK_FALSE(victim);
	CHECK(again.expirations == 3);
}

TEST_CASE("an alarm that is overdue because of a slow callback fires", "[serving]")
{
	Time time;
	TestTimer first, second, third;
	first.call = [] { std::this_thread::sleep_for(60ms); };
	time.wheel.set(first, 10ms);
	time.wheel.set(second, 30ms);
	time.wheel.set(third, 90ms);
	time.pass(200ms);
	CHECK(first.expirations == 1);
	CHECK(second.expirations == 1);
	CHECK(third.expirations == 1);
}

TEST_CASE("10,000 alarms all fire", "[serving]")
{
	Time time;
	std::vector<std::unique_ptr<TestTimer>> bells;
	for (int i = 0; i < 10000; i++) {
		bells.push_back(std::make_unique<TestTimer>());
		time.wheel.set(*bells.back(), std::chrono::milliseconds(i % 100));
	}
	time.pass(300ms);
	CHECK(std::ranges::all_of(bells, [](auto &bell) { return bell->expirations == 1; }));
}
