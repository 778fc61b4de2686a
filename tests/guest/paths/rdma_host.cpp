// SPDX-License-Identifier: LGPL-2.1-or-later
// Host behaviour specific to RDMA: device removal, heads with paths over both transports, busy targets, choice of the
// device
#include "support/multi.h"
#include "support/netns.h"
#include "support/ports.h"
#include "support/rig.h"

#include <catch2/catch.hpp>

#include <future>
#include <thread>

namespace guest::rdma_host {

using nvmeof::ControllerState;

namespace {

constexpr Millis gone = 3000ms; // bound for device removal, which waits for all users of the device

// A removal that takes too long fails the test but does not end it.
void removeInTime(RdmaNic &nic)
{
	Stopwatch watch;
	nic.remove();
	CHECK(watch.elapsed() < scaled(gone));
}

} // namespace

TEST_CASE("the removal of a device costs its path, but no I/O", "[rdma][removal]")
{
	Multi rig({.lanes = 2});
	rig.connectAll();
	REQUIRE(rig.waitPaths(2));
	Probe probe(rig.disk(), {.writes = false}), writes(rig.disk(), {.offset = 32 << 20});
	FioLoad load(verifiedJob(rig.disk(), 120, 16));
	REQUIRE(rig.waitForLoad());
	for (unsigned round = 0; round < 4; round++) {
		auto lane = round % 2;
		auto name = rig.name(lane);
		probe.mark();
		writes.mark();
		removeInTime(rig.lane(lane).nic());
		CHECK(rig.host.waitState(name, ControllerState::connecting, 2s));
		CHECK(probe.moves());
		CHECK(writes.moves());
		std::printf("removal: reads went on after %ld ms, writes after %ld ms\n",
			    static_cast<long>(probe.longest().count()), static_cast<long>(writes.longest().count()));
		CHECK(probe.longest() < scaled(500ms));
		CHECK(writes.longest() < scaled(500ms)); // the target gets the disconnect before the device is gone
		CHECK(rig.waitPaths(1));
		rig.lane(lane).repair();
		rig.lane(lane).reopen();
		CHECK(rig.host.waitState(name, ControllerState::live));
		CHECK(rig.waitPaths(2));
	}
	expectGoodUntilNow(load);
	expectGood(probe);
	expectGood(writes);
}

TEST_CASE("I/O waits while the device of the only path is removed, and completes when it returns", "[rdma][removal]")
{
	Multi rig({.lanes = 1});
	auto name = rig.connect(0);
	FioLoad load(verifiedJob(rig.disk(), 120, 8));
	REQUIRE(rig.waitForLoad());
	removeInTime(rig.lane(0).nic());
	REQUIRE(rig.host.waitState(name, ControllerState::connecting, 2s));
	pause(1s);
	CHECK(rig.host.state(name) == ControllerState::connecting);
	rig.lane(0).repair();
	rig.lane(0).reopen();
	CHECK(rig.host.waitState(name, ControllerState::live));
	expectGoodUntilNow(load);
}

TEST_CASE("the removal of a device does not wait for a connect in progress", "[rdma][removal]")
{
	Netns netns("away");
	Link link(netns, "away", 8);
	link.impair("loss 100%");
	must("ip neigh replace " + link.targetAddress() + " lladdr 02:00:00:00:00:01 dev " + link.hostIface());
	Host host;
	auto o = Host::options(link.targetAddress(), "4420");
	o.firstConnect = -1ms;
	auto c = take(host.client().start(o));
	pause(500ms);
	CHECK(host.state(c.name) == ControllerState::connecting);
	Stopwatch watch;
	link.device().remove();
	CHECK(watch.elapsed() < scaled(gone));
	CHECK(eventually([&] { return host.controller(c.name).attempts > 0; }, 2s));
	Stopwatch leaving;
	CHECK(host.client().disconnect(c.name).ok());
	CHECK(leaving.elapsed() < scaled(2s));
}

TEST_CASE("a device is removed during a connect, and connects go on when it returns", "[rdma][removal]")
{
	RdmaNic nic("lone", 96);
	Host host;
	auto stage = GENERATE(as<std::string>{}, "an address that nobody has", "a port where nobody listens");
	INFO(stage);
	bool refused = stage.find("listens") != std::string::npos;
	auto o = Host::options(refused ? nic.address() : "10.96.0.77", "4433");
	o.firstConnect = -1ms;
	o.reconnectDelay = 200ms;
	for (auto after : {0ms, 30ms, 300ms}) {
		auto c = take(host.client().start(o));
		pause(after);
		removeInTime(nic);
		if (refused)
			CHECK(eventually([&] { return host.controller(c.name).attempts > 0; }, 5s));
		nic.repair();
		auto attempts = host.controller(c.name).attempts;
		CHECK(eventually([&] { return host.controller(c.name).attempts > attempts; }, 10s));
		Stopwatch leaving;
		CHECK(host.client().disconnect(c.name).ok());
		CHECK(leaving.elapsed() < scaled(2s));
	}
}

TEST_CASE("a device is removed during disconnect, reset and unloading", "[rdma][removal]")
{
	Multi rig({.lanes = 1});
	for (std::string what : {"disconnect", "reset", "rmmod"}) {
		INFO(what);
		auto name = rig.connect(0);
		FioLoad load({.file = rig.disk(), .verify = false, .seconds = 60});
		REQUIRE(rig.waitForLoad());
		auto other = std::async(std::launch::async, [&] {
			return run(what == "rmmod" ? "rmmod nvmeof_rdma" : "nvmeofctl " + what + " " + name).status;
		});
		removeInTime(rig.lane(0).nic());
		CHECK(other.wait_for(scaled(10s)) == std::future_status::ready);
		load.stop();
		Host::load();
		rig.host.disconnectAll();
		rig.lane(0).repair();
		rig.lane(0).reopen();
	}
	rig.connect(0);
	CHECK(Disk(rig.disk()).verified(0, 65536, 1) == 0);
}

TEST_CASE("the connection is re-established when its address moves within a bond", "[rdma][address]")
{
	must("modprobe bonding max_bonds=0");
	must("ip link add both type bond mode active-backup fail_over_mac active miimon 100");
	for (std::string leg : {"leg1", "leg2"})
		must("ip link add " + leg + " mtu 9000 type veth peer name " + leg + "far mtu 9000 && ip link set " +
		     leg + " master both && ip link set " + leg + "far up");
	must("ip link set both up && ip addr add 10.97.0.1/24 dev both && ip addr add fd00:97::1/64 dev both nodad");
	{
		RdmaDevice device("both", "both");
		RigOptions options;
		options.address = "10.97.0.1";
		Rig rig(options);
		auto c = rig.connect();
		CHECK(Disk(rig.disk()).verified(0, 65536, 1) == 0);
		auto active = readFile("/sys/class/net/both/bonding/active_slave");
		must("echo " + std::string(active.find("leg1") == std::string::npos ? "leg1" : "leg2") +
		     " > /sys/class/net/both/bonding/active_slave");
		CHECK(eventually([&] { return rig.host.controller(c.name).reconnects > 0; }));
		CHECK(rig.host.waitState(c.name, ControllerState::live));
		CHECK(kernelLogHas("local address moved to another device\\|ended the connection"));
		CHECK(Disk(rig.disk()).verified(0, 65536, 2) == 0);
	}
	must("ip link del both && ip link del leg1 && ip link del leg2");
}

TEST_CASE("a disk uses TCP and RDMA paths together", "[rdma][mixed]")
{
	Multi rig({.lanes = 3, .transports = {"tcp", "rdma", "rdma"}});
	rig.connectAll();
	REQUIRE(rig.waitPaths(3));
	rig.set("iopolicy=round-robin");
	FioLoad load(verifiedJob(rig.disk(), 120, 16));
	REQUIRE(rig.waitForLoad());
	auto shares = rig.shares([] { pause(2s); });
	for (auto share : shares)
		CHECK(share > 0.15);
	removeInTime(rig.lane(1).nic());
	CHECK(rig.waitPaths(2));
	rig.lane(0).close();
	CHECK(rig.waitPaths(1));
	rig.lane(0).open();
	rig.lane(1).repair();
	rig.lane(1).reopen();
	CHECK(rig.waitPaths(3));
	rig.lane(2).close(); // then only TCP and another RDMA path
	CHECK(rig.host.client().disconnect(rig.name(1)).ok());
	CHECK(rig.waitPaths(1));
	rig.lane(2).open();
	CHECK(rig.waitPaths(2));
	expectGoodUntilNow(load);
}

TEST_CASE("a connect to a busy target is retried", "[rdma][connect]")
{
	Ports ports({target::Config{}});
	for (auto *name : {"cm-reject-busy-never", "cm-reject-resources-never", "cm-reject-io-busy-never"}) {
		INFO(name);
		ports[0].script().arm(*target::findMisbehaviour(name), 2);
		auto c = ports.connect(0);
		CHECK(ports[0].script().strikes() == 2);
		CHECK(Disk(ports.disk()).verified(0, 65536, 1) == 0);
		ports.host.disconnectAll();
	}
}

TEST_CASE("the local address and interface are honoured over RDMA", "[rdma][address]")
{
	Multi rig({.lanes = 2});
	auto o = rig.options(0);
	SECTION("host-traddr")
	{
		o.hostTraddr = rig.lane(0).address();
		rig.host.connect(o);
		CHECK(Disk(rig.disk()).verified(0, 65536, 1) == 0);
	}
	SECTION("host-iface")
	{
		o.hostIface = rig.lane(0).nic().name();
		CHECK(rig.host.connect(o).hostIface == o.hostIface);
		CHECK(Disk(rig.disk()).verified(0, 65536, 1) == 0);
	}
	SECTION("an unused address, and one of the other family")
	{
		o.ctrlLoss = 0ms;
		for (std::string address : {"10.5.0.99", "2001:db8::10"}) {
			o.hostTraddr = address;
			auto result = rig.host.client().connect(o, nvmeof::WaitFor::controller, scaled(15s));
			REQUIRE_FALSE(result.ok());
			CHECK_FALSE(result.error().message.empty());
		}
	}
	SECTION("an interface without an RDMA device")
	{
		must("ip link add plain type veth peer name plainfar && ip addr add 10.98.0.1/24 dev plain && "
		     "ip link set plain up && ip link set plainfar up");
		auto there = Host::options("10.98.0.2", "4420");
		there.ctrlLoss = 0ms;
		auto result = rig.host.client().connect(there, nvmeof::WaitFor::controller, scaled(15s));
		must("ip link del plain");
		REQUIRE_FALSE(result.ok());
		INFO(result.error().message);
		CHECK_FALSE(result.error().message.empty());
	}
}

} // namespace guest::rdma_host
