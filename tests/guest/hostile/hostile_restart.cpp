// SPDX-License-Identifier: LGPL-2.1-or-later
// Targets that restart, drop connections, or come back with other properties.
#include "hostile_stage.h"
#include "support/fio.h"

#include <thread>

namespace guest::hostile_restart {

using nvmeof::ControllerState;
using target::acts::always;
using target::acts::poke;

TEST_CASE("load survives a target that restarts on the same port", "[hostile][restart][trap24]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	for (int i = 0; i < 2; i++) {
		std::this_thread::sleep_for(1s);
		stage.server.stop();
		CHECK(stage.host.waitState(c.name, ControllerState::connecting));
		stage.server.start();
		CHECK(stage.live(c.name));
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("load survives connections that the target resets", "[hostile][restart]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .blocks = "64k", .size = "4m", .seconds = 6});
	while (load.running()) {
		std::this_thread::sleep_for(400ms);
		stage.server.dropConnections(true);
		stage.live(c.name);
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("fewer queues after a reconnect", "[hostile][queues][trap23]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	REQUIRE(c.ioQueues == 2);
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	for (std::uint16_t queues : {1, 2, 1}) {
		std::this_thread::sleep_for(1s);
		stage.server.setMaxIoQueues(queues);
		stage.server.dropConnections();
		CHECK(eventually([&] {
			auto now = stage.host.controller(c.name);
			return now.state == ControllerState::live && now.ioQueues == queues;
		}));
	}
	auto result = load.wait(40s);
	INFO(result.text);
	CHECK(result.good());
}

TEST_CASE("a controller that comes back as one of another type is refused", "[hostile][restart][trap21]")
{
	static const auto discovery = always(target::Hook::adminData, [](target::Strike &s) {
		return poke<std::uint8_t>(s.identify(target::cns_ctrl), s, target::at::cntrltype, 2);
	});
	Stage stage;
	auto &script = stage.server.script();
	auto c = stage.host.connect(stage.options());
	FioLoad load({.file = stage.disk(), .size = "4m", .seconds = 6});
	std::this_thread::sleep_for(1s);
	script.arm(discovery, target::Script::forever);
	stage.server.dropConnections();
	REQUIRE(script.waitStrikes(2, scaled(5s)));
	auto now = stage.host.controller(c.name);
	CHECK(now.state == ControllerState::connecting);
	CHECK(now.lastError.find("type has changed") != std::string::npos);
	SECTION("accepted again with its original type")
	{
		script.disarm();
		CHECK(stage.live(c.name));
		auto result = load.wait(40s);
		INFO(result.text);
		CHECK(result.good());
	}
	SECTION("disconnect removes it")
	{
		CHECK(run("timeout 20 nvmeofctl disconnect --all --force").status == 0);
		load.stop();
	}
}

TEST_CASE("reset and rescan are refused while a controller reconnects", "[hostile][restart]")
{
	Stage stage;
	auto c = stage.host.connect(stage.options());
	stage.server.stop();
	REQUIRE(stage.host.waitState(c.name, ControllerState::connecting));
	for (auto *verb : {"reset", "rescan"}) {
		auto out = run("nvmeofctl " + std::string(verb) + " -d " + c.name);
		INFO(verb << ": " << out.text);
		CHECK(out.status != 0);
		CHECK(out.text.find("the controller is not live") != std::string::npos);
	}
	stage.server.start();
	CHECK(stage.live(c.name));
	CHECK(run("nvmeofctl rescan -d " + c.name).status == 0);
}

} // namespace guest::hostile_restart
