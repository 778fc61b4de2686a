// SPDX-License-Identifier: LGPL-2.1-or-later
// Operations of a Client and their completion, with a scripted kernel.
#include <catch2/catch.hpp>

#include <poll.h>

#include <nvmeof/client.h>

#include "stage.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

ConnectOptions options()
{
	ConnectOptions asked;
	asked.address = {"10.0.0.1", "4420"};
	asked.subsysnqn = "nqn.test";
	asked.hostnqn = "nqn.host";
	asked.hostid = Uuid::random();
	return asked;
}

// Processes everything that is pending now.
void settle(Client &client)
{
	pollfd poll{client.fd(), POLLIN, 0};
	for (int i = 0; i < 100 && ::poll(&poll, 1, 0) == 1; i++)
		client.dispatch();
}

} // namespace

TEST_CASE("a connect completes when the kernel reports that the namespaces are scanned", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto pending = client.startConnect(options());
	bool told = false;
	pending.then([&] { told = true; });
	settle(client);
	CHECK_FALSE(pending.ready());
	stage.live("nvmeof0c1", 0);
	settle(client);
	CHECK_FALSE(pending.ready());
	stage.disk("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
	stage.live("nvmeof0c1", 1);
	settle(client);
	REQUIRE(pending.ready());
	CHECK(told);
	Result<Connection> done = pending.take();
	REQUIRE(done);
	CHECK(done->name == "nvmeof0c1");
	CHECK(done->disks == std::vector<std::string>{"nvmeof0n1"});
	CHECK(stage.kernel.count(NVMEOF_CMD_CTRL_RESCAN) == 0);
}

TEST_CASE("a module that does not report scans gets a rescan request", "[client]")
{
	Stage stage;
	Client client = stage.open();
	std::optional<Asked> asked;
	stage.kernel.on(NVMEOF_CMD_CTRL_RESCAN, [&](const Asked &now) { asked = now; });
	auto pending = client.startConnect(options());
	auto object = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
	stage.kernel.controllers["nvmeof0c1"] = object;
	stage.kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_STATE, *controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE));
	settle(client);
	REQUIRE(asked);
	CHECK_FALSE(pending.ready());
	stage.kernel.acknowledge(*asked);
	settle(client);
	REQUIRE(pending.ready());
	CHECK(pending.take());
}

TEST_CASE("a failed connect has the reason", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto [number, code] = GENERATE(table<int, ErrorCode>({{ECONNREFUSED, ErrorCode::connectionRefused},
							      {EHOSTUNREACH, ErrorCode::unreachable},
							      {ECONNRESET, ErrorCode::connectionReset}}));
	auto pending = client.startConnect(options());
	stage.failed("nvmeof0c1", static_cast<std::uint32_t>(number));
	settle(client);
	REQUIRE(pending.ready());
	Result<Connection> done = pending.take();
	REQUIRE_FALSE(done);
	CHECK(done.error().code == code);
	CHECK_FALSE(done.error().left);
}

TEST_CASE("a connect that times out leaves its controller", "[client]")
{
	Stage stage;
	Client client = stage.open();
	Result<Connection> late = client.connect(options(), WaitFor::namespaces, 20ms);
	REQUIRE_FALSE(late);
	CHECK(late.error().code == ErrorCode::timedOut);
	CHECK(late.error().left == ControllerState::connecting);
	CHECK(late.error().object == ErrorObject{ErrorObject::Kind::controller, "nvmeof0c1"});
	CHECK(stage.removed.empty());
}

TEST_CASE("a cancelled connect leaves no controller behind", "[client]")
{
	Stage stage;
	{
		Client client = stage.open();
		auto first = client.startConnect(options()), second = client.startConnect(options());
		stage.live("nvmeof0c2", 1);
		settle(client);
		REQUIRE(second.ready());
		first.cancel();
		CHECK_FALSE(first.valid());
		CHECK(stage.removed == std::set<std::string>{"nvmeof0c1"});
		auto third = client.startConnect(options());
		third = {}; // dropping the handle cancels
		CHECK(stage.removed.contains("nvmeof0c3"));
		auto fourth = client.startConnect(options());
		client = stage.open(); // so does dropping the Client
		CHECK(stage.removed.contains("nvmeof0c4"));
		CHECK_FALSE(fourth.ready());
	}
	CHECK(stage.kernel.controllers.size() == 1);
}

TEST_CASE("of several connects, one suffices if the caller requires any", "[client]")
{
	Stage stage;
	Client client = stage.open();
	WaitOptions wait;
	wait.timeout = 60s;
	wait.require = GENERATE(Require::any, Require::all);
	std::vector<ConnectOptions> both(2, options());
	auto pending = client.startConnectAll(both, wait);
	stage.live("nvmeof0c2", 1);
	settle(client);
	CHECK_FALSE(pending.ready()); // the other one may complete at about the same time
	auto end = std::chrono::steady_clock::now() + (wait.require == Require::any ? 10s : 1s);
	while (!pending.ready() && std::chrono::steady_clock::now() < end) {
		pollfd poll{client.fd(), POLLIN, 0};
		::poll(&poll, 1, 10);
		client.dispatch();
	}
	REQUIRE(pending.ready() == (wait.require == Require::any));
	if (!pending.ready())
		return;
	auto results = pending.take();
	REQUIRE(results.size() == 2);
	CHECK((results[1] && results[1]->made));
	REQUIRE_FALSE(results[0]);
	CHECK(results[0].error().code == ErrorCode::timedOut);
	CHECK(results[0].error().sysErrno == EINPROGRESS);
	CHECK(results[0].error().left == ControllerState::connecting);
	CHECK(results[0].error().made);
	CHECK(stage.removed.empty()); // the kernel keeps trying
}

TEST_CASE("a request waits no longer for the kernel than its time limit", "[client]")
{
	Stage stage;
	Result<Client> client = Client::open({{}, 20ms});
	REQUIRE(client);
	stage.kernel.on(NVMEOF_CMD_CTRL_GET, [](const Asked &) {});
	auto begin = std::chrono::steady_clock::now();
	Result<std::vector<Controller>> all = client->controllers();
	REQUIRE_FALSE(all);
	CHECK(all.error().code == ErrorCode::timedOut);
	CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("lost events are made up for by reading the state", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto live = client.startConnect(options()), gone = client.startConnect(options());
	auto object = controllerOf("nvmeof0c1", NVMEOF_CTRL_LIVE);
	object->u32(NVMEOF_A_SCANS, 1);
	stage.kernel.controllers["nvmeof0c1"] = object;
	stage.kernel.controllers.erase("nvmeof0c2");
	stage.kernel.tell(ENOBUFS);
	settle(client);
	REQUIRE((live.ready() && gone.ready()));
	CHECK(live.take());
	CHECK_FALSE(gone.take());
}

TEST_CASE("a connect can wait for a namespace by its NSID", "[client]")
{
	Stage stage;
	Client client = stage.open();
	WaitOptions wait;
	wait.nsid = 7;
	auto pending = client.startConnect(options(), wait);
	stage.disk("nvmeof0c1n1", "nvmeof0c1", "nvmeof0n1", 1);
	stage.live("nvmeof0c1", 1);
	settle(client);
	CHECK_FALSE(pending.ready());
	stage.disk("nvmeof0c1n2", "nvmeof0c1", "nvmeof0n2", 7);
	settle(client);
	REQUIRE(pending.ready());
	CHECK(pending.take()->disks.size() == 2);
}

TEST_CASE("a connect waits again if the connection is lost before its completion", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto pending = client.startConnect(options());
	stage.live("nvmeof0c1", 0);
	settle(client);
	stage.kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_STATE, *controllerOf("nvmeof0c1", NVMEOF_CTRL_CONNECTING));
	settle(client);
	CHECK_FALSE(pending.ready());
	stage.live("nvmeof0c1", 1);
	settle(client);
	CHECK(pending.ready());
}

TEST_CASE("the removal of an earlier controller of the same name does not hide that this one is live", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto pending = client.startConnect(options());
	stage.kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_REMOVED, *controllerOf("nvmeof0c1", NVMEOF_CTRL_DELETING));
	stage.live("nvmeof0c1", 1); // in one batch with the removal
	settle(client);
	CHECK(pending.ready());
}

TEST_CASE("deletions run in parallel, and the result has successes and failures", "[client]")
{
	Stage stage;
	Client client = stage.open();
	std::vector<Asked> asked;
	for (const char *name : {"nvmeof0c1", "nvmeof0c2", "nvmeof0c3"})
		stage.kernel.controllers[name] = controllerOf(name, NVMEOF_CTRL_LIVE);
	stage.kernel.on(NVMEOF_CMD_CTRL_DEL, [&](const Asked &now) { asked.push_back(now); });
	auto pending = client.startDisconnectAll();
	REQUIRE(asked.size() == 3);
	stage.kernel.acknowledge(asked[2]);
	stage.kernel.fail(asked[0], ENODEV); // already gone, which counts as removed
	settle(client);
	CHECK_FALSE(pending.ready());
	CHECK(client.controllers()->size() == 3); // other requests work meanwhile
	stage.kernel.fail(asked[1], EIO, "no");
	settle(client);
	REQUIRE(pending.ready());
	Result<Removal> removal = pending.take();
	REQUIRE(removal);
	CHECK(removal->removed == std::vector<std::string>{"nvmeof0c1", "nvmeof0c3"});
	REQUIRE(removal->failures.size() == 1);
	CHECK(removal->failures[0].object.name == "nvmeof0c2");
	CHECK_FALSE(removal->outcome());
}

TEST_CASE("a deletion is retried while the controller is being created", "[client]")
{
	Stage stage;
	Client client = stage.open();
	int tries = 0;
	stage.kernel.on(NVMEOF_CMD_CTRL_DEL,
			[&](const Asked &asked) { stage.kernel.fail(asked, ++tries < 3 ? EAGAIN : 0); });
	CHECK(client.disconnect("nvmeof0c1"));
	CHECK(tries == 3);
	stage.kernel.on(NVMEOF_CMD_CTRL_DEL, [&](const Asked &asked) { stage.kernel.fail(asked, ENODEV); });
	CHECK(client.disconnect("nvmeof0c1").error().code == ErrorCode::noSuchObject);
}

TEST_CASE("a rescan completes when it is done, and fails at once for a name that is not a controller", "[client]")
{
	Stage stage;
	Client client = stage.open();
	std::optional<Asked> asked;
	stage.kernel.on(NVMEOF_CMD_CTRL_RESCAN, [&](const Asked &now) { asked = now; });
	auto pending = client.startRescan("nvmeof0c1");
	settle(client);
	REQUIRE(asked);
	CHECK_FALSE(pending.ready());
	stage.kernel.fail(*asked, ENOMEM);
	settle(client);
	REQUIRE(pending.ready());
	CHECK(pending.take().error().sysErrno == ENOMEM);
	auto none = client.startRescan("nvmeof0n1");
	REQUIRE(none.ready());
	CHECK(none.take().error().code == ErrorCode::noSuchObject);
}

TEST_CASE("a set of keys completes when the controller has answered, and has the reason of a refusal", "[client]")
{
	Stage stage;
	Client client = stage.open();
	std::optional<Asked> asked;
	stage.kernel.on(NVMEOF_CMD_CTRL_SET, [&](const Asked &now) { asked = now; });
	ControllerSettings settings;
	settings.owner = "somebody"; // a key needs the kernel's keyring
	auto pending = client.startSet("nvmeof0c1", settings);
	settle(client);
	REQUIRE(asked);
	CHECK(asked->text(NVMEOF_A_OWNER) == "somebody");
	CHECK_FALSE(pending.ready());
	stage.kernel.fail(*asked, EKEYREJECTED, "the controller refused it; the previous keys stay in use");
	settle(client);
	REQUIRE(pending.ready());
	const Result<void> done = pending.take();
	REQUIRE_FALSE(done);
	CHECK(done.error().code == ErrorCode::authentication);
	CHECK(done.error().message.find("previous keys stay in use") != std::string::npos);
	settings.dhchapKey = "/nonexistent/host.key";
	auto missing = client.startSet("nvmeof0c1", settings);
	REQUIRE(missing.ready());
	CHECK(missing.take().error().object == ErrorObject{ErrorObject::Kind::file, "/nonexistent/host.key"});
	CHECK(stage.kernel.count(NVMEOF_CMD_CTRL_SET) == 1);
	auto none = client.startSet("nvmeof0n1", settings);
	REQUIRE(none.ready());
	CHECK(none.take().error().code == ErrorCode::noSuchObject);
}

TEST_CASE("names are resolved outside the loop", "[client]")
{
	Stage stage;
	Client client = stage.open();
	auto pending = client.startResolve("localhost");
	for (int i = 0; i < 1000 && !pending.ready(); i++) {
		pollfd poll{client.fd(), POLLIN, 0};
		::poll(&poll, 1, 10);
		client.dispatch();
	}
	REQUIRE(pending.ready());
	CHECK(pending.take());
}
