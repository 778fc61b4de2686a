// SPDX-License-Identifier: LGPL-2.1-or-later
// How long requests and disks outlive their paths: fast_io_fail_tmo, ctrl_loss_tmo, delayed removal.
#include "multipath_setup.h"
#include "support/block.h"
#include "support/multi.h"
#include "support/ports.h"

#include <catch2/catch.hpp>

namespace guest::multipath_bounds {

using nvmeof::ControllerState;

namespace {

constexpr std::uint64_t mib = 1 << 20;

} // namespace

TEST_CASE("fast_io_fail_tmo bounds the wait when all paths are lost", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.fastIoFail = 1500ms; });
	Disk disk(rig.disk());
	Buffer b(4096);
	rig.lane(0).close();
	REQUIRE(rig.waitPaths(1));
	pause(2s);
	CHECK(disk.verified(0, 4096, 1) == 0); // one path is enough
	Stopwatch watch;                       // starts before the loss: closing takes time
	rig.lane(1).close();
	CHECK(disk.write(0, b) < 0);
	CHECK(watch.elapsed() > 1s);
	CHECK(watch.elapsed() < scaled(5s));
	rig.lane(0).open();
	rig.lane(1).open();
	REQUIRE(rig.waitPaths(2));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("fast_io_fail_tmo bounds the wait when all paths are connected and none is accessible", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.fastIoFail = 1500ms; });
	Disk disk(rig.disk());
	REQUIRE(disk.verified(0, 4096, 1) == 0);
	rig.setAna(1, "inaccessible");
	Stopwatch watch;
	Buffer b(4096);
	CHECK(eventually([&] { return disk.write(0, b) < 0; }, 10s));
	CHECK(watch.elapsed() > 1s);
	CHECK(watch.elapsed() < scaled(5s));
	CHECK(rig.allLive());
	Stopwatch second;
	CHECK(disk.write(0, b) < 0); // later requests do not wait again
	CHECK(second.elapsed() < scaled(1s));
	rig.lane(1).setAna(1, "optimized");
	REQUIRE(rig.waitPaths(1));
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("a disk that was never accessible is not visible", "[multipath][bounds]")
{
	Multi rig;
	rig.setAna(1, "inaccessible");
	rig.host.connect(rig.options(0));
	CHECK_FALSE(rig.host.nameSpace(1));
	CHECK(run("ls -d /sys/block/nvmeof*").status != 0);
	rig.lane(0).setAna(1, "optimized");
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 4096, 2) == 0);
}

TEST_CASE("fast_io_fail_tmo bounds a wait that began before it was set", "[multipath][bounds]")
{
	Multi rig;
	rig.connectAll();
	Disk disk(rig.disk());
	rig.setAna(1, "inaccessible");
	REQUIRE(rig.waitPaths(0));
	int written = 0;
	std::jthread writer([&] {
		Buffer b(4096);
		written = disk.write(0, b);
	});
	REQUIRE(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
	nvmeof::ControllerSettings settings;
	settings.fastIoFail = 1s;
	Stopwatch watch;
	for (unsigned n = 0; n < 2; n++)
		CHECK(rig.host.client().set(rig.name(n), settings).ok());
	CHECK(eventually([&] { return rig.host.nameSpace(1)->waiting == 0; }, 5s));
	CHECK(watch.elapsed() < scaled(5s));
	rig.lane(0).setAna(1, "optimized"); // lets the write end
	writer.join();
	CHECK(written < 0);
	CHECK(rig.allLive());
}

TEST_CASE("ctrl_loss_tmo: the disk survives one lost controller, and is removed with the last", "[multipath][bounds]")
{
	Multi rig;
	connectWith(rig, [](auto &o) { o.ctrlLoss = 1500ms; });
	auto disk = rig.disk();
	Probe probe(disk);
	auto first = rig.name(0), second = rig.name(1);
	auto paths = [&] {
		auto n = rig.host.nameSpace(1);
		return n ? std::to_string(n->livePaths) + " of " + std::to_string(n->expectedPaths) : "no disk";
	};
	rig.lane(0).close();
	CHECK(rig.host.waitLost(first, 10s));
	CHECK(eventually([&] { return rig.host.nameSpace(1)->paths == 1; }, 5s));
	CHECK(paths() == "1 of 2"); // until it is disconnected
	auto attempts = rig.host.controller(first).attempts;
	must("nvmeofctl reset " + first);
	CHECK(eventually([&] { return rig.host.controller(first).attempts > attempts; }, 5s));
	pause(300ms);
	CHECK(paths() == "1 of 2"); // also after a failed attempt
	CHECK(probe.moves());
	CHECK(probe.error() == 0);
	rig.lane(1).close();
	CHECK(rig.host.waitLost(second, 10s));
	CHECK(eventually([&] { return probe.error() != 0; }, 5s));
	probe.stop();
	CHECK(eventually([&] { return !exists(disk); }, 5s));
	rig.lane(0).open();
	must("nvmeofctl reset " + first);
	CHECK(rig.host.waitState(first, ControllerState::live, 5s));
	CHECK(rig.disk() == disk);
	CHECK(eventually([&] { return paths() == "1 of 2"; }, 5s));
	must("nvmeofctl disconnect " + second);
	CHECK(eventually([&] { return paths() == "1 of 1"; }, 5s));
}

TEST_CASE("delayed removal: an open xfs survives a full outage, and resumes", "[multipath][bounds][delayed]")
{
	Multi rig({.namespaces = {384 * mib}});
	auto connect = [&](unsigned n) {
		auto o = rig.options(n);
		o.ctrlLoss = 1s;
		return rig.host.connect(o).name;
	};
	std::string names[] = {connect(0), connect(1)};
	auto disk = rig.disk();
	rig.set("delayed-removal-secs=60");
	must("mkfs.xfs -q -f " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
	Background writer("set -e; cd /mnt; for i in $(seq 60); do head -c 200000 /dev/urandom > $i; md5sum $i >> "
			  "/tmp/sums; [ $((i % 5)) != 0 ] || sync; done; sync");
	pause(1s);
	rig.lane(0).close();
	rig.lane(1).close();
	for (auto &name : names)
		CHECK(rig.host.waitLost(name, 10s));
	pause(1s);
	CHECK(exists(disk));
	auto n = rig.host.nameSpace(1);
	REQUIRE(n);
	CHECK(n->paths == 0);
	rig.lane(0).open();
	rig.lane(1).open();
	for (auto &name : names)
		must("nvmeofctl reset " + name);
	CHECK(eventually([&] { return rig.host.nameSpace(1)->livePaths == 2; }, 10s));
	CHECK(rig.disk() == disk);
	auto out = writer.wait(60s);
	INFO(out.text);
	CHECK(out.status == 0);
	must("umount /mnt && mount " + disk + " /mnt && cd /mnt && md5sum -c /tmp/sums");
	must("umount /mnt && xfs_repair -n " + disk + " && rm /tmp/sums");
}

TEST_CASE("delayed removal: a private namespace that returns gets its disk back", "[multipath][bounds][delayed]")
{
	target::Server server(reachable());
	server.stores().add(1, 8 * mib);
	server.script().arm(privateNs[0], target::Script::forever);
	auto nqn = server.config().nqn;
	Host host;
	auto o = Host::options(here(), std::to_string(server.port()), nqn);
	o.ctrlLoss = 1s;
	auto name = host.connect(o).name;
	auto node = host.disk(1, 10s, nqn);
	must("nvmeofctl set " + take(host.client().subsystems()).front().name + " delayed-removal-secs=60");
	Probe probe(node);
	REQUIRE(probe.moves());
	server.stop();
	REQUIRE(host.waitLost(name, 10s));
	CHECK(exists(node));
	server.start();
	must("nvmeofctl reset " + name);
	CHECK(host.disk(1, 10s, nqn) == node);
	CHECK(take(host.client().namespaces()).size() == 1);
	CHECK(probe.moves());
	expectGood(probe);
	// An explicit disconnect removes the disk without the delay.
	const Disk open(node);
	server.stop();
	REQUIRE(host.waitLost(name, 10s));
	CHECK(exists(node));
	const Output refused = run("nvmeofctl disconnect " + name);
	INFO(refused.text);
	CHECK(refused.status == 10); // it is open
	CHECK(exists(node));
	must("nvmeofctl disconnect --force " + name);
	CHECK(eventually([&] { return !exists(node); }, 5s));
}

TEST_CASE("delayed removal: waiting I/O fails when the delay ends", "[multipath][bounds][delayed][short]")
{
	Multi rig({.lanes = 1});
	auto o = rig.options(0);
	o.ctrlLoss = 500ms;
	auto c = rig.host.connect(o);
	auto node = rig.disk();
	rig.set("delayed-removal-secs=3");
	Probe probe(node);
	rig.lane(0).close();
	REQUIRE(rig.host.waitLost(c.name, 10s));
	Stopwatch watch;
	pause(1s);
	CHECK(probe.error() == 0);
	CHECK(exists(node));
	CHECK(eventually([&] { return probe.error() != 0; }, 10s));
	CHECK(watch.elapsed() > 1500ms);
	CHECK(watch.elapsed() < scaled(6s));
	probe.stop();
	CHECK(eventually([&] { return !exists(node); }, 5s));
}

TEST_CASE("delayed removal delays neither a disconnect nor unloading", "[multipath][bounds][delayed]")
{
	Multi rig;
	rig.connectAll();
	auto node = rig.disk();
	rig.set("delayed-removal-secs=60");
	SECTION("a disconnect of all")
	{
		Stopwatch watch;
		rig.host.disconnectAll();
		CHECK(watch.elapsed() < scaled(3s));
		CHECK(eventually([&] { return !exists(node); }, 1s));
		CHECK(take(rig.host.client().namespaces()).empty());
	}
	SECTION("a disconnect one by one")
	{
		CHECK(rig.host.client().disconnect(rig.name(0)).ok());
		CHECK(exists(node));
		CHECK(rig.host.client().disconnect(rig.name(1)).ok());
		CHECK(eventually([&] { return !exists(node); }, 1s));
	}
	SECTION("unloading")
	{
		rig.host.releaseLockdepReferences();
		rig.host.forget();
		CHECK(eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s));
		Host::load();
		rig.host.reopen();
		rig.connectAll();
	}
}

} // namespace guest::multipath_bounds
