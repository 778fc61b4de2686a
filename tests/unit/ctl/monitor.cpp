// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cerrno>

#include "snapshot.h"
#include "json.h"
#include "monitor.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

Path pathIn(AnaState state, std::optional<std::chrono::nanoseconds> since)
{
	Path path = pathOf(controllerOf(0, 1, "10.0.0.1"), 1, 0);
	path.anaState = state;
	path.anaSince = since;
	path.usable = state == AnaState::optimized;
	return path;
}

Event eventOf(EventType type, EventObject object)
{
	Event event;
	event.type = type;
	event.time = 812s;
	event.object = std::move(object);
	return event;
}

Event stateOf(AnaState state, std::optional<std::chrono::nanoseconds> since)
{
	return eventOf(EventType::state, pathIn(state, since));
}

Event failover()
{
	Event event = eventOf(EventType::failover, namespaceOf(0, 1, 2));
	event.failover = Failover{"nvmeof0c1n1", 12, 3200us};
	return event;
}

} // namespace

TEST_CASE("monitor prints a line for each event, and JSON on request", "[monitor]")
{
	AnaBefore before{AnaState::optimized, 1250ms};
	Event state = stateOf(AnaState::inaccessible, 812s);
	CHECK(monitorLine(state, before, false) ==
	      "[    812.000000] nvmeof0c1n1 state ana=inaccessible not usable (was optimized for 1.25 s)");
	CHECK(monitorLine(failover(), {}, false) ==
	      "[    812.000000] nvmeof0n1 failover 12 I/Os failed over from nvmeof0c1n1 in 3.20 ms");

	std::string line = monitorLine(state, before, true);
	CHECK(line.find('\n') == line.npos);
	Json json = Json::parse(line);
	CHECK(json["schema_version"] == schemaVersion);
	CHECK(json["object"]["ana_state"] == "inaccessible");
	CHECK(json["ana_before"]["state"] == "optimized");
	CHECK(json["ana_before"]["lasted_ns"] == 1250000000);
	json = Json::parse(monitorLine(failover(), {}, true));
	CHECK_FALSE(json.contains("ana_before"));
	CHECK(json["failover"]["path"] == "nvmeof0c1n1");
	CHECK(json["failover"]["duration_ns"] == 3200000);
}

TEST_CASE("monitor ends in time however many events arrive", "[monitor]")
{
	std::uint32_t taken = 0;
	auto always = [](std::chrono::milliseconds) {
		return Result<std::optional<TopologyEvent>>(TopologyEvent{failover(), {}});
	};
	auto count = [&](const TopologyEvent &) { return ++taken, true; };
	Result<MonitorEnd> end = followEvents({{}, 20ms}, always, count);
	REQUIRE(end);
	CHECK(*end == MonitorEnd::timeOver);
	CHECK(taken > 0);

	taken = 0;
	end = followEvents({3u, 1h}, always, count);
	REQUIRE(end);
	CHECK(*end == MonitorEnd::counted);
	CHECK(taken == 3);

	end = followEvents({}, always, [](const TopologyEvent &) { return false; });
	REQUIRE(end);
	CHECK(*end == MonitorEnd::unread);
}

TEST_CASE("monitor waits until its time limit, or without one for ever", "[monitor]")
{
	std::chrono::milliseconds asked{0};
	auto never = [&](std::chrono::milliseconds time) {
		asked = time;
		return time < 0ms ? Result<std::optional<TopologyEvent>>(errorFromErrno(EIO))
				  : Result<std::optional<TopologyEvent>>(std::nullopt);
	};
	auto none = [](const TopologyEvent &) { return true; };
	Result<MonitorEnd> end = followEvents({1u, 5ms}, never, none);
	REQUIRE(end);
	CHECK(*end == MonitorEnd::timeOver);
	CHECK(asked <= 5ms);
	end = followEvents({}, never, none);
	REQUIRE_FALSE(end); // only an error of the stream ends it
	CHECK(asked == -1ms);
}
