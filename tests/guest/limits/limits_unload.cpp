// SPDX-License-Identifier: LGPL-2.1-or-later
// Unloading without a disconnect, in each state of the controllers: the transport removes its controllers at once, and
// the core stays while a file of it is open. recovery has the cases with a disconnect.
#include "support/block.h"
#include "support/multi.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <unistd.h>

namespace guest::limits_unload {

using nvmeof::ControllerState;

namespace {

bool unloadCore()
{
	return eventually([] { return Host::unload().status == 0 || !Host::loaded(); }, 5s);
}

// Unloads the transport, which must not wait for the network. The core stays in use.
void unloadTransport(Host &host, Millis bound = 8s)
{
	host.forget();
	CHECK(run("rmmod nvmeof").status != 0);
	if (host.releaseLockdepReferences()) {
		CHECK(eventually([] { return run("rmmod nvmeof_" + transport()).status == 0; }, 20s));
		return;
	}
	Stopwatch watch;
	auto out = run("rmmod nvmeof_" + transport());
	INFO(out.text);
	CHECK(out.status == 0);
	CHECK(watch.elapsed() < scaled(bound));
	CHECK_FALSE(exists("/sys/module/nvmeof_" + transport()));
	CHECK(run("ls /sys/class/nvmeof/ | grep .").status != 0); // no controller is left
}

// Loads the modules again.
void reloadModules(Host &host)
{
	Host::load();
	host.reopen();
}

} // namespace

TEST_CASE("the transport is unloaded, in each state", "[limits][unload][trap24]")
{
	Multi rig({.lanes = 2});
	auto o = rig.options(0);
	auto load = [&] { return FioJob{.file = rig.disk(), .verify = false, .seconds = 60}; };
	SECTION("live and idle")
	{
		rig.connectAll();
		unloadTransport(rig.host);
	}
	SECTION("live, with I/O in flight on two paths")
	{
		rig.connectAll();
		rig.set("iopolicy=round-robin");
		FioLoad busy(load());
		REQUIRE(rig.waitForLoad());
		unloadTransport(rig.host);
		CHECK(busy.wait(20s).status > 0);
	}
	SECTION("connecting for the first time, to an address that says nothing")
	{
		if (notOverRdma("connecting for the first time, to an address that says nothing"))
			return;
		rig.lane(0).link().impair("loss 100%");
		take(rig.host.client().start(o));
		pause(300ms);
		unloadTransport(rig.host);
	}
	SECTION("connecting for the first time, while a program waits for it")
	{
		if (notOverRdma("connecting for the first time, while a program waits for it"))
			return;
		rig.lane(0).link().impair("loss 100%");
		Background waits("nvmeofctl connect -t " + transport() + " -n " + std::string(testNqn) + " -a " +
				 rig.lane(0).address() + ":4420 --timeout 30");
		REQUIRE(eventually([&] { return !take(rig.host.client().controllers()).empty(); }));
		unloadTransport(rig.host);
		auto out = waits.wait(10s);
		INFO(out.text);
		CHECK(out.status > 0);
		CHECK_FALSE(out.text.empty());
	}
	SECTION("reconnecting, with I/O that waits for the path")
	{
		auto name = rig.connect(0);
		FioLoad busy(load());
		REQUIRE(rig.waitForLoad());
		rig.lane(0).close();
		REQUIRE(rig.host.waitState(name, ControllerState::connecting));
		REQUIRE(eventually([&] { return rig.host.nameSpace(1)->waiting > 0; }));
		unloadTransport(rig.host);
		CHECK(busy.wait(20s).status > 0);
		rig.lane(0).open();
	}
	SECTION("reconnecting, in the middle of an attempt that nobody answers")
	{
		if (notOverRdma("reconnecting, in the middle of an attempt that nobody answers"))
			return;
		auto name = rig.connect(0);
		rig.lane(0).link().impair("loss 100%");
		CHECK(rig.host.client().reset(name).ok());
		REQUIRE(rig.host.waitState(name, ControllerState::connecting));
		pause(300ms);
		unloadTransport(rig.host);
	}
	SECTION("being deleted, with I/O that a silent target does not answer")
	{
		if (notOverRdma("being deleted, with I/O that a silent target does not answer"))
			return;
		auto name = rig.connect(0);
		FioLoad busy(load());
		REQUIRE(rig.waitForLoad());
		rig.lane(0).link().impair("loss 100%");
		pause(200ms);
		Background leaves("nvmeofctl disconnect --force -d " + name);
		REQUIRE(eventually([&] { return isEnding(rig.host.state(name)); }));
		unloadTransport(rig.host);
		CHECK(leaves.wait(10s).status == 0);
		CHECK(busy.wait(20s).status > 0);
	}
	SECTION("one live, one reconnecting, one connecting for the first time")
	{
		rig.connectAll();
		rig.lane(1).close();
		REQUIRE(rig.host.waitState(rig.name(1), ControllerState::connecting));
		take(rig.host.client().start(Host::options("203.0.113.1", "4420")));
		unloadTransport(rig.host);
		rig.lane(1).open();
	}
	SECTION("writes are held back for a controller that was lost")
	{
		if (notOverRdma("writes are held back for a controller that was lost"))
			return;
		rig.connectAll();
		rig.set("iopolicy=round-robin fencing=safe quiesce-tmo=1");
		FioLoad busy(load());
		REQUIRE(rig.waitForLoad());
		rig.lane(0).link().impair("loss 100%");
		REQUIRE(eventually([&] { return rig.host.nameSpace(1)->held > 0; }));
		// The order of the two deletions is undefined. The live controller is shut down normally: if its path
		// is the last one of the disk, it sends the held writes when the 10 s of their bound are over.
		unloadTransport(rig.host, 18s);
		CHECK(busy.wait(20s).status > 0);
	}
	SECTION("a disk of a lost controller lingers until the controller is deleted")
	{
		o.ctrlLoss = 1s;
		auto name = rig.host.connect(o).name;
		rig.set("delayed-removal-secs=600");
		auto disk = rig.disk();
		rig.lane(0).close();
		REQUIRE(rig.host.waitState(name, ControllerState::lost));
		REQUIRE(exists(disk));
		unloadTransport(rig.host);
		CHECK(eventually([&] { return !exists(disk); }));
		rig.lane(0).open();
	}
	SECTION("a disk lingers after its namespace is gone")
	{
		rig.host.connect(o);
		rig.set("delayed-removal-secs=600");
		auto disk = rig.disk();
		rig.subsystem().enable(1, false);
		REQUIRE(eventually([&] { return kernelLogHas(disk.substr(5) + " lost a path: the target no"); }));
		REQUIRE(exists(disk));
		unloadTransport(rig.host);
		CHECK(exists(disk)); // removed with the core
		rig.subsystem().enable(1, true);
	}
	rig.lane(0).repair();
	CHECK(unloadCore());
	reloadModules(rig.host);
	rig.connectAll();
	Disk disk(rig.disk());
	CHECK(disk.verified(0, 65536, 9) == 0);
}

TEST_CASE("the transport is unloaded again and again while others connect", "[limits][unload][trap24][race]")
{
	Rig rig;
	Background connects("while :; do nvmeofctl connect -t " + transport() + " -n " + std::string(testNqn) + " -a " +
			    here() + ":4420 --duplicate-connect --timeout 5; done");
	int gone = 0;
	for (int i = 0; i < 12; i++) {
		pause(Millis(150 + i * 17));
		Stopwatch watch;
		gone += run("rmmod nvmeof_" + transport()).status == 0; // busy only while a connect holds it
		CHECK(watch.elapsed() < scaled(8s));
	}
	connects.stop();
	INFO(gone << " of 12");
	CHECK(gone > 0);
	rig.host.disconnectAll();
	rig.host.forget();
	CHECK(unloadCore());
	reloadModules(rig.host);
}

TEST_CASE("the core module is not unloaded while a disk, a node or a mount is open", "[limits][unload][trap24]")
{
	Rig rig;
	auto c = rig.connect();
	auto disk = rig.disk();
	SECTION("a disk of controllers that were removed with their transport")
	{
		Disk open(disk);
		Buffer b(4096);
		unloadTransport(rig.host);
		CHECK(Host::unload().status != 0);
		CHECK(open.read(0, b) < 0);
		CHECK(open.write(0, b) < 0);
		CHECK(Host::unload().status != 0);
	}
	SECTION("a controller's node")
	{
		int fd = ::open(("/dev/" + c.name).c_str(), O_RDWR | O_CLOEXEC);
		REQUIRE(fd >= 0);
		unloadTransport(rig.host);
		CHECK(Host::unload().status != 0);
		::close(fd);
	}
	SECTION("a mounted file system: dirty data are written back, later writes fail")
	{
		must("mkfs.ext4 -q -F " + disk + " && mkdir -p /mnt && mount " + disk + " /mnt");
		must("head -c 2000000 /dev/urandom > /mnt/synced && md5sum < /mnt/synced > /tmp/sum && sync");
		must("head -c 2000000 /dev/urandom > /mnt/dirty && md5sum < /mnt/dirty >> /tmp/sum");
		unloadTransport(rig.host); // writes back while it is live
		CHECK(Host::unload().status != 0);
		CHECK(run("head -c 4096 /dev/zero > /mnt/late && sync -f /mnt/late").status != 0);
		must("umount /mnt");
		CHECK(unloadCore());
		reloadModules(rig.host);
		rig.connect();
		disk = rig.disk();
		auto check = run("fsck.ext4 -p " + disk); // 1: the journal was replayed
		INFO(check.text);
		CHECK(check.status <= 1);
		must("mount " + disk + " /mnt");
		CHECK(must("md5sum < /mnt/synced; md5sum < /mnt/dirty") == readFile("/tmp/sum") + "\n");
		must("umount /mnt");
		rig.host.disconnectAll();
		rig.host.forget();
	}
	CHECK(unloadCore());
	reloadModules(rig.host);
}

} // namespace guest::limits_unload
