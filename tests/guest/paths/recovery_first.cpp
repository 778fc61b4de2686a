// SPDX-License-Identifier: LGPL-2.1-or-later
// First connects with first_connect_tmo: attempts go on while the target is not there yet.
#include "support/block.h"
#include "support/multi.h"
#include "support/netns.h"
#include "support/rig.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace guest::recovery_first {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

constexpr unsigned laterPort = 4421; // a test links the subsystem of Rig to it later

nvmeof::ConnectOptions patient(const std::string &address, Millis howLong)
{
	auto o = Host::options(address, std::to_string(laterPort));
	o.firstConnect = howLong;
	o.reconnectDelay = 100ms;
	return o;
}

auto of(const std::string &name, EventType type)
{
	return [=](const nvmeof::Event &e) { return e.controller() && e.name() == name && e.type == type; };
}

} // namespace

TEST_CASE("a first connect with a timeout succeeds when the target appears", "[recovery][connect][first]")
{
	Rig rig;
	auto c = take(rig.host.client().start(patient(here(), -1ms)));
	CHECK(c.firstConnect == -1ms);
	REQUIRE(eventually([&] { return rig.host.controller(c.name).attempts > 3; }));
	CHECK(rig.host.state(c.name) == ControllerState::connecting);
	CHECK(rig.host.controller(c.name).lastErrno == ECONNREFUSED);
	CHECK(take(rig.host.client().namespaces()).empty());
	{
		nvmet::Port late(2, here(), laterPort);
		late.link(rig.subsystem);
		CHECK(rig.host.waitState(c.name, ControllerState::live));
		CHECK(rig.host.controller(c.name).reconnects == 0); // this was the first connect
		{
			Disk disk(rig.disk());
			CHECK(disk.verified(0, 65536, 1) == 0);
		}
		// from now on ctrl_loss_tmo applies
		late.unlink(rig.subsystem);
		CHECK(rig.host.waitState(c.name, ControllerState::connecting));
		late.link(rig.subsystem);
		CHECK(rig.host.waitState(c.name, ControllerState::live));
		CHECK(rig.host.controller(c.name).reconnects == 1);
		rig.host.disconnectAll();
	}
}

TEST_CASE("a first connect ends when first_connect_tmo has passed", "[recovery][connect][first]")
{
	Host host;
	Watch watch;
	auto c = take(host.client().start(patient(here(), 1500ms)));
	auto added = watch.find(of(c.name, EventType::added));
	REQUIRE(added);
	unsigned failures = 0;
	auto gone = watch.find([&](const nvmeof::Event &e) {
		failures += of(c.name, EventType::connectFailed)(e);
		return of(c.name, EventType::removed)(e);
	});
	REQUIRE(gone);
	auto took = std::chrono::duration_cast<Millis>(gone->time - added->time);
	CHECK(took >= 1500ms);
	CHECK(took < scaled(2500ms));
	CHECK(failures >= 5); // at most 100 ms apart, except the first ones
	CHECK(host.state(c.name) == ControllerState::dead);
	// the subsystem is removed after its last controller
	REQUIRE(watch.find([](const nvmeof::Event &e) { return e.type == EventType::removed && e.subsystem(); }));
	CHECK(take(host.client().subsystems()).empty());
	CHECK(kernelLogHas(c.name + ": keep-trying of 1500 ms passed after [0-9]* attempts"));
}

TEST_CASE("a first connect with a timeout can be deleted at any time", "[recovery][connect][first][delete]")
{
	Netns netns("away");
	Link link(netns, "away", 8);
	Host host;
	auto o = patient(here(), -1ms);
	std::uint32_t attempts = 2;
	SECTION("between two attempts")
	{
		o.reconnectDelay = 60s;
		attempts = 4;
	}
	SECTION("while attempts follow each other quickly")
	{
		o.reconnectDelay = 1ms;
	}
	SECTION("during an attempt without an answer")
	{
		link.impair("loss 100%");
		o.address.traddr = link.targetAddress();
		attempts = 0;
	}
	Watch watch;
	auto c = take(host.client().start(o));
	REQUIRE(eventually([&] { return host.controller(c.name).attempts >= attempts; }));
	pause(300ms);
	CHECK(host.state(c.name) == ControllerState::connecting);
	Stopwatch stopwatch;
	CHECK(host.client().disconnect(c.name).ok());
	CHECK(stopwatch.elapsed() < scaled(2s)); // connect-tmo is 10 s
	CHECK(host.state(c.name) == ControllerState::dead);
	auto events = watch.drain();
	auto last = std::ranges::find_if(events, of(c.name, EventType::removed));
	REQUIRE(last != events.end());
	CHECK(std::none_of(last + 1, events.end(), [&](auto &e) { return e.name() == c.name; }));
	link.repair();
}

} // namespace guest::recovery_first
