// SPDX-License-Identifier: LGPL-2.1-or-later
// Namespaces that appear, disappear and grow, and their names
#include "support/block.h"
#include "support/fio.h"
#include "support/multi.h"
#include "support/rig.h"
#include "support/multipath_rig.h"

#include <catch2/catch.hpp>
#include <fcntl.h>

#include <thread>

namespace guest::namespaces {

using nvmeof::ControllerState;
using nvmeof::EventType;

namespace {

constexpr std::uint64_t mib = 1 << 20;

auto namespaceEvent(EventType type, std::uint32_t nsid)
{
	return [=](const nvmeof::Event &e) { return e.type == type && e.nameSpace() && e.nameSpace()->nsid == nsid; };
}

std::uint64_t sysfsSize(const std::string &disk)
{
	return std::stoull("0" + readFile("/sys/block/" + disk.substr(5) + "/size")) * 512;
}

} // namespace

TEST_CASE("a namespace added to a live target appears, and disappears when removed", "[namespace][aer][short]")
{
	Rig rig;
	auto c = rig.connect();
	Loop second(32 * mib);
	Watch watch;
	rig.subsystem.addNamespace(2, second.device());
	REQUIRE(watch.find([](auto &e) { return e.type == EventType::aen; }));
	auto added = watch.find(namespaceEvent(EventType::added, 2));
	REQUIRE(added);
	CHECK(added->nameSpace()->size == 32 * mib);
	auto disk = rig.host.disk(2);
	REQUIRE_FALSE(disk.empty());
	{
		Disk d(disk);
		REQUIRE(d.verified(0, 65536, 2) == 0);
	}
	rig.subsystem.removeNamespace(2);
	CHECK(watch.find(namespaceEvent(EventType::removed, 2)));
	CHECK(eventually([&] { return !exists(disk); }));
	CHECK(kernelLogHas(disk.substr(5) + " is removed: the target no longer has the namespace"));
	CHECK(rig.host.state(c.name) == ControllerState::live);
	// the same namespace gets its old name, another one a new name
	rig.subsystem.addNamespace(2, second.device());
	CHECK(eventually([&] { return exists(disk); }));
	rig.subsystem.removeNamespace(2);
	CHECK(eventually([&] { return !exists(disk); }));
	rig.subsystem.addNamespace(2, second.device(), {.uuid = nvmet::Subsystem::uuidFor(77)});
	auto other = rig.host.disk(2);
	CHECK_FALSE(other.empty());
	CHECK(other != disk);
}

TEST_CASE("a namespace removed before it was usable keeps its old name", "[namespace][names]")
{
	Rig rig;
	auto c = rig.connect();
	Loop second(32 * mib);
	auto add = [&] { rig.subsystem.addNamespace(2, second.device(), {.anaGroup = 2}); };
	auto paths = [&](std::uint32_t count) {
		return eventually([&] { return rig.host.controller(c.name).paths == count; });
	};
	rig.port.setAnaState(2, "optimized");
	add();
	auto disk = rig.host.disk(2);
	REQUIRE_FALSE(disk.empty());
	rig.subsystem.removeNamespace(2);
	CHECK(paths(1));
	// no path is usable, so the disk is not shown
	rig.port.setAnaState(2, "inaccessible");
	add();
	CHECK(paths(2));
	rig.subsystem.removeNamespace(2);
	CHECK(paths(1));
	CHECK_FALSE(exists(disk));
	rig.port.setAnaState(2, "optimized");
	add();
	CHECK(rig.host.disk(2) == disk);
}

TEST_CASE("two controllers connected at the same time give disks the lowest names", "[namespace][names]")
{
	Multi rig({.lanes = 2, .namespaces = {16 * mib, 16 * mib}});
	for (unsigned round = 0; round < 10; round++) {
		INFO("round " << round);
		std::vector<nvmeof::ConnectOptions> all{rig.options(0), rig.options(1)};
		for (auto &o : all) { // a new subsystem each time
			o.hostnqn = "nqn.2024-01.io.nvmeof:names" + std::to_string(round);
			o.hostid = nvmeof::Uuid::parse("12345678-9abc-4def-8123-45678900000" + std::to_string(round));
		}
		for (auto &c : rig.host.client().connectAll(all, nvmeof::WaitFor::namespaces, scaled(30s)))
			take(c);
		for (std::uint32_t nsid : {1, 2}) {
			auto disk = rig.disk(nsid);
			CHECK((disk.ends_with("n1") || disk.ends_with("n2")));
		}
		rig.host.disconnectAll();
	}
}

TEST_CASE("the latest max_namespaces old names are remembered", "[namespace][names]")
{
	Rig rig;
	rig.connect();
	Loop second(32 * mib);
	ModuleParameter max("max_namespaces", "2");
	// Name of a namespace that exists only briefly
	auto once = [&](std::uint32_t nsid) {
		rig.subsystem.addNamespace(nsid, second.device());
		auto disk = rig.host.disk(nsid);
		CHECK_FALSE(disk.empty());
		rig.subsystem.removeNamespace(nsid);
		CHECK(eventually([&] { return !exists(disk); }));
		return disk;
	};
	auto two = once(2), three = once(3), four = once(4);
	CHECK(two != three);
	CHECK(three != four);
	// the oldest name is forgotten; its number, the lowest free one, goes to another namespace
	CHECK(once(5) == two);
	CHECK(once(4) == four);
	CHECK(once(2) != two);
}

TEST_CASE("a namespace that grows sends an event, keeps its data and has its new size", "[namespace][aer][short]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	Disk open(disk);
	REQUIRE(open.verified(0, 65536, 7) == 0);
	Watch watch;
	rig.backing.resize(128 * mib);
	rig.subsystem.revalidate(1);
	auto changed = watch.find(namespaceEvent(EventType::changed, 1));
	REQUIRE(changed);
	CHECK(changed->nameSpace()->size == 128 * mib);
	CHECK(eventually([&] { return sysfsSize(disk) == 128 * mib; }));
	CHECK(open.verified(100 * mib, 65536, 8) == 0);
	Buffer old(65536);
	REQUIRE(open.read(0, old) == 0);
	CHECK(old.holds(7));
}

TEST_CASE("I/O beyond the end of a shrunk namespace fails", "[namespace][aer]")
{
	Rig rig;
	rig.connect();
	auto disk = rig.disk();
	rig.backing.resize(16 * mib);
	rig.subsystem.revalidate(1);
	REQUIRE(eventually([&] { return sysfsSize(disk) == 16 * mib; }));
	Disk open(disk);
	CHECK(open.verified(8 * mib, 4096, 1) == 0);
	CHECK(open.verified(32 * mib, 4096, 1) != 0);
}

TEST_CASE("a manual rescan finds all namespaces", "[namespace]")
{
	Rig rig;
	auto c = rig.connect();
	CHECK(rig.host.client().rescan(c.name).ok());
	CHECK(take(rig.host.client().namespaces()).size() == 1);
	CHECK(run("nvmeofctl rescan -d " + c.name).status == 0);
}

TEST_CASE("many namespaces with sparse NSIDs work", "[namespace]")
{
	Rig rig;
	std::vector<std::unique_ptr<Loop>> loops;
	const std::uint32_t ids[] = {2, 3, 17, 100, 1000};
	for (auto id : ids) {
		loops.push_back(std::make_unique<Loop>(4 * mib));
		rig.subsystem.addNamespace(id, loops.back()->device());
	}
	rig.connect();
	CHECK(take(rig.host.client().namespaces()).size() == 6);
	for (auto id : ids) {
		Disk d(rig.host.disk(id));
		CHECK(d.verified(0, 4096, id) == 0);
	}
	for (auto id : ids) { // each has its own data
		Disk d(rig.host.disk(id));
		Buffer b(4096);
		REQUIRE(d.read(0, b) == 0);
		CHECK(b.holds(id));
	}
	rig.host.disconnectAll();
}

TEST_CASE("UUID and NGUID are those that the target reports", "[namespace][identity]")
{
	Loop backing(16 * mib);
	nvmet::Subsystem subsystem(testNqn);
	nvmet::Port port(1, "127.0.0.1", 4420);
	subsystem.addNamespace(
		1, backing.device(),
		{.uuid = "12345678-9abc-4def-8123-456789abcdef", .nguid = "00112233-4455-6677-8899-aabbccddeeff"});
	port.link(subsystem);
	Host host;
	host.connect(Host::options("127.0.0.1", "4420"));
	auto n = host.nameSpace(1);
	REQUIRE(n);
	REQUIRE(n->uuid);
	CHECK(n->uuid->toString() == "12345678-9abc-4def-8123-456789abcdef");
	REQUIRE(n->nguid);
	CHECK((*n->nguid)[0] == 0x00);
	CHECK((*n->nguid)[15] == 0xff);
	CHECK(n->wwid == "uuid.12345678-9abc-4def-8123-456789abcdef");
	CHECK(readFile("/sys/block/" + n->name + "/wwid") == n->wwid);
	CHECK(readFile("/sys/block/" + n->name + "/uuid") == n->uuid->toString());
}

TEST_CASE("udev's stock rules create and remove links", "[namespace][udev][short]")
{
	must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon --resolve-names=never");
	Rig rig;
	auto o = rig.options();
	take(rig.host.client().connect(o, nvmeof::WaitFor::udev, scaled(30s)));
	auto link = "/dev/disk/by-id/nvme-uuid." + nvmet::Subsystem::uuidFor(1);
	REQUIRE(exists(link));
	CHECK(must("readlink -f " + link) == rig.disk() + "\n");
	rig.host.disconnectAll();
	must("udevadm settle");
	CHECK_FALSE(exists(link));
	run("udevadm control --exit");
}

TEST_CASE("a disk that is removed while it is open fails its I/O, and its last close frees it", "[namespace][trap19]")
{
	Rig rig;
	rig.connect();
	Disk open(rig.disk());
	REQUIRE(open.fd() >= 0);
	rig.host.disconnectAll();
	CHECK(take(rig.host.client().namespaces()).empty());
	Buffer b(4096);
	CHECK(open.read(0, b) < 0);
	CHECK(open.write(0, b) < 0);
	auto again = rig.connect(); // the old disk, still open, does not interfere
	Disk fresh(rig.disk());
	CHECK(fresh.verified(0, 4096, 3) == 0);
}

TEST_CASE("a namespace removed under load fails its I/O, and spares the others", "[namespace][trap19][short]")
{
	Rig rig;
	Loop second(64 * mib);
	rig.subsystem.addNamespace(2, second.device());
	auto c = rig.connect();
	FioLoad stays({.file = rig.host.disk(1), .size = "4m", .seconds = 60});
	FioLoad goes({.file = rig.host.disk(2), .verify = false, .seconds = 60});
	std::this_thread::sleep_for(1s);
	rig.subsystem.removeNamespace(2);
	auto lost = goes.wait(30s);
	CHECK(stays.running());
	auto kept = stays.finish(60s);
	CHECK_FALSE(lost.good());
	CHECK(lost.status >= 0);
	INFO(kept.text);
	CHECK(kept.good());
	CHECK(rig.host.state(c.name) == ControllerState::live);
}

// Before 6.2 the block layer can make del_gendisk() hang: see compat/dispatch.h. Depth 1 per job, because only
// unplugged requests take that path.
TEST_CASE("disks that share tags complete all requests, in any order", "[namespace][short][shared-tags]")
{
	Rig rig;
	Loop second(64 * mib);
	rig.subsystem.addNamespace(2, second.device());
	rig.connect();
	auto job = [&](std::uint32_t nsid) {
		return FioJob{.file = rig.host.disk(nsid),
			      .rw = "randread",
			      .depth = 1,
			      .engine = "psync",
			      .verify = false,
			      .seconds = 10,
			      .more = "--numjobs=4"};
	};
	FioLoad one(job(1)), other(job(2));
	CHECK(one.wait(60s).good());
	CHECK(other.wait(60s).good());
	Background command("nvmeofctl disconnect --all");
	CHECK(command.wait(scaled(20s)).status == 0);
}

} // namespace guest::namespaces
