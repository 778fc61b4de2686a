// SPDX-License-Identifier: LGPL-2.1-or-later
// Commands that are executed, with a scripted kernel: what they print, and their exit codes.
#include <catch2/catch.hpp>

#include <cerrno>
#include <sstream>

#include "connect_all.h"
#include "context.h"
#include "tests/unit/scratch.h"
#include "stage.h"
#include "parse.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

struct Executed {
	int code;
	std::string out, err;
};

// Runs the command that @words name.
Executed executed(const std::vector<std::string> &words)
{
	CommandLine line = parseCommandLine(words);
	INFO(line.text);
	REQUIRE(line.command);
	std::ostringstream out, err;
	Context context(*line.command, line.args, out, err);
	const int code = line.command->run(context);
	return {code, out.str(), err.str()};
}

} // namespace

TEST_CASE("shutdown --json prints one document, with the errors", "[shutdown]")
{
	FakeKernel kernel;
	for (const char *name : {"nvmeof0c1", "nvmeof0c2", "nvmeof0c3"}) {
		kernel.controllers[name] = controllerOf(name, NVMEOF_CTRL_LIVE);
		kernel.controllers[name]->s32(NVMEOF_A_FAST_IO_FAIL_TMO, 600000);
	}
	kernel.on(NVMEOF_CMD_CTRL_SET, [&](const Asked &asked) {
		const std::string name = asked.text(NVMEOF_A_CTRL_NAME);
		if (name == "nvmeof0c1")
			return kernel.acknowledge(asked);
		kernel.fail(asked, name == "nvmeof0c2" ? EPERM : ENODEV, "not set"); // the third was removed meanwhile
	});
	const Executed done = executed({"shutdown", "--limit", "5", "--json"});
	CHECK(done.code == 7);
	CHECK(done.err.find("shutdown nvmeof0c2: not set") != std::string::npos);
	const Json document = Json::parse(done.out, nullptr, false);
	REQUIRE(document.is_object());
	CHECK(document["limit_ms"] == 5000);
	CHECK(document["set"] == Json::array({"nvmeof0c1"}));
	REQUIRE(document["errors"].size() == 1);
	CHECK(document["errors"][0]["object"] == "nvmeof0c2");
	CHECK(document["errors"][0]["exit_code"] == 7);
}

TEST_CASE("shutdown succeeds without the module, with --json by a document", "[shutdown]")
{
	FakeKernel kernel;
	kernel.on(NVMEOF_CMD_VERSION_GET, [&](const Asked &asked) { kernel.fail(asked, ENOENT); });
	Executed done = executed({"shutdown"});
	CHECK(done.code == 0);
	CHECK(done.out == "the kernel module nvmeof is not loaded: no I/O waits\n");
	done = executed({"shutdown", "--json"});
	CHECK(done.code == 0);
	const Json document = Json::parse(done.out, nullptr, false);
	REQUIRE(document.is_object());
	CHECK(document["limit_ms"] == 15000);
	CHECK(document["set"].empty());
	CHECK(document["errors"].empty());
}

TEST_CASE("events takes the name of a device node", "[events]")
{
	Scratch dir;
	dir.write("events", "{\"time\":\"2025-11-27T05:14:10.000Z\",\"event\":\"added\",\"name\":\"nvmeof0n1\"}\n"
			    "{\"time\":\"2025-11-27T05:14:11.000Z\",\"event\":\"added\",\"name\":\"nvmeof0n2\"}\n");
	const Executed done =
		executed({"events", "/dev/nvmeof0n1", "--json", "--file", (dir.path() / "events").string()});
	CHECK(done.code == 0);
	const Json document = Json::parse(done.out);
	REQUIRE(document["events"].size() == 1);
	CHECK(document["events"][0]["name"] == "nvmeof0n1");
}

TEST_CASE("reservation says in JSON, too, that a namespace offers none", "[reservation]")
{
	FakeKernel kernel;
	kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
	kernel.namespaces["nvmeof0n1"] = namespaceOf("nvmeof0n1", 1);
	const Executed done = executed({"reservation", "/dev/nvmeof0n1", "--json"});
	CHECK(done.code == 1);
	const Json error = Json::parse(done.out)["error"];
	CHECK(error["message"] == "the namespace does not support reservations");
	CHECK(error["object"] == "nvmeof0n1");
	CHECK(error["errno"] == EOPNOTSUPP);
}

TEST_CASE("the progress of connect-all counts a path that another process has connected", "[connectall]")
{
	Stage stage;
	stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [&](const Asked &asked) {
		stage.kernel.controllers["nvmeof0c9"] = controllerOf("nvmeof0c9", NVMEOF_CTRL_LIVE);
		Payload there;
		there.text(NVMEOF_A_CTRL_NAME, "nvmeof0c9");
		stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, there);
		stage.kernel.fail(asked, EALREADY, "already connected as nvmeof0c9");
	});
	Client client = stage.open();
	ConnectOptions path;
	path.address = {"10.0.0.1", "4420"};
	path.subsysnqn = "nqn.test";
	path.hostnqn = "nqn.host";
	path.hostid = Uuid::random();
	ConnectAllOptions order;
	order.fixed = {path};
	order.force = true; // does not look for the in-tree driver on this machine
	order.wait.timeout = 10s;
	ConnectAll all(client, order);
	REQUIRE(all.run() == 0);
	REQUIRE(all.paths().size() == 1);
	CHECK(all.paths()[0].there);
	CHECK(all.progress() == "0 of 0 services read, 1 of 1 paths connected");
}
