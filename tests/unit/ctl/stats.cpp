// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/scratch.h"
#include "snapshot.h"
#include "daemon_bus.h"
#include "parse.h"
#include "stats.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> namesOf(const auto &objects)
{
	std::vector<std::string> names;
	for (const auto &object : objects)
		names.push_back(object.name);
	return names;
}

using Names = std::vector<std::string>;

bool statsHas(const std::string &text, const std::string &part)
{
	return text.find(part) != text.npos;
}

} // namespace

TEST_CASE("a snapshot is narrowed to one object and its relatives", "[stats]")
{
	Snapshot s = exampleSnapshot();
	SECTION("no name: unchanged")
	{
		CHECK(narrow(s, ""));
		CHECK(s.paths.size() == 5);
	}
	SECTION("subsystem")
	{
		std::string name = GENERATE("nvmeof0", "/dev/nvmeof0");
		REQUIRE(narrow(s, name));
		CHECK(namesOf(s.subsystems) == Names{"nvmeof0"});
		CHECK(namesOf(s.controllers) == Names{"nvmeof0c1", "nvmeof0c2"});
		CHECK(namesOf(s.namespaces) == Names{"nvmeof0n1", "nvmeof0n2"});
		CHECK(s.paths.size() == 4);
	}
	SECTION("controller")
	{
		REQUIRE(narrow(s, "nvmeof0c2"));
		CHECK(namesOf(s.subsystems) == Names{"nvmeof0"});
		CHECK(namesOf(s.controllers) == Names{"nvmeof0c2"});
		CHECK(namesOf(s.namespaces) == Names{"nvmeof0n1", "nvmeof0n2"});
		CHECK(namesOf(s.paths) == Names{"nvmeof0c2n1", "nvmeof0c2n2"});
	}
	SECTION("controller without paths")
	{
		s.paths.clear();
		REQUIRE(narrow(s, "nvmeof1c1"));
		CHECK(namesOf(s.controllers) == Names{"nvmeof1c1"});
		CHECK(s.namespaces.empty());
	}
	SECTION("namespace")
	{
		REQUIRE(narrow(s, "nvmeof0n2"));
		CHECK(namesOf(s.namespaces) == Names{"nvmeof0n2"});
		CHECK(namesOf(s.controllers) == Names{"nvmeof0c1", "nvmeof0c2"});
		CHECK(namesOf(s.paths) == Names{"nvmeof0c1n2", "nvmeof0c2n2"});
	}
	SECTION("path")
	{
		REQUIRE(narrow(s, "nvmeof1c1n1"));
		CHECK(namesOf(s.subsystems) == Names{"nvmeof1"});
		CHECK(namesOf(s.namespaces) == Names{"nvmeof1n1"});
		CHECK(namesOf(s.paths) == Names{"nvmeof1c1n1"});
	}
	SECTION("path whose controller was removed meanwhile: no subsystem, and not the first one")
	{
		s.controllers.pop_back();
		REQUIRE(narrow(s, "nvmeof1c1n1"));
		CHECK(s.subsystems.empty());
		CHECK(namesOf(s.paths) == Names{"nvmeof1c1n1"});
	}
	SECTION("unknown name: unchanged")
	{
		CHECK_FALSE(narrow(s, "nvmeof7"));
		CHECK(s.paths.size() == 5);
	}
}

TEST_CASE("totals", "[stats]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].writeLatency[23] = 4;
	s.paths[0].failoversFrom = 3;
	s.paths[2].failoversTo = 3;
	Totals totals = totalsOf(s.pathsOf(s.namespaces[0]));
	CHECK(totals.ios == 400);
	CHECK(totals.bytesRead == 400 * 4096);
	CHECK(totals.readLatency[7] == 400);
	CHECK(totals.writeLatency[23] == 4);
	CHECK(totals.failovers == 3);
	CHECK(totalsOf({}).ios == 0);
}

TEST_CASE("statistics as JSON", "[stats]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].failoversFrom = 5;
	s.paths[0].degraded = true;
	s.paths[0].anaSince = 900s;
	s.paths[0].reconnects = 2;
	s.controllers[0].lastError = "it broke";
	s.namespaces[0].held = 9;
	Json json = Json::parse(dump(withSchema(statsJson(s)), 2));
	CHECK(json["schema_version"] == 1);
	CHECK(json["time_ns"] == 1000000000000);
	REQUIRE(json["namespaces"].size() == 3);
	Json ns = json["namespaces"][0];
	CHECK(ns["name"] == "nvmeof0n1");
	CHECK(ns["held"] == 9);
	CHECK(ns["totals"]["ios"] == 400);
	REQUIRE(ns["paths"].size() == 2);
	Json path = ns["paths"][0];
	CHECK(path["name"] == "nvmeof0c1n1");
	CHECK(path["ios"] == 100);
	CHECK(path["failovers_from"] == 5);
	CHECK(path["failovers_to"] == 0);
	CHECK(path["degraded"] == true);
	CHECK(path["ana_since_ns"] == 900000000000);
	CHECK_FALSE(ns["paths"][1].contains("ana_since_ns"));
	CHECK(path["traddr"] == "10.0.0.1");
	CHECK(path["reconnects"] == 2);
	CHECK(path["latency"]["read"]["count"] == 100);
	CHECK(path["latency"]["read"]["buckets"].size() == 24);
	CHECK(path["latency"]["read"]["buckets"][7] == 100);
	CHECK(path["latency"]["read"]["max_bucket_ns"] == 128 * 1024);
	CHECK(path["latency"]["read"]["max_bucket_open"] == false);
	CHECK(path["latency"]["write"]["count"] == 0);
	CHECK_FALSE(path["latency"]["write"].contains("p50_ns"));
	CHECK(json["controllers"][0]["last_error"]["message"] == "it broke");
}

TEST_CASE("statistics as text", "[stats]")
{
	Snapshot s = exampleSnapshot();
	s.paths[0].anaSince = 1000s - 3723s;
	s.paths[0].degraded = true;
	s.paths[0].errors = 12345;
	s.paths[2].anaSince = 958s;
	s.namespaces[0].waiting = 17;
	s.controllers[1].lastError = "gone\x1b[2J";
	std::string text = statsText(s);
	INFO(text);
	for (const char *part : {"nvmeof0n1: paths 2 usable of 2, 17 requests wait", "nvmeof0c1n1", "1:02 h", "42 s",
				 "degraded", "12345", "fd00::2", "gone?[2J", "< 131 us"})
		CHECK(statsHas(text, part));
	CHECK(statsHas(statsText(Snapshot()), "nothing is connected"));
	Snapshot gone = exampleSnapshot(); // subsystem and controllers were removed during the read
	gone.subsystems.clear();
	gone.controllers.clear();
	CHECK(statsHas(statsText(gone), "nvmeof0c1n1"));
	CHECK(statsJson(gone)["namespaces"].size() == 3);
}

TEST_CASE("stats and top are parsed", "[stats][command]")
{
	CommandLine stats = parseCommandLine({"stats", "nvmeof0", "--prometheus", "--output", "/x/y.prom"});
	REQUIRE(stats.command);
	CHECK(stats.args.text("NAME") == "nvmeof0");
	CHECK(stats.args.has("prometheus"));
	CHECK(stats.args.text("output") == "/x/y.prom");
	CHECK(parseCommandLine({"stats"}).command);
	CHECK_FALSE(parseCommandLine({"stats", "a", "b"}).command);
	CommandLine top = parseCommandLine({"top", "--batch", "-n", "3", "-d", "0.5"});
	REQUIRE(top.command);
	CHECK(top.args.has("batch"));
	CHECK(top.args.text("iterations") == "3");
	CHECK(top.args.text("delay") == "0.5");
}

TEST_CASE("if D-Bus does not answer, the state of nvmeofd is unknown after a second", "[stats]")
{
	Scratch dir;
	const std::string path = (dir.path() / "bus").string();
	sockaddr_un address{};
	address.sun_family = AF_UNIX;
	REQUIRE(path.size() < sizeof(address.sun_path));
	path.copy(address.sun_path, path.size());
	const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	REQUIRE(fd >= 0);
	REQUIRE(::bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0);
	REQUIRE(::listen(fd, 1) == 0);
	::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + path).c_str(), 1);
	const auto begin = std::chrono::steady_clock::now();
	CHECK_FALSE(daemonRuns());
	const auto took = std::chrono::steady_clock::now() - begin;
	CHECK(took >= std::chrono::milliseconds(900));
	CHECK(took < std::chrono::seconds(10)); // the timeout of D-Bus is at least 25 s
	const Result<Json> status = daemonStatus();
	REQUIRE_FALSE(status);
	CHECK(status.error().code == ErrorCode::timedOut);
	CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
	::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
	::close(fd);
}
