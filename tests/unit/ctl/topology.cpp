// SPDX-License-Identifier: LGPL-2.1-or-later
// A Topology, with a kernel that changes, loses events, and answers on request.
#include <catch2/catch.hpp>

#include <algorithm>

#include <poll.h>

#include <nvmeof/topology.h>

#include "kernel.h"

using namespace nvmeof;
using namespace std::chrono_literals;

namespace {

bool readable(const Topology &topology)
{
	pollfd poll{topology.fd(), POLLIN, 0};
	return ::poll(&poll, 1, 0) == 1;
}

// Processes everything that is pending, and returns the names of the events.
std::string follow(Topology &topology)
{
	std::string all;
	while (readable(topology)) {
		auto told = topology.dispatch();
		if (!told)
			return all + "!";
		for (const TopologyEvent &one : *told)
			all += std::string(all.empty() ? "" : " ") + toString(one.event.type) + ":" + one.event.name();
	}
	return all;
}

std::shared_ptr<Payload> livePath(const char *name, const char *controller, std::uint64_t ios)
{
	auto p = pathOf(name, controller, "nvmeof0n1", 1);
	p->u32(NVMEOF_A_CTRL_STATE, NVMEOF_CTRL_LIVE).u8(NVMEOF_A_USABLE, 1).u64(NVMEOF_A_IOS, ios);
	return p;
}

// A kernel with one namespace over two controllers
struct TopologyFixture {
	FakeKernel kernel;

	TopologyFixture()
	{
		kernel.subsystems["nvmeof0"] = subsystemOf("nvmeof0");
		for (const char *name : {"nvmeof0c1", "nvmeof0c2"})
			kernel.controllers[name] = controllerOf(name, NVMEOF_CTRL_LIVE);
		kernel.namespaces["nvmeof0n1"] = namespaceOf("nvmeof0n1", 1);
		count("nvmeof0c1n1", "nvmeof0c1", 100);
		count("nvmeof0c2n1", "nvmeof0c2", 200);
	}

	Topology open()
	{
		Topology topology = *Topology::open();
		follow(topology);
		REQUIRE(topology.synced());
		return topology;
	}
	void count(const char *path, const char *controller, std::uint64_t ios)
	{
		kernel.paths[path] = livePath(path, controller, ios);
	}
	void tellState(const char *controller, nvmeof_ctrl_state state)
	{
		kernel.controllers[controller] = controllerOf(controller, state);
		kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_STATE, *controllerOf(controller, state));
	}
	void tellPath(nvmeof_event type, const char *name, const char *controller)
	{
		kernel.event(NVMEOF_CMD_PATH_NTF, type, *livePath(name, controller, 0));
	}
	void tellAna(nvmeof_ana_state state, std::uint64_t since)
	{
		auto path = livePath("nvmeof0c1n1", "nvmeof0c1", 0);
		path->u32(NVMEOF_A_ANA_STATE, state).u64(NVMEOF_A_ANA_SINCE, since);
		kernel.event(NVMEOF_CMD_PATH_NTF, NVMEOF_EVENT_STATE, *path);
	}
};

const Path &pathIn(const Topology &topology, const char *name)
{
	auto found = std::ranges::find(topology.snapshot().paths, name, &Path::name);
	REQUIRE(found != topology.snapshot().paths.end());
	return *found;
}

} // namespace

TEST_CASE("a topology begins with the present objects, and does not block for them", "[topology]")
{
	TopologyFixture plant;
	std::optional<Asked> asked;
	plant.kernel.on(NVMEOF_CMD_CTRL_GET, [&](const Asked &now) { asked = now; });
	auto topology = Topology::open();
	REQUIRE(topology);
	CHECK(follow(*topology) == "present:nvmeof0");
	CHECK_FALSE(topology->synced());
	CHECK(topology->snapshot().subsystems.empty()); // an incomplete list is not visible
	plant.kernel.data(*asked, NVMEOF_CMD_CTRL_GET, *plant.kernel.controllers["nvmeof0c1"], NLM_F_MULTI);
	plant.kernel.done(*asked);
	CHECK(follow(*topology) ==
	      "present:nvmeof0c1 present:nvmeof0n1 present:nvmeof0c1n1 present:nvmeof0c2n1 synced:");
	CHECK(topology->synced());
	const Snapshot &all = topology->snapshot();
	CHECK(all.time > 0ns);
	CHECK(all.subsystems.at(0).controllers == 1);
	CHECK(all.subsystems.at(0).namespaces == 1);
	CHECK(all.controllers.at(0).paths == 1);
	CHECK(all.namespaces.at(0).paths == 2);
	CHECK(all.namespaces.at(0).usablePaths == 2);
	CHECK(all.paths.size() == 2);
}

TEST_CASE("events update the snapshot without requests to the kernel", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	std::size_t asked = plant.kernel.asked().size();
	plant.tellState("nvmeof0c1", NVMEOF_CTRL_RECOVERING);
	CHECK(follow(topology) == "state:nvmeof0c1");
	CHECK(topology.snapshot().controller("nvmeof0c1")->state == ControllerState::recovering);
	CHECK(pathIn(topology, "nvmeof0c1n1").controllerState == ControllerState::recovering);
	CHECK_FALSE(pathIn(topology, "nvmeof0c1n1").usable);
	CHECK(pathIn(topology, "nvmeof0c2n1").usable);
	CHECK(topology.snapshot().namespaces[0].usablePaths == 1);
	CHECK(topology.snapshot().namespaces[0].livePaths == 1);

	plant.tellPath(NVMEOF_EVENT_ADDED, "nvmeof0c3n1", "nvmeof0c3");
	CHECK(follow(topology) == "added:nvmeof0c3n1");
	CHECK(topology.snapshot().namespaces[0].paths == 3);
	plant.tellPath(NVMEOF_EVENT_REMOVED, "nvmeof0c1n1", "nvmeof0c1");
	plant.kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_REMOVED, *controllerOf("nvmeof0c1", NVMEOF_CTRL_DELETING));
	plant.kernel.event(NVMEOF_CMD_CTRL_NTF, NVMEOF_EVENT_SCANNED,
			   *controllerOf("nvmeof0c1", NVMEOF_CTRL_DELETING)); // a late event of a removed controller
	follow(topology);
	CHECK_FALSE(topology.snapshot().controller("nvmeof0c1"));
	CHECK(topology.snapshot().paths.size() == 2);
	CHECK(topology.snapshot().subsystems[0].controllers == 1);
	CHECK(plant.kernel.asked().size() == asked);
}

TEST_CASE("after lost events the snapshot stays until a new one is complete", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	std::optional<Asked> asked;
	plant.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &now) { asked = now; });
	plant.kernel.controllers.erase("nvmeof0c1");
	plant.kernel.controllers["nvmeof0c3"] = controllerOf("nvmeof0c3", NVMEOF_CTRL_CONNECTING);
	plant.kernel.tell(ENOBUFS);
	CHECK(follow(topology) == "lost: present:nvmeof0 present:nvmeof0c2 present:nvmeof0c3 present:nvmeof0n1");
	CHECK_FALSE(topology.synced());
	CHECK(topology.snapshot().controller("nvmeof0c1"));
	CHECK_FALSE(topology.snapshot().controller("nvmeof0c3"));
	auto sample = topology.startSample(); // the sample waits for the new list
	CHECK(plant.kernel.count(NVMEOF_CMD_PATH_GET) == 2);
	plant.tellState("nvmeof0c3", NVMEOF_CTRL_LIVE); // an event that follows the list
	plant.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &now) { plant.kernel.done(now); });
	plant.kernel.done(*asked);
	CHECK(follow(topology) == "synced: state:nvmeof0c3");
	CHECK(topology.synced());
	CHECK_FALSE(topology.snapshot().controller("nvmeof0c1"));
	CHECK(topology.snapshot().controller("nvmeof0c3")->state == ControllerState::live);
	CHECK(topology.snapshot().paths.empty());
	CHECK(sample.ready());
}

TEST_CASE("counters and rates come with samples", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	REQUIRE(topology.sample());
	CHECK_FALSE(topology.rates().of("nvmeof0c1n1")); // the first sample has no rates
	std::size_t before = plant.kernel.asked().size();
	plant.count("nvmeof0c1n1", "nvmeof0c1", 1100);
	auto waiting = namespaceOf("nvmeof0n1", 1);
	waiting->u32(NVMEOF_A_WAITING, 5);
	plant.kernel.namespaces["nvmeof0n1"] = waiting;
	auto handle = topology.startSample();
	bool called = false;
	handle.then([&] { called = true; });
	CHECK_FALSE(handle.ready());
	CHECK(follow(topology).empty()); // a sample gives no events
	REQUIRE(handle.ready());
	CHECK(called);
	CHECK(handle.take());
	CHECK(plant.kernel.asked().size() == before + 2); // two dumps, not four
	CHECK(pathIn(topology, "nvmeof0c1n1").ios == 1100);
	CHECK(topology.snapshot().namespaces[0].waiting == 5);
	auto seconds = std::chrono::duration<double>(topology.rates().interval()).count();
	REQUIRE(topology.rates().of("nvmeof0c1n1"));
	CHECK(topology.rates().of("nvmeof0c1n1")->ios * seconds == Approx(1000));
	CHECK(topology.rates().of("nvmeof0c2n1")->ios == 0);

	auto interval = topology.rates().interval();
	plant.count("nvmeof0c1n1", "nvmeof0c1", 2000);
	REQUIRE(topology.sample(SampleFor::states));
	CHECK(pathIn(topology, "nvmeof0c1n1").ios == 2000);
	CHECK(topology.rates().interval() == interval);
}

TEST_CASE("removals, additions and changes during a sample are kept", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	std::optional<Asked> asked;
	plant.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &now) { asked = now; });
	auto handle = topology.startSample();
	follow(topology);
	REQUIRE(asked);
	plant.tellPath(NVMEOF_EVENT_REMOVED, "nvmeof0c1n1", "nvmeof0c1");
	plant.tellPath(NVMEOF_EVENT_ADDED, "nvmeof0c3n1", "nvmeof0c3");
	plant.tellState("nvmeof0c2", NVMEOF_CTRL_RECOVERING);
	follow(topology);
	for (const char *path : {"nvmeof0c1n1", "nvmeof0c2n1"}) // the state before the removal
		plant.kernel.data(*asked, NVMEOF_CMD_PATH_GET, *plant.kernel.paths[path], NLM_F_MULTI);
	plant.kernel.done(*asked);
	follow(topology);
	REQUIRE(handle.ready());
	REQUIRE(topology.snapshot().paths.size() == 2);
	CHECK(pathIn(topology, "nvmeof0c2n1").ios == 200);
	CHECK_FALSE(pathIn(topology, "nvmeof0c2n1").usable);
	CHECK(pathIn(topology, "nvmeof0c3n1").usable);

	// The controller returned. Its paths are not in events, but in the next sample.
	plant.tellState("nvmeof0c2", NVMEOF_CTRL_LIVE);
	follow(topology);
	CHECK_FALSE(pathIn(topology, "nvmeof0c2n1").usable);
	handle = topology.startSample(SampleFor::states);
	follow(topology);
	plant.kernel.data(*asked, NVMEOF_CMD_PATH_GET, *plant.kernel.paths["nvmeof0c2n1"], NLM_F_MULTI);
	plant.kernel.done(*asked);
	follow(topology);
	CHECK(handle.ready());
	CHECK(pathIn(topology, "nvmeof0c2n1").usable);
}

TEST_CASE("a sample requested during another one is a separate sample", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	std::vector<Asked> asked;
	plant.kernel.on(NVMEOF_CMD_PATH_GET, [&](const Asked &now) { asked.push_back(now); });
	auto first = topology.startSample();
	follow(topology);
	auto second = topology.startSample(), third = topology.startSample();
	third.cancel();
	plant.kernel.done(asked.at(0));
	follow(topology);
	CHECK(first.ready());
	CHECK_FALSE(second.ready());
	REQUIRE(asked.size() == 2);
	plant.kernel.done(asked.at(1));
	follow(topology);
	CHECK(second.ready());
	CHECK_FALSE(third.valid());
	CHECK(asked.size() == 2);
}

TEST_CASE("a failed sample is reported, and the next one may succeed", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	plant.kernel.on(NVMEOF_CMD_NS_GET, [&](const Asked &asked) { plant.kernel.fail(asked, EPERM); });
	Result<void> sampled = topology.sample();
	REQUIRE_FALSE(sampled);
	CHECK(sampled.error().code == ErrorCode::notPermitted);
	plant.kernel.on(NVMEOF_CMD_NS_GET, [&](const Asked &asked) { plant.kernel.done(asked); });
	CHECK(topology.sample());
	plant.kernel.on(NVMEOF_CMD_NS_GET, nullptr);
	sampled = topology.sample(SampleFor::rates, 1ms);
	REQUIRE_FALSE(sampled);
	CHECK(sampled.error().code == ErrorCode::timedOut);
}

TEST_CASE("an error of the stream ends the topology", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	plant.tellState("nvmeof0c1", NVMEOF_CTRL_RECOVERING);
	plant.kernel.tell(EIO);
	auto handle = topology.startSample();
	CHECK(follow(topology) == "state:nvmeof0c1!");
	REQUIRE(handle.ready());
	CHECK_FALSE(handle.take());
	CHECK(topology.snapshot().controllers.size() == 2);
	CHECK_FALSE(topology.dispatch());
	CHECK_FALSE(topology.sample());
}

TEST_CASE("an ANA change is reported with the time in the previous state", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	auto told = [&] {
		auto events = topology.dispatch();
		REQUIRE(events);
		REQUIRE(events->size() == 1);
		return events->front().before;
	};
	plant.tellAna(NVMEOF_ANA_OPTIMIZED, 100);
	CHECK_FALSE(told()); // the start of the previous state is unknown
	plant.tellAna(NVMEOF_ANA_OPTIMIZED, 100);
	CHECK_FALSE(told());
	plant.tellAna(NVMEOF_ANA_INACCESSIBLE, 90); // older than the snapshot
	CHECK_FALSE(told());
	plant.tellAna(NVMEOF_ANA_OPTIMIZED, 100);
	CHECK(told());

	// A sample that has the new state before its event is read does not suppress the report.
	auto changed = livePath("nvmeof0c1n1", "nvmeof0c1", 100);
	changed->u32(NVMEOF_A_ANA_STATE, NVMEOF_ANA_INACCESSIBLE).u64(NVMEOF_A_ANA_SINCE, 110);
	plant.kernel.paths["nvmeof0c1n1"] = changed;
	REQUIRE(topology.sample());
	plant.tellAna(NVMEOF_ANA_INACCESSIBLE, 110);
	std::optional<AnaBefore> before = told();
	REQUIRE(before);
	CHECK(before->state == AnaState::optimized);
	CHECK(before->lasted == 10ns);

	// A path was removed, and another one has the same name.
	plant.tellPath(NVMEOF_EVENT_REMOVED, "nvmeof0c1n1", "nvmeof0c1");
	CHECK_FALSE(told());
	plant.tellPath(NVMEOF_EVENT_ADDED, "nvmeof0c1n1", "nvmeof0c1");
	CHECK_FALSE(told());
	plant.tellAna(NVMEOF_ANA_CHANGE, 200);
	CHECK_FALSE(told());
}

TEST_CASE("the descriptor stays readable while events are left", "[topology]")
{
	TopologyFixture plant;
	Topology topology = plant.open();
	for (int i = 0; i < 3000; i++)
		plant.kernel.paths["nvmeof0c1n" + std::to_string(i + 2)] =
			pathOf(("nvmeof0c1n" + std::to_string(i + 2)).c_str(), "nvmeof0c1", "nvmeof0n1", 1);
	plant.kernel.tell(ENOBUFS);
	follow(topology);
	CHECK(topology.synced());
	CHECK(topology.snapshot().paths.size() == 3002);
}
