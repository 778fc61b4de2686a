// SPDX-License-Identifier: LGPL-2.1-or-later
// The events that the daemon stores, and their output by the command
#include <catch2/catch.hpp>

#include <fstream>
#include <pthread.h>
#include <sstream>

#include <fmt/chrono.h>

#include "tests/unit/scratch.h"
#include "event_log.h"
#include "monitor.h"
#include "when.h"

using namespace nvmeof;
using namespace nvmeofd;
using namespace std::chrono_literals;

namespace {

// Thu 27 Nov 2025 05:14:10 UTC
constexpr std::chrono::system_clock::time_point now{std::chrono::seconds(1764220450)};

Event controllerEvent(EventType type, ControllerState state, const std::string &reason = "")
{
	Controller controller;
	controller.name = "nvmeof0c1";
	controller.subsysnqn = "nqn.s";
	controller.transport = "tcp";
	controller.traddr = "10.0.0.1";
	controller.trsvcid = "4420";
	controller.state = state;
	Event event;
	event.type = type;
	event.time = 100s;
	event.object = controller;
	event.reason = reason;
	return event;
}

std::string contents(const Scratch &dir)
{
	std::ifstream file(dir.path() / "events");
	std::ostringstream text;
	text << file.rdbuf();
	return text.str();
}

std::size_t lineCount(const std::string &text)
{
	return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

} // namespace

TEST_CASE("an event is stored with its time of day", "[daemon][events]")
{
	Scratch dir;
	EventLog log(dir.path() / "events");
	Event event = controllerEvent(EventType::state, ControllerState::recovering);
	event.oldState = ControllerState::live;
	log.add(event, now, 101500ms);                                                  // it happened 1.5 s ago
	log.add(controllerEvent(EventType::present, ControllerState::live), now, 101s); // not a change
	REQUIRE(log.writeAndWait(10s));
	CHECK_FALSE(log.pending());
	const std::vector<Json> events = chooseEvents(contents(dir), {});
	REQUIRE(events.size() == 1);
	CHECK(events[0]["time"] == "2025-11-27T05:14:08.500Z");
	CHECK(events[0]["event"] == "state");
	CHECK(events[0]["old_state"] == "live");
	CHECK(events[0]["traddr"] == "10.0.0.1");
	CHECK(keptEventText(events[0]).ends_with("nvmeof0c1      state: live -> recovering, tcp 10.0.0.1:4420, nqn.s"));
	CHECK(eventsDocument("f", events)["events"].size() == 1);
	const Json strange{{"time", "whenever"}, {"event", "failover"}, {"failover", {{"ios", "many"}}}, {"state", 7}};
	CHECK(keptEventText(strange) == "whenever  -              failover: 7");
}

TEST_CASE("the latest events survive the daemon, up to a limit", "[daemon][events]")
{
	Scratch dir;
	for (int life = 0; life < 4; life++) {
		EventLog log(dir.path() / "events");
		log.add("daemon_started", now);
		for (int i = 0; i < 700; i++) {
			log.add(controllerEvent(EventType::changed, ControllerState::live,
						std::to_string(life * 1000 + i)),
				now, 100s);
			if (i % 100 == 0)
				REQUIRE(log.writeAndWait(10s));
		}
		REQUIRE(log.writeAndWait(10s));
		CHECK(log.lines().size() <= EventLog::max);
		CHECK(lineCount(contents(dir)) <= 2 * EventLog::max);
	}
	const std::vector<Json> events = chooseEvents(contents(dir), {});
	REQUIRE(events.size() >= EventLog::max);
	CHECK(events.back()["reason"] == "3699");
	CHECK(chooseEvents(contents(dir), {.since = {}, .until = {}, .name = {}, .count = 3}).size() == 3);
	CHECK(chooseEvents(contents(dir), {.since = {}, .until = {}, .name = "nvmeofd", .count = {}}).size() >= 1);
	CHECK(chooseEvents(contents(dir), {.since = {}, .until = {}, .name = "nvmeof7c1", .count = {}}).empty());
	CHECK(EventLog(dir.path() / "events").lines().size() == EventLog::max);
}

TEST_CASE("an incomplete line left by a crash costs that line only", "[daemon][events]")
{
	Scratch dir;
	dir.write("events", "{\"time\":\"2025-11-27T05:14:10.000Z\",\"event\":\"state\",\"name\":\"a\"}\n"
			    "no JSON\n{\"time\":\"2025-11-27T05:14:10.000Z\",\"ev");
	EventLog log(dir.path() / "events");
	CHECK(log.lines().size() == 1);
	log.add("daemon_started", now);
	REQUIRE(log.writeAndWait(10s));
	CHECK(chooseEvents(contents(dir), {}).size() == 2);
	CHECK(lineCount(contents(dir)) == 2);
}

TEST_CASE("events are written later if a write fails", "[daemon][events]")
{
	Scratch dir;
	const std::filesystem::path folder = dir.path() / "state";
	EventLog log(folder / "events");
	log.add("daemon_started", now);
	CHECK_FALSE(log.writeAndWait(10s));
	CHECK(log.pending());
	std::filesystem::create_directory(folder);
	log.add("daemon_ended", now);
	CHECK(log.writeAndWait(10s));
	std::ifstream file(folder / "events");
	std::ostringstream text;
	text << file.rdbuf();
	CHECK(lineCount(text.str()) == 2);
}

namespace {

// While it exists, no thread can be created: there is no memory for its stack.
class NoThreads {
public:
	NoThreads()
	{
		::pthread_getattr_default_np(&before_);
		pthread_attr_t huge;
		::pthread_getattr_default_np(&huge);
		::pthread_attr_setstacksize(&huge, std::size_t(1) << 60);
		REQUIRE(::pthread_setattr_default_np(&huge) == 0);
		::pthread_attr_destroy(&huge);
	}
	NoThreads(const NoThreads &) = delete;
	~NoThreads()
	{
		::pthread_setattr_default_np(&before_);
		::pthread_attr_destroy(&before_);
	}

private:
	pthread_attr_t before_;
};

} // namespace

TEST_CASE("the daemon ends although no thread is available to write its events", "[daemon][events]")
{
	Scratch dir;
	EventLog log(dir.path() / "events");
	log.add("daemon_ended", now);
	{
		NoThreads none;
		CHECK(log.writeAndWait(10s)); // returns
		CHECK(log.pending());
		CHECK(contents(dir).empty());
	}
	CHECK(log.writeAndWait(10s));
	CHECK_FALSE(log.pending());
	CHECK(lineCount(contents(dir)) == 1);
}

TEST_CASE("a failed write is retried with increasing delays, and leaves no temporary file", "[daemon][events]")
{
	Scratch dir;
	std::filesystem::create_directory(dir.path() / "events"); // a directory is not replaced by a file
	dir.write(".events.aB3xYz", "of one that ended before its time");
	EventLog log(dir.path() / "events");
	CHECK_FALSE(std::filesystem::exists(dir.path() / ".events.aB3xYz"));
	CHECK(log.delay() == 1s);
	log.add("daemon_started", now);
	for (unsigned i = 1; i <= 8; i++) {
		CHECK_FALSE(log.writeAndWait(10s));
		CHECK(log.failedWrites() == i);
		CHECK(log.pending());
		CHECK(log.delay() == std::chrono::seconds(1 << std::min(i, 6u)));
		CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
	}
	std::filesystem::remove(dir.path() / "events");
	CHECK(log.writeAndWait(10s));
	CHECK(log.failedWrites() == 0);
	CHECK(log.delay() == 1s);
	CHECK_FALSE(log.pending());
	CHECK(lineCount(contents(dir)) == 1);
}

TEST_CASE("the stored events are bounded in bytes, in memory and in the file", "[daemon][events]")
{
	Scratch dir;
	// invalid content: it is neither read completely nor kept
	dir.write("events", std::string(8 << 20, 'x'));
	EventLog log(dir.path() / "events");
	CHECK(log.lines().empty());
	for (int i = 0; i < 3000; i++) {
		log.add(controllerEvent(EventType::changed, ControllerState::live, std::string(1700, 'r')), now, 100s);
		if (i % 100 == 0) {
			REQUIRE(log.writeAndWait(10s));
			CHECK(std::filesystem::file_size(dir.path() / "events") <= 2 * EventLog::maxBytes);
		}
	}
	REQUIRE(log.writeAndWait(10s));
	std::size_t bytes = 0;
	for (const std::string &line : log.lines())
		bytes += line.size() + 1;
	CHECK(bytes <= EventLog::maxBytes);
	CHECK(bytes > EventLog::maxBytes - EventLog::maxLineLength);
	CHECK(EventLog(dir.path() / "events").lines() == log.lines());
}

TEST_CASE("attempts that fail for the same reason do not displace earlier events", "[daemon][events]")
{
	Scratch dir;
	EventLog log(dir.path() / "events");
	auto fails = [&](const std::string &reason) {
		log.add(controllerEvent(EventType::connectFailed, ControllerState::connecting, reason), now, 100s);
	};
	for (int i = 0; i < 1000; i++)
		fails("connection refused");
	CHECK(log.lines().size() == 10); // 1, 2, 4, ... 512
	CHECK(Json::parse(log.lines().back())["times"] == 512);
	fails("timed out");
	CHECK(log.lines().size() == 11);
	CHECK_FALSE(Json::parse(log.lines().back()).contains("times"));
	CHECK(keptEventText(Json::parse(log.lines()[9])).find(", attempt 512, ") != std::string::npos);
	log.add(controllerEvent(EventType::state, ControllerState::live), now, 100s);
	fails("timed out");
	CHECK(log.lines().size() == 13);
	// a line is bounded whatever a target sends
	fails(std::string(100000, 'x'));
	CHECK(log.lines().back().size() <= EventLog::maxLineLength);
}

TEST_CASE("times are parsed in the usual notations", "[events]")
{
	::setenv("TZ", "UTC", 1);
	::tzset();
	auto at = [](const char *text) {
		auto when = parseWhen(text, now);
		CAPTURE(text);
		REQUIRE(when);
		return localTime(fmt::format("{:%Y-%m-%dT%H:%M:%S}.000Z",
					     fmt::gmtime(std::chrono::system_clock::to_time_t(*when))));
	};
	CHECK(at("2h") == "2025-11-27 03:14:10.000");
	CHECK(at("90s ago") == "2025-11-27 05:12:40.000");
	CHECK(at("3d") == "2025-11-24 05:14:10.000");
	CHECK(at("05:00") == "2025-11-27 05:00:00.000");
	CHECK(at("2025-11-26") == "2025-11-26 00:00:00.000");
	CHECK(at("2025-11-26 23:59") == "2025-11-26 23:59:00.000");
	CHECK(at("2025-11-26T23:59:07") == "2025-11-26 23:59:07.000");
	CHECK(at("@1764220450") == "2025-11-27 05:14:10.000");
	for (const char *wrong : {"", "soon", "2h30", "-2h", "25:00", "2025-13-01", "2025-02-31", "@", "@x",
				  "2025-11-26 ", "99999999999999d", "h", "2x"})
		CHECK_FALSE(parseWhen(wrong, now));
	const std::string lines =
		"{\"time\":\"2025-11-27T05:14:10.000Z\",\"event\":\"a\"}\n"
		"{\"time\":\"2025-11-27T05:14:11.500Z\",\"event\":\"b\"}\n"
		"{\"time\":\"2025-11-27T05:14:12.000Z\",\"event\":\"c\"}\n[1]\n{\"time\":7,\"event\":\"d\"}\n";
	const EventChoice between{now + 1s, now + 2s, {}, {}};
	REQUIRE(chooseEvents(lines, between).size() == 1);
	CHECK(chooseEvents(lines, between)[0]["event"] == "b");
	CHECK(localTime("whenever") == "whenever");
}
