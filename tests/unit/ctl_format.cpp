// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include "format.h"
#include "json.h"
#include "table.h"

using namespace nvmeof;

namespace {

Controller controllerAt(const char *name, const char *traddr)
{
	Controller c;
	c.name = name;
	c.subsysnqn = "nqn.a";
	c.transport = "tcp";
	c.traddr = traddr;
	c.trsvcid = "4420";
	c.state = ControllerState::live;
	return c;
}

Path pathOf(const char *controller, const char *ns, AnaState state)
{
	Path p;
	p.controller = controller;
	p.nameSpace = ns;
	p.anaState = state;
	return p;
}

} // namespace

TEST_CASE("a table", "[format]")
{
	Table table({{"Node"}, {"Size", Align::right}});
	table.add({"/dev/nvmeof0n1", "1"});
	table.add({"x", "1000000"});
	table.add({"esc\x1b[2J"});
	CHECK(table.render() == "Node               Size\n"
				"--------------  -------\n"
				"/dev/nvmeof0n1        1\n"
				"x               1000000\n"
				"esc?[2J\n");
}

TEST_CASE("sizes", "[format]")
{
	CHECK(formatSize(0) == "0 B");
	CHECK(formatSize(999) == "999 B");
	CHECK(formatSize(1000) == "1.00 kB");
	CHECK(formatSize(999999) == "1.00 MB");
	CHECK(formatSize(107374182400) == "107.37 GB");
	CHECK(formatSize(UINT64_MAX) == "18.45 EB");
}

TEST_CASE("subsystems as nvme-cli shows them", "[format]")
{
	Subsystem s;
	s.name = "nvmeof0";
	s.nqn = "nqn.a";
	s.hostnqn = "nqn.h";
	s.iopolicy = "numa";
	std::vector<Controller> controllers{controllerAt("nvmeof0c1", "10.0.0.1"), controllerAt("nvmeof0c2", "::1"),
					    controllerAt("nvmeof0c3", "10.0.0.3")};
	std::vector<Path> paths{pathOf("nvmeof0c1", "nvmeof0n1", AnaState::optimized),
				pathOf("nvmeof0c2", "nvmeof0n1", AnaState::optimized),
				pathOf("nvmeof0c2", "nvmeof0n2", AnaState::inaccessible),
				pathOf("nvmeof0c3", "nvmeof0n1", AnaState::none)};
	CHECK(formatSubsystems({s}, controllers, paths) ==
	      "nvmeof0 - NQN=nqn.a\n"
	      "          hostnqn=nqn.h\n"
	      "          iopolicy=numa\n"
	      "\\\n"
	      " +- nvmeof0c1 tcp traddr=10.0.0.1,trsvcid=4420 live optimized\n"
	      " +- nvmeof0c2 tcp traddr=::1,trsvcid=4420 live nvmeof0n1=optimized nvmeof0n2=inaccessible\n"
	      " +- nvmeof0c3 tcp traddr=10.0.0.3,trsvcid=4420 live\n");
}

TEST_CASE("JSON has its schema version first and survives what is not UTF-8", "[format]")
{
	Controller c = controllerAt("nvmeof0c1", "10.0.0.1");
	c.serial = "bad\xff";
	c.lastStatus = 0x184;
	std::string text = dump(withSchema(Json{{"object", toJson(c)}}), -1);
	CHECK(text.starts_with("{\"schema_version\":1,"));
	Json parsed = Json::parse(text);
	CHECK(parsed["object"]["serial"] == "bad\xef\xbf\xbd");
	CHECK(parsed["object"]["last_error"]["nvme_status"] == 0x184);
	CHECK_FALSE(parsed["object"].contains("cntlid"));
	CHECK(parsed["object"]["state"] == "live");
}

TEST_CASE("an event as line and as JSON", "[format]")
{
	Event e;
	e.type = EventType::state;
	e.time = std::chrono::milliseconds(1500);
	e.object = controllerAt("nvmeof0c1", "10.0.0.1");
	e.oldState = ControllerState::connecting;
	CHECK(formatEvent(e) == "[      1.500000] nvmeof0c1 state connecting -> live tcp traddr=10.0.0.1,trsvcid=4420");
	std::string line = dump(withSchema(toJson(e)), -1);
	CHECK(line.find('\n') == line.npos);
	Json json = Json::parse(line);
	CHECK(json["kind"] == "controller");
	CHECK(json["old_state"] == "connecting");
	CHECK(json["object"]["name"] == "nvmeof0c1");
	Event lost;
	lost.type = EventType::lost;
	CHECK_FALSE(toJson(lost).contains("object"));
}

TEST_CASE("an error as JSON", "[format]")
{
	Error error = errorFromErrno(114, "already connected"); // EALREADY
	error.object = "nvmeof0c1";
	Json json = toJson(error);
	CHECK(json["code"] == "already_connected");
	CHECK(json["exit_code"] == 4);
	CHECK(json["object"] == "nvmeof0c1");
	CHECK_FALSE(json.contains("nvme_status"));
}
