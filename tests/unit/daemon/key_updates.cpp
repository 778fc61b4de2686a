// SPDX-License-Identifier: LGPL-2.1-or-later
// Changed keys of the configuration, and the controllers that get them
#include "key_updates.h"

#include <catch2/catch.hpp>

#include <cerrno>
#include <filesystem>

#include "connections.h"
#include "tests/unit/scratch.h"

using namespace nvmeof;
using namespace nvmeofd;

namespace {

using Answer = nvmeof::detail::PendingState<Result<void>>;
using Names = std::vector<std::string>;

// Controllers of a plan whose connections have a key each, and a kernel that answers when the test says so
struct Fleet {
	struct Asked {
		std::string controller;
		ControllerSettings settings;
		std::shared_ptr<Answer> answer = std::make_shared<Answer>();
	};

	Scratch files;
	std::vector<PlannedConnection> planned;
	std::vector<Controller> present;
	std::vector<Asked> asked;
	std::optional<Error> atOnce; // the answer of each request that comes
	KeyUpdates updates{[this](const std::string &controller, const ControllerSettings &settings) {
		asked.push_back({controller, settings});
		if (atOnce)
			asked.back().answer->value = *atOnce;
		return Pending<Result<void>>(asked.back().answer);
	}};

	std::string file(int n) const { return files.path() / ("key" + std::to_string(n)); }
	// As an operator does it, by a new file
	void replace(int n, const std::string &text) const
	{
		files.write("new", text);
		std::filesystem::rename(files.path() / "new", file(n));
	}
	void add()
	{
		const int n = static_cast<int>(present.size());
		replace(n, "first");
		ConnectOptions options;
		options.transport = "tcp";
		options.address = {"10.0.0." + std::to_string(n + 1), "4420"};
		options.subsysnqn = "nqn.a";
		options.dhchapKey = file(n);
		Controller controller;
		controller.name = "nvmeof0c" + std::to_string(n + 1);
		controller.transport = "tcp";
		controller.traddr = options.address.traddr;
		controller.trsvcid = options.address.trsvcid;
		controller.subsysnqn = options.subsysnqn;
		controller.owner = nvmeofd::owner;
		controller.state = ControllerState::live;
		planned.push_back({options, {}});
		present.push_back(controller);
		updates.created(controller.name, KeyUpdates::versionOf(options));
	}
	Names update() { return updates.update(planned, present); }
	static void answer(const Asked &to, Result<void> result = {})
	{
		to.answer->value = std::move(result);
		if (auto notify = std::exchange(to.answer->notify, nullptr))
			notify();
	}
};

Error refused()
{
	return errorFromErrno(EKEYREJECTED, "refused");
}

} // namespace

TEST_CASE("controllers get changed keys, one after the other", "[daemon][keys]")
{
	Fleet fleet;
	for (int i = 0; i < 3; i++)
		fleet.add();
	CHECK(fleet.update().empty());
	CHECK(fleet.asked.empty());
	fleet.replace(0, "second");
	fleet.replace(2, "second");
	CHECK(fleet.update() == Names{"nvmeof0c1", "nvmeof0c3"});
	REQUIRE(fleet.asked.size() == 1);
	CHECK(fleet.asked[0].controller == "nvmeof0c1");
	CHECK(fleet.asked[0].settings.dhchapKey == fleet.file(0));
	CHECK_FALSE(fleet.asked[0].settings.dhchapCtrlKey);
	Fleet::answer(fleet.asked[0]);
	REQUIRE(fleet.asked.size() == 2);
	CHECK(fleet.asked[1].controller == "nvmeof0c3");
	Fleet::answer(fleet.asked[1]);
	CHECK(fleet.update().empty());
	// another path, the same controller
	fleet.planned[1].options.dhchapKey = fleet.file(0);
	CHECK(fleet.update() == Names{"nvmeof0c2"});
	Fleet::answer(fleet.asked.back());
	fleet.planned[1].options.dhchapCtrlKey = fleet.file(2);
	CHECK(fleet.update() == Names{"nvmeof0c2"});
	CHECK(fleet.asked.back().settings.dhchapCtrlKey == fleet.file(2));
	Fleet::answer(fleet.asked.back());
	// without a key in the configuration, there is none to pass on
	fleet.planned[1].options.dhchapKey.clear();
	fleet.planned[1].options.dhchapCtrlKey.clear();
	CHECK(fleet.update().empty());
}

TEST_CASE("keys that were refused are passed on again by the next update", "[daemon][keys]")
{
	Fleet fleet;
	fleet.add();
	fleet.add();
	fleet.replace(0, "second");
	fleet.replace(1, "second");
	REQUIRE(fleet.update().size() == 2);
	Fleet::answer(fleet.asked[0], refused());
	REQUIRE(fleet.asked.size() == 2); // the refusal is no reason to leave out the others
	Fleet::answer(fleet.asked[1]);
	CHECK(fleet.update() == Names{"nvmeof0c1"});
	Fleet::answer(fleet.asked[2]);
	CHECK(fleet.update().empty());
	// answers that are there at once, of many controllers that are gone, need no deep stack
	for (int i = 0; i < 3000; i++) {
		fleet.present.push_back(fleet.present[0]);
		fleet.present.back().name = "nvmeof0c" + std::to_string(100 + i);
	}
	fleet.atOnce = errorFromErrno(ENODEV);
	CHECK(fleet.update().size() == 3000);
	CHECK(fleet.asked.size() == 3003);
}

TEST_CASE("controllers of unknown version get the keys, those of others only if they have some", "[daemon][keys]")
{
	Fleet fleet;
	for (int i = 0; i < 4; i++)
		fleet.add();
	fleet.updates.removed("nvmeof0c1"); // as after a restart of the daemon
	for (int i : {1, 2}) {
		fleet.updates.removed(fleet.present[static_cast<std::size_t>(i)].name);
		fleet.present[static_cast<std::size_t>(i)].owner.clear();
	}
	fleet.present[2].authentication.emplace();
	fleet.replace(3, "second");
	fleet.present[3].state = ControllerState::deleting;
	CHECK(fleet.update() == Names{"nvmeof0c1", "nvmeof0c3"});
	// a newer update replaces what is left of an earlier one, and asks only once for the same
	fleet.present.resize(2);
	CHECK(fleet.update() == Names{"nvmeof0c1"});
	Fleet::answer(fleet.asked[0]);
	CHECK(fleet.asked.size() == 1);
	CHECK(fleet.update().empty());
}
