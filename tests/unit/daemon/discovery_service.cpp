// SPDX-License-Identifier: LGPL-2.1-or-later
// The discovery controller of a service, with a scripted kernel
#include "discovery_service.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <mutex>
#include <poll.h>
#include <thread>

#include "connections.h"
#include "tests/unit/ctl/stage.h"

using namespace nvmeof;
using namespace nvmeofd;
using namespace std::chrono_literals;

namespace {

constexpr const char *name = "nvmeof0c1";

PlannedService planned()
{
	PlannedService one;
	one.options.address = {"10.0.0.1", ""};
	one.options.subsysnqn = "nqn.test";
	one.options.hostnqn = "nqn.host";
	one.options.hostid = Uuid::random();
	return one;
}

Event stateEvent(ControllerState state, const char *nqn = "nqn.test")
{
	Controller controller;
	controller.name = name;
	controller.transport = "tcp";
	controller.subsysnqn = nqn;
	controller.hostnqn = "nqn.host";
	controller.traddr = "10.0.0.1";
	controller.state = state;
	Event event;
	event.type = EventType::state;
	event.object = controller;
	return event;
}

// A service whose controller is connecting
struct Followed {
	Stage stage;
	runtime::Loop loop{runtime::Loop::Watchdog::none};
	Client client = stage.open();
	PlannedService wanted = planned();
	int failures = 0;
	std::unique_ptr<DiscoveryService> service;
	std::mutex reads; // while it is locked, no read ends

	// @madeBy: the owner of the controller that the kernel returns
	explicit Followed(const char *madeBy = nvmeofd::owner)
	{
		stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [this, madeBy](const Asked &asked) {
			set(madeBy, "nqn.test");
			stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *stage.kernel.controllers[name]);
			stage.kernel.acknowledge(asked);
		});
		stage.kernel.on(NVMEOF_CMD_VERSION_GET, [this](const Asked &asked) {
			std::lock_guard wait(reads);
			stage.kernel.version(asked);
		});
		DiscoveryService::Callbacks callbacks{.told = [](DiscoveryLog) { return Result<void>(); },
						      .failed = [this] { failures++; }};
		service = std::make_unique<DiscoveryService>(loop, client, wanted, std::nullopt, std::move(callbacks));
		service->begin();
		REQUIRE(service->controller() == name);
	}
	void set(const char *madeBy, const char *nqn)
	{
		auto object = std::make_shared<Payload>();
		object->u32(NVMEOF_A_SUBSYS_ID, 0).u32(NVMEOF_A_CTRL_ID, 1).text(NVMEOF_A_CTRL_NAME, name);
		object->text(NVMEOF_A_SUBSYSNQN, nqn).text(NVMEOF_A_TRANSPORT, "tcp");
		object->text(NVMEOF_A_TRADDR, "10.0.0.1")
			.text(NVMEOF_A_OWNER, madeBy)
			.text(NVMEOF_A_HOSTNQN, "nqn.host");
		object->u32(NVMEOF_A_CTRL_STATE, NVMEOF_CTRL_CONNECTING);
		stage.kernel.controllers[name] = object;
	}
	// Waits until the service has begun a read, and the thread of the read no longer uses the kernel.
	void readEnded() const
	{
		const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
		while (stage.kernel.openedChannels() < 2 || stage.kernel.openChannels() > 1) {
			REQUIRE(std::chrono::steady_clock::now() < deadline);
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
	}
	// The same, and lets the service take the result
	void finishRead()
	{
		readEnded();
		pollfd poll{client.fd(), POLLIN, 0};
		while (service->state() == DiscoveryService::State::reading) {
			REQUIRE(::poll(&poll, 1, 60000) == 1);
			client.dispatch();
		}
	}
	int disconnects() const { return stage.kernel.count(NVMEOF_CMD_CTRL_DEL); }
};

} // namespace

TEST_CASE("a service that is no longer needed is disconnected, unless another program connected it", "[daemon]")
{
	const auto [madeBy, disconnects] =
		GENERATE(table<const char *, int>({{nvmeofd::owner, 1}, {"", 0}, {"another", 0}}));
	Followed one(madeBy);
	one.service->leave();
	CHECK(one.disconnects() == disconnects);
	CHECK(one.service->controller().empty());
}

TEST_CASE("a service whose controller is gone connects again, although the event of the removal was lost", "[daemon]")
{
	Event synced;
	synced.type = EventType::synced;
	Followed one;
	one.service->event(synced);
	CHECK(one.service->controller() == name);
	CHECK(one.failures == 0);
	SECTION("it does not exist")
	{
		one.stage.kernel.controllers.clear();
	}
	SECTION("another one has its name")
	{
		one.set(nvmeofd::owner, "nqn.other");
	}
	one.service->event(synced);
	CHECK(one.service->controller().empty());
	CHECK(one.service->state() == DiscoveryService::State::waiting);
	CHECK(one.failures == 1);
}

TEST_CASE("a controller that got the name of a service's controller stays", "[daemon]")
{
	Followed one;
	one.set(nvmeofd::owner, "nqn.other");
	SECTION("when the service is no longer needed")
	{
		one.service->leave();
	}
	SECTION("when an event has its name")
	{
		one.service->event(stateEvent(ControllerState::live, "nqn.other"));
		CHECK(one.service->state() == DiscoveryService::State::waiting);
	}
	CHECK(one.service->controller().empty());
	CHECK(one.disconnects() == 0);
}

TEST_CASE("a service with other options than planned is noticed", "[daemon][reload]")
{
	Followed one;
	PlannedService now = one.wanted;
	const DiscoveryService &service = *one.service;
	CHECK(service.serves(now, {}));
	now.options.security.place = "nvmeof.toml:7";
	now.state = PlannedService::State::told;
	CHECK(service.serves(now, {}));
	CHECK_FALSE(service.serves(now, true));
	SECTION("security")
	{
		now.options.security.auth = SecurityUse::required;
	}
	SECTION("key")
	{
		now.options.dhchapKey = "/etc/nvmeof/keys/host.key";
	}
	SECTION("TLS")
	{
		now.options.tls = TlsUse::required;
	}
	SECTION("host")
	{
		now.options.hostnqn = "nqn.other";
	}
	CHECK_FALSE(service.serves(now, {}));
}

TEST_CASE("a service whose read has failed is read after the back-off only, although it is connected again", "[daemon]")
{
	Followed one;
	const Event live = stateEvent(ControllerState::live);
	std::unique_lock held(one.reads);
	one.service->event(live);
	CHECK(one.service->state() == DiscoveryService::State::reading);
	SECTION("the read fails")
	{
		held.unlock();
		one.finishRead();
	}
	SECTION("the connection is lost during the read")
	{
		one.service->event(stateEvent(ControllerState::recovering));
		held.unlock();
		one.readEnded();
	}
	CHECK(one.service->state() == DiscoveryService::State::connecting);
	CHECK(one.failures == 1);
	one.service->event(live);
	CHECK(one.service->state() == DiscoveryService::State::connecting);
}

TEST_CASE("a service whose controller is gone is not read before it has another one", "[daemon]")
{
	Event synced;
	synced.type = EventType::synced;
	Followed one;
	runtime::Readable readable(one.loop, one.client.fd(), [&] { one.client.dispatch(); });
	const Event live = stateEvent(ControllerState::live);
	one.service->event(live);
	one.finishRead();
	REQUIRE(one.failures == 1); // the read has failed: it is due again
	one.stage.kernel.controllers.clear();
	one.service->event(synced);
	REQUIRE(one.failures == 2);
	one.stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [&](const Asked &asked) {
		one.set(nvmeofd::owner, "nqn.test");
		one.stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *one.stage.kernel.controllers[name]);
		one.stage.kernel.acknowledge(asked);
		one.loop.end(0);
	});
	CHECK(one.loop.run() == 0);
	CHECK(one.failures == 2); // of a read without a controller, if there are more
	CHECK(one.service->state() == DiscoveryService::State::connecting);
}

TEST_CASE("a service that is stopped again and again is connected after longer and longer delays", "[daemon]")
{
	Restarts restarts;
	auto now = Restarts::Clock::now();
	CHECK(restarts.delay("a", now) == 0ms);
	auto stop = [&] { // returns the delay
		restarts.stopped("a", now);
		return restarts.delay("a", now);
	};
	const auto first = stop();
	CHECK(first >= 500ms);
	CHECK(first <= 1s);
	CHECK(restarts.delay("b", now) == 0ms);
	now += 100ms;
	CHECK(stop() == first - 100ms); // it was not connected in between
	for (int i = 0; i < 8; i++) {
		now += restarts.delay("a", now);
		CHECK(restarts.delay("a", now) == 0ms);
		CHECK(stop() > 0ms);
	}
	CHECK(stop() >= 30s);
	CHECK(stop() <= 60s);
	SECTION("until it was connected for a while")
	{
		now += restarts.delay("a", now) + Restarts::memory + 1s;
		CHECK(stop() <= 1s);
	}
	SECTION("until a reload")
	{
		restarts.forget();
		CHECK(restarts.delay("a", now) == 0ms);
	}
}

TEST_CASE("the services whose delays are remembered are bounded", "[daemon]")
{
	Restarts restarts;
	auto now = Restarts::Clock::now();
	for (std::size_t i = 0; i < Restarts::max; i++)
		restarts.stopped(std::to_string(i), now);
	CHECK(restarts.size() == Restarts::max);
	restarts.stopped("0", now);
	CHECK(restarts.size() == Restarts::max);
	restarts.stopped("new", now);
	CHECK(restarts.size() == 1);
	for (std::size_t i = 0; i < Restarts::max; i++)
		restarts.stopped(std::to_string(i), now + i * 1s);
	CHECK(restarts.size() <= Restarts::max);
	now += Restarts::max * 1s;
	CHECK(restarts.delay(std::to_string(Restarts::max - 1), now - 1s) > 0ms); // the old ones have made room
}

TEST_CASE("a service is connected after the delay", "[daemon]")
{
	Followed one;
	DiscoveryService later(one.loop, one.client, one.wanted, std::nullopt,
			       {.told = [](DiscoveryLog) { return Result<void>(); }, .failed = [] {}});
	later.begin(20ms);
	CHECK(later.state() == DiscoveryService::State::waiting);
	CHECK(one.stage.kernel.count(NVMEOF_CMD_CTRL_NEW) == 1);
	one.stage.kernel.on(NVMEOF_CMD_CTRL_NEW, [&](const Asked &asked) {
		one.stage.kernel.data(asked, NVMEOF_CMD_CTRL_NEW, *one.stage.kernel.controllers[name]);
		one.stage.kernel.acknowledge(asked);
		one.loop.end(0);
	});
	CHECK(one.loop.run() == 0);
	CHECK(later.controller() == name);
	CHECK(one.stage.kernel.count(NVMEOF_CMD_CTRL_NEW) == 2);
}
