// SPDX-License-Identifier: LGPL-2.1-or-later
// The C interface, used by a program in C (c_client.c).
#include <catch2/catch.hpp>

#include <nvmeof/nvmeof_c.h>

#include "c_client.h"
#include "ctl_stage.h"
#include "libctl/c_item.h"

namespace {

int goesLive(void *context)
{
	auto &stage = *static_cast<Stage *>(context);
	stage.disk("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
	stage.live("nvmeof0c1", 1);
	return 0;
}

struct Handle {
	nvmeof_client *client = nullptr;

	Handle() { REQUIRE(nvmeof_client_open(nullptr, &client, nullptr) == NVMEOF_OK); }
	~Handle() { nvmeof_client_free(client); }
};

} // namespace

TEST_CASE("a program in C connects, and disconnects", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_connect(handle.client, goesLive, &stage) == 0);
	CHECK(stage.removed.contains("nvmeof0c1"));
}

TEST_CASE("a program in C waits for a connect, and not for a disconnect", "[c]")
{
	Stage stage;
	Handle handle;
	stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [&](const Asked &asked) {
		auto object = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
		stage.kernel.controllers["nvmeof0c1"] = object;
		stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *object);
		stage.kernel.acknowledge(asked);
	});
	CHECK(c_at_once(handle.client) == 0);
	CHECK(stage.removed.contains("nvmeof0c1"));
}

TEST_CASE("an entry of a discovery log, for a program in C", "[c]")
{
	nvmeof::DiscoveryEntry entry;
	entry.kind = nvmeof::EntryKind::subsystem;
	entry.transport = "tcp";
	entry.traddr = "10.0.0.1";
	entry.subsysnqn = "nqn.test";
	entry.portId = 7;
	entry.defect = "none";
	auto item = nofctl::itemOf(entry);
	std::uint64_t number = 0;
	CHECK(nvmeof_item_kind(&item) == NVMEOF_DISCOVERY_ENTRY);
	CHECK(nvmeof_item_text(&item, "kind") == std::string("subsystem"));
	CHECK(nvmeof_item_text(&item, "transport") == std::string("tcp"));
	CHECK(nvmeof_item_text(&item, "traddr") == std::string("10.0.0.1"));
	CHECK(nvmeof_item_text(&item, "nqn") == std::string("nqn.test"));
	CHECK(nvmeof_item_text(&item, "defect") == std::string("none"));
	CHECK((nvmeof_item_number(&item, "port_id", &number) == 0 && number == 7));
}

TEST_CASE("a program in C has a controller scanned and reset", "[c]")
{
	Stage stage;
	Handle handle;
	goesLive(&stage);
	stage.kernel.on(NVMEOF_CMD_CTRL_RESCAN, [&](const Asked &asked) {
		bool there = stage.kernel.controllers.contains(asked.text(NVMEOF_A_CTRL_NAME));
		stage.kernel.fail(asked, there ? 0 : ENODEV);
	});
	stage.kernel.on(NVMEOF_CMD_CTRL_RESET, [&](const Asked &asked) {
		std::string name = asked.text(NVMEOF_A_CTRL_NAME);
		if (!stage.kernel.controllers.contains(name))
			return stage.kernel.fail(asked, ENODEV);
		stage.kernel.controllers[name] = controllerOf(name.c_str(), NVMEOF_CTRL_CONNECTING);
		stage.kernel.acknowledge(asked);
	});
	CHECK(c_again(handle.client, goesLive, &stage) == 0);
	CHECK(stage.kernel.count(NVMEOF_CMD_CTRL_RESCAN) == 3);
	CHECK(stage.removed.empty());
}

TEST_CASE("a program in C asks a discovery service, which is left behind by nothing", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_discover(handle.client) == 0);
	CHECK(stage.made == 2);
	CHECK(stage.kernel.controllers.empty());
}

TEST_CASE("a program in C lists, and gets events and errors", "[c]")
{
	Stage stage;
	Handle handle;
	CHECK(c_errors(handle.client) == 0);
	goesLive(&stage);
	CHECK(c_list(handle.client) == 0);
	CHECK(c_events(
		      [](void *context) {
			      static_cast<Stage *>(context)->live("nvmeof0c1", 1);
			      return 0;
		      },
		      &stage) == 0);
}

TEST_CASE("a C program that lets go of a connect has it undone", "[c]")
{
	Stage stage;
	Handle handle;
	nvmeof_options *options = nvmeof_options_new();
	for (auto [name, value] :
	     {std::pair("traddr", "10.0.0.1"), std::pair("nqn", "nqn.test"), std::pair("hostnqn", "nqn.host"),
	      std::pair("hostid", "12345678-9abc-4def-8123-456789abcdef")})
		REQUIRE(nvmeof_options_set(options, name, value, nullptr) == NVMEOF_OK);
	nvmeof_pending_free(nvmeof_start_connect(handle.client, options, NVMEOF_WAIT_CONTROLLER, -1));
	nvmeof_options_free(options);
	CHECK(stage.removed.contains("nvmeof0c1"));
}
