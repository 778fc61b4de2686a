// SPDX-License-Identifier: LGPL-2.1-or-later
// The controllers that an interrupted connect removes, and those that it keeps.
#include <catch2/catch.hpp>

#include <sstream>

#include "stage.h"
#include "command.h"
#include "context.h"
#include "connect_plan.h"

using namespace nvmeof;
using namespace std::chrono_literals;

TEST_CASE("an interrupted connect removes only the controllers that it created", "[undo]")
{
	Stage stage;
	Client client = stage.open();
	ConnectOptions option;
	option.address = {"10.0.0.1", ""};
	option.subsysnqn = "nqn.test";
	option.hostnqn = "nqn.host";
	option.hostid = Uuid::random();
	option.idempotent = true;
	std::vector<ConnectOptions> wanted(3, option);
	// Of the three, one belongs to another process, one becomes live, and one does not. A fourth appears meanwhile.
	stage.kernel.controllers["nvmeof0c9"] = controllerOf("nvmeof0c9", NVMEOF_CTRL_CONNECTING);
	auto create = [&](const Asked &asked) {
		if (!stage.made++) {
			Payload there;
			there.text(NVMEOF_A_CTRL_NAME, "nvmeof0c9");
			stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, there);
			return stage.kernel.fail(asked, EALREADY, "already connected as nvmeof0c9");
		}
		std::string name = "nvmeof0c" + std::to_string(stage.made);
		auto object = controllerOf(name.c_str(), NVMEOF_CTRL_CONNECTING);
		stage.kernel.controllers[name] = object;
		stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *object);
		stage.kernel.acknowledge(asked);
	};
	stage.kernel.on(NVMEOF_CMD_CTRL_NEW, create);
	auto results = client.connectAll(wanted, WaitFor::controller, 20ms);
	REQUIRE(results.size() == 3);
	stage.live("nvmeof0c2", 1);
	stage.kernel.controllers["nvmeof0c4"] = controllerOf("nvmeof0c4", NVMEOF_CTRL_CONNECTING);

	std::ostringstream out, err;
	Context context(*findCommand("connect"), Args(), out, err);
	undo(context, client, wanted, results);
	INFO(err.str());
	CHECK(stage.removed == std::set<std::string>{"nvmeof0c3"});
	CHECK(err.str().find("nvmeof0c2: warning: connected before the interruption; kept") != std::string::npos);
	CHECK(err.str().find("nvmeof0c3: warning: was connecting; removed") != std::string::npos);
	CHECK(err.str().find("nvmeof0c9") == std::string::npos);
}
