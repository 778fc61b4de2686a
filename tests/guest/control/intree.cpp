// SPDX-License-Identifier: LGPL-2.1-or-later
// The in-tree driver beside ours, on the same target: which connect is refused, which disk has the links, and what is
// reported.
#include "support/block.h"
#include "support/intree.h"
#include "support/multi.h"
#include "support/netns.h"
#include "support/rig.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace guest::intree {

namespace {

constexpr int otherDriver = 9; // exit code of nvmeofctl

const std::string nqn = testNqn;
const std::string connectOurs = "nvmeofctl connect --wait udev -n " + nqn + " -a 127.0.0.1:4420";
const std::string rules = "/run/udev/rules.d/61-nvmeof-links.rules";

bool says(const Output &out, const std::string &words)
{
	INFO(out.text);
	CHECK(out.text.find(words) != std::string::npos);
	return out.text.find(words) != std::string::npos;
}

// udevd with the link rules of this project
class Udev {
public:
	Udev()
	{
		must("mkdir -p /run/udev/rules.d && cp /nvmeof/tests/61-nvmeof-links.rules " + rules);
		must("pidof systemd-udevd || pidof udevd || /usr/lib/systemd/systemd-udevd --daemon "
		     "--resolve-names=never");
		must("udevadm control --reload");
	}
	// Waits for udevd to exit: the next instance would otherwise find it running and start none.
	~Udev()
	{
		run("rm -f " + rules + "; udevadm control --exit");
		run("for i in $(seq 100); do pidof systemd-udevd udevd || break; sleep 0.1; done");
	}
	Udev(const Udev &) = delete;
	Udev &operator=(const Udev &) = delete;
};

// Name of the disk that a link points to; empty if there is no such link
std::string linked(const std::string &link)
{
	auto out = run("readlink /dev/disk/" + link);
	return out.status ? ""
			  : out.text.substr(out.text.rfind('/') + 1, out.text.find('\n') - out.text.rfind('/') - 1);
}

std::string byUuid(unsigned nsid = 1)
{
	return "by-id/nvme-uuid." + nvmet::Subsystem::uuidFor(nsid);
}

// All links that lead to a disk
std::string linksTo(const std::string &disk)
{
	return must("for link in /dev/disk/*/*; do [ \"$(readlink -f \"$link\")\" = /dev/" + disk +
		    " ] && echo \"$link\"; done; true");
}

std::string diskName(Rig &rig)
{
	return rig.disk().substr(5);
}

// A file system with a known UUID, mounted by UUID
class Mount {
public:
	explicit Mount(const std::string &disk)
	{
		must("mkfs.ext4 -q -F -U 01234567-0123-4123-8123-0123456789ab /dev/" + disk);
		REQUIRE(eventually([&] { return linked(link) == disk; }));
		again();
	}
	~Mount() { run("umount /mnt"); }
	Mount(const Mount &) = delete;
	Mount &operator=(const Mount &) = delete;

	void again() // as at the next boot, or a restart of a service
	{
		run("umount /mnt");
		must("mount /dev/disk/" + link + " /mnt");
	}
	std::string from() { return must("awk '$2 == \"/mnt\" { print $1 }' /proc/mounts"); }

	static inline const std::string link = "by-uuid/01234567-0123-4123-8123-0123456789ab";
};

} // namespace

TEST_CASE("links and mount of our disk stay when the in-tree driver connects later", "[intree][links]")
{
	Udev udev;
	Rig rig;
	must(connectOurs);
	std::string ours = diskName(rig);
	Mount mount(ours);
	settle();
	std::string before = linksTo(ours);
	CHECK(before.find("/dev/disk/" + byUuid()) != std::string::npos);
	{
		InTree other;
		std::string theirs = other.disk();
		REQUIRE(theirs != ours);
		CHECK(linksTo(ours) == before);
		// The other disk has no by-id link at all, not even one common to the namespaces of the subsystem.
		CHECK(run("ls -l /dev/disk/by-id | grep 'nvme-.*/" + theirs + "$'").status != 0);
		// A uevent of either disk changes nothing.
		must("udevadm trigger --settle /sys/block/" + theirs + " /sys/block/" + ours);
		CHECK(linksTo(ours) == before);
		mount.again();
		CHECK(mount.from() == "/dev/" + ours + "\n");
		must("echo good > /mnt/file && sync");

		auto listed = run("nvmeofctl list");
		CHECK(listed.status == 0);
		says(listed,
		     "/dev/" + ours + ": warning: the in-tree NVMe driver has the same namespace as /dev/" + theirs);
		auto json = nlohmann::json::parse(must("nvmeofctl list --json 2>/dev/null"));
		CHECK(json["other_driver"][ours] == nlohmann::json::array({"/dev/" + theirs}));

		// Another path of ours adds no disk: it causes a warning and is not refused.
		nvmet::Port second(2, "127.0.0.1", 4421);
		second.link(rig.subsystem);
		auto further = run("nvmeofctl connect -n " + nqn + " -a 127.0.0.1:4421");
		CHECK(further.status == 0);
		says(further, "warning: the in-tree NVMe driver is connected to " + nqn + ": " + other.controller());
		CHECK(take(rig.host.client().controllers()).size() == 2);
		must("nvmeofctl disconnect -d " + take(rig.host.client().controllers()).back().name);
	}
	CHECK(linksTo(ours) == before);
	CHECK(run("nvmeofctl list").text.find("warning") == std::string::npos);
}

TEST_CASE("after the in-tree driver our connect is refused, or its disk has no links", "[intree][links]")
{
	Udev udev;
	Rig rig;
	InTree other;
	std::string theirs = other.disk();
	Mount mount(theirs);
	settle();
	std::string before = linksTo(theirs);

	Stopwatch watch;
	auto refused = run(connectOurs);
	CHECK(watch.elapsed() < scaled(5s));
	CHECK(refused.status == otherDriver);
	says(refused, "the in-tree NVMe driver is connected to " + nqn + ": " + other.controller() + " (tcp, live)");
	says(refused, "'nvme disconnect -n " + nqn + "'");
	says(refused, "--force");
	CHECK(take(rig.host.client().controllers()).empty());
	auto json = nlohmann::json::parse(run(connectOurs + " --json 2>/dev/null").text);
	CHECK(json["error"]["code"] == "other_driver");

	// Discovery controllers have no disks and are not refused.
	CHECK(run("nvmeofctl discover -a 127.0.0.1:4420").status == 0);
	CHECK(run("nvmeofctl connect --wait ctrl -a 127.0.0.1:4420 -n " + std::string(nvmeof::discoveryNqn)).status ==
	      0);
	must("nvmeofctl disconnect --all");

	auto forced = run(connectOurs + " --force");
	CHECK(forced.status == 0);
	std::string ours = diskName(rig);
	says(forced, "/dev/" + ours + ": warning: the in-tree NVMe driver has the same namespace as /dev/" + theirs);
	settle();
	CHECK(linksTo(theirs) == before);
	must("udevadm trigger --settle /sys/block/" + ours + " /sys/block/" + theirs);
	CHECK(linksTo(theirs) == before);
	mount.again();
	CHECK(mount.from() == "/dev/" + theirs + "\n");
	must("umount /mnt");

	// Without the in-tree disk ours gets the links, and keeps them when the other returns.
	other.disconnect();
	CHECK(eventually([&] { return linked(byUuid()) == ours && linked(Mount::link) == ours; }));
	std::string inherited = linksTo(ours);
	other.connect();
	CHECK(linksTo(ours) == inherited);
	must("udevadm trigger --settle /sys/block/" + ours + " /sys/block/" + other.disk());
	CHECK(linksTo(ours) == inherited);
}

TEST_CASE("nodes have links that nvme-cli 3.0 opens as well", "[intree][links]")
{
	Udev udev;
	Rig rig;
	must(connectOurs);
	settle();
	std::string ours = diskName(rig), controller = take(rig.host.client().controllers()).at(0).name;
	unsigned number = 0, nsid = 0, id = 0;
	REQUIRE(std::sscanf(ours.c_str(), "nvmeof%un%u", &number, &nsid) == 2);
	REQUIRE(std::sscanf(controller.c_str(), "nvmeof%*uc%u", &id) == 1);
	auto base = std::to_string(100'000'000 + 10'000 * number), namespaces = "n" + std::to_string(nsid);
	auto disk = "/dev/nvme" + base + namespaces, generic = "/dev/ng" + base + namespaces,
	     node = "/dev/nvme" + std::to_string(100'000'000 + 10'000 * number + id);
	CHECK(must("readlink " + disk) == ours + "\n");
	CHECK(must("readlink " + generic) == "ng" + ours + "\n");
	CHECK(must("readlink " + node) == controller + "\n");
	// nvme-cli opens the last component of the name in /dev, and checks its type.
	CHECK(run("test -b " + disk + " -a -c " + generic + " -a -c " + node).status == 0);
	for (auto &command : {"id-ctrl " + node, "id-ns " + disk, "id-ns " + generic, "smart-log " + node}) {
		auto out = run("nvme " + command);
		INFO(command << "\n" << out.text);
		CHECK(out.status == 0);
	}
	// The links survive uevents.
	must("udevadm trigger --settle /sys/block/" + ours + " /sys/class/nvmeof/" + controller);
	CHECK(must("readlink " + disk) == ours + "\n");
	CHECK(must("readlink " + node) == controller + "\n");
	must("nvmeofctl disconnect --all");
	settle();
	CHECK(eventually([] { return run("ls /dev | grep -E '^n(vme|g)1000'").status != 0; }));
}

TEST_CASE("of two of our disks with one identifier the first keeps its links", "[intree][links]")
{
	Udev udev;
	Rig rig;
	ModuleParameter allowed("duplicate_ids", "1");
	must(connectOurs);
	std::string first = diskName(rig);
	Mount mount(first);
	settle();
	std::string before = linksTo(first);
	const std::string snapshot = nqn + "-snapshot";
	nvmet::Subsystem copy(snapshot);
	Loop backing(16 << 20);
	must("umount /mnt; dd if=" + rig.backing.device() + " of=" + backing.device() + " bs=1M status=none; sync");
	copy.addNamespace(1, backing.device(), {.uuid = nvmet::Subsystem::uuidFor(1)});
	rig.port.link(copy);
	must("nvmeofctl connect --wait udev -n " + snapshot + " -a 127.0.0.1:4420");
	settle();
	CHECK(linksTo(first) == before);
	mount.again();
	CHECK(mount.from() == "/dev/" + first + "\n");
	must("umount /mnt; nvmeofctl disconnect -n " + snapshot);
	rig.port.unlink(copy);
}

TEST_CASE("links of partitions follow those of their disks", "[intree][links]")
{
	Udev udev;
	Rig rig;
	must(connectOurs);
	std::string ours = diskName(rig);
	// a partition of 8 MiB from sector 2048
	must("printf '\\000\\000\\000\\000\\203\\000\\000\\000\\000\\010\\000\\000\\000\\100\\000\\000' > /tmp/entry; "
	     "printf '\\125\\252' > /tmp/magic; dd if=/tmp/entry of=/dev/" +
	     ours +
	     " bs=1 seek=446 conv=notrunc; "
	     "dd if=/tmp/magic of=/dev/" +
	     ours + " bs=1 seek=510 conv=notrunc; sync; blockdev --rereadpt /dev/" + ours);
	std::string part = ours + "p1";
	REQUIRE(eventually([&] { return exists("/dev/" + part); }));
	settle();
	CHECK(linked(byUuid() + "-part1") == part);
	must("mkfs.ext4 -q -F -U 01234567-0123-4123-8123-0123456789ab /dev/" + part);
	CHECK(eventually([&] { return linked(Mount::link) == part; }));
	settle();
	std::string before = linksTo(part);
	CHECK(before.find("-part1") != std::string::npos);
	InTree other;
	REQUIRE(eventually([&] { return exists("/dev/" + other.disk() + "p1"); }));
	settle();
	CHECK(linksTo(part) == before);
	must("wipefs -qa /dev/" + ours);
}

TEST_CASE("the same namespace under another NQN is connected with a warning", "[intree]")
{
	Udev udev;
	Rig rig;
	const std::string twin = nqn + "-twin";
	nvmet::Subsystem same(twin);
	same.addNamespace(1, rig.backing.device(), {.uuid = nvmet::Subsystem::uuidFor(1)});
	rig.port.link(same);
	InTree other("127.0.0.1", twin);
	auto out = run(connectOurs);
	CHECK(out.status == 0);
	says(out, "warning: the in-tree NVMe driver has the same namespace as /dev/" + other.disk());
	settle();
	CHECK(linked(byUuid()) == other.disk());
	must("nvmeofctl disconnect --all");
	auto json = nlohmann::json::parse(must(connectOurs + " --json 2>/dev/null"));
	CHECK(json["other_driver"][diskName(rig)] == nlohmann::json::array({"/dev/" + other.disk()}));
	rig.host.disconnectAll();
	other.disconnect();
	rig.port.unlink(same);
}

TEST_CASE("an in-tree controller whose target is silent delays no command", "[intree]")
{
	Multi multi({.lanes = 1});
	InTree other(multi.lane(0).address());
	Background reader("exec dd if=/dev/" + other.disk() + " of=/dev/null bs=64k iflag=direct");
	multi.lane(0).link().impair("loss 100%");
	REQUIRE(eventually([&] { return other.state() != "live"; }, 30s));
	Stopwatch watch;
	CHECK(run("nvmeofctl connect -n " + nqn + " -a " + multi.lane(0).address()).status == otherDriver);
	CHECK(run("nvmeofctl list").status == 0);
	CHECK(watch.elapsed() < scaled(3s));
	multi.lane(0).link().repair();
	CHECK(eventually([&] { return other.state() == "live"; }, 30s));
	reader.stop();
}

TEST_CASE("a subsystem with several namespaces has no link that fits all of them", "[intree][links]")
{
	Udev udev;
	Loop one(16 << 20), two(16 << 20), three(16 << 20);
	nvmet::Subsystem subsystem(nqn);
	nvmet::Port port(1, "127.0.0.1", 4420);
	subsystem.addNamespace(1, one.device());
	subsystem.addNamespace(2, two.device());
	subsystem.addNamespace(12, three.device());
	port.link(subsystem);
	Host host;
	must(connectOurs);
	settle();
	auto all = take(host.client().subsystems()).at(0);
	std::string model = all.model, serial = all.serial;
	std::replace(model.begin(), model.end(), ' ', '_');
	std::string common = "by-id/nvme-" + model + "_" + serial;
	CHECK(linked(common).empty());
	for (unsigned nsid : {1u, 2u, 12u}) {
		std::string disk = host.disk(nsid).substr(5);
		CHECK(linked(common + "_" + std::to_string(nsid)) == disk);
		CHECK(linked(byUuid(nsid)) == disk);
		CHECK(linksTo(disk).find("/dev/disk/by-diskseq/") != std::string::npos);
		CHECK(must("udevadm info -q property -n /dev/" + disk)
			      .find("ID_SERIAL=" + model + "_" + serial + "_") != std::string::npos);
	}
}

TEST_CASE("nvme-cli lists the in-tree devices, and opens ours by name", "[intree][nvme-cli]")
{
	Udev udev;
	Rig rig;
	InTree other;
	must(connectOurs + " --force");
	auto c = take(rig.host.client().controllers()).at(0);
	auto listed = must("nvme list");
	CHECK(listed.find("/dev/" + other.disk()) != std::string::npos);
	must("nvme list-subsys");
	must("nvme list -o json");
	must("nvme id-ctrl /dev/" + other.controller());
	CHECK(must("nvme id-ctrl /dev/" + c.name).find(nqn) != std::string::npos);
	must("nvme id-ns " + rig.disk());
	CHECK(must("nvmeofctl list").find("/dev/" + diskName(rig)) != std::string::npos);
}

// Time of reads of 128 KiB, one at a time
Millis readTime(const std::string &path)
{
	Disk disk(path);
	Buffer data(128 << 10);
	REQUIRE(disk.read(0, data) == 0);
	Stopwatch time;
	for (unsigned i = 1; i <= 200; ++i)
		REQUIRE(disk.read(std::uint64_t(i) * data.size(), data) == 0);
	return time.elapsed();
}

TEST_CASE("a target with a small congestion window is not slower than under the in-tree driver", "[intree][window]")
{
	Netns netns("tgt");
	Link link(netns, "v", 6);
	// packets in flight beyond which the link drops them, and the target reduces its window
	unsigned packets = GENERATE(4, 16);
	link.impairToHost("delay 1ms limit " + std::to_string(packets));
	Rig rig({.address = link.targetAddress(), .netns = "tgt"});
	Millis theirs{}, ours{};
	{
		InTree other(link.targetAddress());
		theirs = readTime("/dev/" + other.disk());
	}
	rig.connect();
	ours = readTime(rig.disk());
	std::printf("# %u packets: %lld ms, in-tree %lld ms\n", packets, static_cast<long long>(ours.count()),
		    static_cast<long long>(theirs.count()));
	// a driver that holds 64 KiB without an acknowledgement takes 1.6 and 2.2 times as long
	CHECK(ours <= theirs * 13 / 10);
}

} // namespace guest::intree
