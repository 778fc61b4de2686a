// SPDX-License-Identifier: LGPL-2.1-or-later
// Registration of this host at a discovery service that temporarily has no resources
#include "host_registration.h"

#include <catch2/catch.hpp>

#include <deque>

#include "libctl/wire/status.h"

using namespace nvmeofd;
using namespace std::chrono_literals;
using nvmeof::Result;
using Clock = std::chrono::steady_clock;

namespace {

nvmeof::Error status(std::uint16_t status)
{
	nvmeof::Error error;
	error.code = nvmeof::ErrorCode::refused;
	error.nvmeStatus = status;
	error.message = nvmeof::describeStatus(status);
	return error;
}

// A service that gives the scripted answers, and Command Interrupted when none is left
struct FullService {
	explicit FullService(HostRegistration::Limits limits)
		: enrollment(
			  loop, "10.0.0.1:8009", [this] { return take(); }, limits)
	{
	}

	HostRegistration::Try take()
	{
		times.push_back(Clock::now());
		auto state = std::make_shared<nvmeof::detail::PendingState<Result<bool>>>();
		if (silent)
			return HostRegistration::Try(state);
		state->value = answers.empty() ? status(nofctl::wire::st_interrupted) : answers.front();
		if (!answers.empty())
			answers.pop_front();
		return HostRegistration::Try(state);
	}
	template <typename Holds> bool until(Holds holds)
	{
		for (const auto end = Clock::now() + 30s; !holds();) {
			if (Clock::now() > end)
				return false;
			sd_event_run(loop.event(), 20000);
		}
		return true;
	}
	void turn(std::chrono::milliseconds time)
	{
		until([end = Clock::now() + time] { return Clock::now() > end; });
	}

	runtime::Loop loop{runtime::Loop::Watchdog::none};
	bool silent = false;
	std::deque<Result<bool>> answers;
	std::vector<Clock::time_point> times;
	HostRegistration enrollment;
};

} // namespace

TEST_CASE("a registration that gets Command Interrupted is repeated over the same connection", "[daemon][enrollment]")
{
	FullService asked({.first = 40ms, .max = 100ms});
	asked.answers = {status(nofctl::wire::st_interrupted), status(nofctl::wire::st_internal), true};
	asked.enrollment.begin();
	CHECK(asked.times.size() == 1);
	CHECK(asked.enrollment.registered() == false);
	CHECK(asked.until([&] { return asked.enrollment.registered() == true; }));
	REQUIRE(asked.times.size() == 3);
	CHECK(asked.times[1] - asked.times[0] >= 20ms); // with jitter, at least half of the delay
	CHECK(asked.times[2] - asked.times[1] >= 40ms);
	asked.enrollment.begin(); // after another read of the log
	asked.turn(300ms);
	CHECK(asked.times.size() == 3);
}

TEST_CASE("a registration has a limited number of attempts for each connection", "[daemon][enrollment]")
{
	FullService asked({.first = 1ms, .max = 2ms, .tries = 5});
	asked.enrollment.begin();
	CHECK(asked.until([&] { return asked.times.size() == 5; }));
	asked.turn(200ms);
	CHECK(asked.times.size() == 5);
	CHECK(asked.enrollment.registered() == false);
	asked.enrollment.end();
	CHECK_FALSE(asked.enrollment.registered().has_value());
	asked.answers = {status(nofctl::wire::st_interrupted), true};
	asked.enrollment.begin();
	CHECK(asked.until([&] { return asked.enrollment.registered() == true; }));
	CHECK(asked.times.size() == 7);
}

TEST_CASE("other answers are final, and nothing is sent without a connection", "[daemon][enrollment]")
{
	for (const Result<bool> &answer :
	     {Result<bool>(false), Result<bool>(status(nofctl::wire::st_denied)), Result<bool>(nvmeof::Error())}) {
		FullService asked({.first = 1ms, .max = 1ms});
		asked.answers = {answer};
		asked.enrollment.begin();
		asked.turn(100ms);
		CHECK(asked.times.size() == 1);
		CHECK(asked.enrollment.registered() == (answer ? std::nullopt : std::optional(false)));
	}
	FullService asked({.first = 20ms, .max = 20ms});
	asked.enrollment.begin();
	asked.enrollment.end(); // during the delay before the next attempt
	asked.turn(100ms);
	CHECK(asked.times.size() == 1);
	asked.silent = true;
	asked.enrollment.begin();
	asked.enrollment.end(); // while the answer is outstanding
	asked.turn(100ms);
	CHECK(asked.times.size() == 2);
	CHECK_FALSE(asked.enrollment.registered().has_value());
}
