// SPDX-License-Identifier: LGPL-2.1-or-later
// Findings on fake machines, and the assignment of network cards to GPUs
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "machine.h"

#include "libctl/gpu/finding.h"
#include "libctl/gpu/nvidia_fs.h"
#include "libctl/gpu/rails.h"
#include "libctl/gpu/recording.h"
#include "libctl/gpu/tree.h"

using namespace nofctl::gpu;

namespace {

// The findings that are not good, as "FAIL peers switch-acs"
std::multiset<std::string> complaints(const Findings &findings)
{
	std::multiset<std::string> found;
	for (const Finding &one : findings) {
		CHECK_FALSE(one.what.empty());
		if (one.level != Level::pass) {
			found.insert(std::string(toString(one.level)) + " " + one.check + " " + one.row);
			CHECK_FALSE(one.step.empty());
		}
	}
	return found;
}

std::multiset<std::string> complaints(const Machine &machine, const CheckRequest &question = {})
{
	const Node node = machine.node();
	return complaints(check(node, question).findings);
}

using Set = std::multiset<std::string>;

// A question about a GPU that has a near card
const CheckRequest near{{"0000:07:00.0"}, {}};

// DGX A100 with a disk over one of its cards
Machine withDisk(const char *transport = "rdma")
{
	Machine machine = dgxA100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", transport, "traddr=10.0.0.1,trsvcid=4420,host_iface=ens0");
	return machine;
}

} // namespace

TEST_CASE("machines as shipped have no complaints", "[gpucheck]")
{
	CHECK(complaints(dgxA100()) == Set{});
	CHECK(complaints(hgxH100()) == Set{});
	CHECK(complaints(withDisk(), near) == Set{});
	CHECK(complaints(withDisk()).count("FAIL peers sockets") == 4); // the GPUs of the other socket
}

TEST_CASE("wrong slots and all other problems are reported", "[gpucheck]")
{
	CHECK(complaints(wrongSlots()) == Set{"FAIL peers sockets", "FAIL card card-rdma", "WARN card card-down",
					      "WARN link link", "WARN bar bar", "WARN ordering ordering",
					      "WARN iommu iommu"});
}

TEST_CASE("a virtual machine has its own problems", "[gpucheck]")
{
	CHECK(complaints(virtualMachine()) ==
	      Set{"FAIL peers root-complex-unknown", "FAIL kernel kernel-p2pdma", "FAIL card card-rdma"});
}

TEST_CASE("ACS is reported once for each bridge, with the command that clears it", "[gpucheck]")
{
	Machine machine;
	const std::string port = machine.device(machine.root("pci0000:00"), "0000:00:01.0", spec::rootPort(0));
	const std::string up = machine.device(port, "0000:01:00.0", spec::upstream());
	const std::string left = machine.device(up, "0000:02:00.0", spec::downstream(0x1d)),
			  right = machine.device(up, "0000:02:01.0", spec::downstream(0x1d));
	machine.device(left, "0000:03:00.0", spec::gpu(0));
	machine.rdma(machine.device(right, "0000:04:00.0", spec::card(0)), "mlx5_0");
	machine.rdma(machine.device(right, "0000:04:00.1", spec::card(0)), "mlx5_1");
	const Node node = machine.node();
	const CheckReport answer = check(node, {});
	CHECK(complaints(answer.findings) ==
	      Set{"FAIL acs acs-redirect", "FAIL acs acs-redirect", "FAIL peers switch-acs"});
	auto acs = std::ranges::find(answer.findings, "acs", &Finding::check);
	REQUIRE(acs != answer.findings.end());
	CHECK(acs->step.find("setpci -s 0000:02:00.0 ECAP_ACS+6.w=0000:002c") == 0);
	CHECK(answer.pairs.size() == 2);
	CHECK(answer.pairs[0].redirects.size() == 2);
}

TEST_CASE("each property of a device is checked", "[gpucheck]")
{
	struct Case {
		const char *what;
		void (*change)(DeviceSpec &gpu);
		Set found;
	};
	const Case cases[] = {
		{"as it should be", [](DeviceSpec &) {}, {}},
		{"narrow", [](DeviceSpec &gpu) { gpu.width = 8; }, {"WARN link link"}},
		{"no address for its memory", [](DeviceSpec &gpu) { gpu.bar = 0; }, {"FAIL bar bar"}},
		{"32 bits", [](DeviceSpec &gpu) { gpu.wideBar = false; }, {"WARN bar bar"}},
		{"not resized", [](DeviceSpec &gpu) { gpu.rebarMost = 17; }, {"WARN bar bar"}},
		{"resized", [](DeviceSpec &gpu) { gpu.rebarMost = 16; }, {}},
		{"payload too large", [](DeviceSpec &gpu) { gpu.payload = 512; }, {"FAIL payload payload"}},
		{"payload too small", [](DeviceSpec &gpu) { gpu.payload = 128; }, {"WARN payload payload"}},
		{"short reads", [](DeviceSpec &gpu) { gpu.readRequest = 128; }, {"WARN read-request read-request"}},
		{"hidden", [](DeviceSpec &gpu) { gpu.visible = 64; }, {"WARN config config"}},
		{"no node", [](DeviceSpec &gpu) { gpu.numa = -1; }, {"WARN numa numa"}},
		{"no driver", [](DeviceSpec &gpu) { gpu.driver = ""; }, {"FAIL driver driver-nvidia"}},
		{"amdgpu",
		 [](DeviceSpec &gpu) { gpu.vendor = 0x1002, gpu.driver = "vfio-pci"; },
		 {"FAIL driver driver-amdgpu"}},
	};
	for (const Case &one : cases) {
		CAPTURE(one.what);
		Machine machine;
		DeviceSpec port = spec::rootPort(1), gpu = spec::gpu(1);
		port.payloadMost = 256;
		one.change(gpu);
		const std::string root = machine.device(machine.root("pci0000:00"), "0000:00:01.0", port);
		machine.device(root, "0000:01:00.0", gpu);
		CHECK(complaints(machine) == one.found);
	}
}

TEST_CASE("disks are checked: paths, stacked devices, mounts", "[gpucheck]")
{
	CHECK(complaints(withDisk("tcp"), near) == Set{"FAIL path path-tcp"});
	Machine machine = withDisk();
	machine.interface("", "lo0");
	machine.path("nvmeof0n1", "nvmeof0c2", "rdma", "traddr=10.0.0.2,trsvcid=4420,host_iface=lo0");
	CHECK(complaints(machine, near) == Set{"FAIL path path-software"});

	Machine mounts = withDisk();
	mounts.file("/proc/self/mounts",
		    "/dev/nvmeof0n1 /a xfs rw,noatime 0 0\n/dev/nvmeof0n1p1 /b\\040c ext4 rw,data=journal 0 0\n"
		    "/dev/nvmeof0n1p2 /d btrfs rw 0 0\n/dev/sda1 / ext4 rw 0 0\nproc /proc proc rw 0 0\n");
	CHECK(complaints(mounts, near) == Set{"FAIL mount mount", "FAIL mount mount"});
	CHECK(mounts.node().mounts.size() == 3);
	CHECK(mounts.node().mounts[1].point == "/b c");

	// A partition belongs to its disk, whether or not the name of the disk ends in a digit.
	mounts.file("/sys/block/sda/size", "1\n");
	mounts.file("/sys/block/dm-0/dm/name", "data\n");
	mounts.file("/proc/self/mounts", "/dev/sda15 /boot vfat rw 0 0\n/dev/nvmeof0n1p12 /e xfs rw 0 0\n"
					 "/dev/sdb1 /f xfs rw 0 0\n/dev/mapper/data1 /g xfs rw 0 0\n"
					 "/dev/mapper/data /h xfs rw 0 0\n");
	const Node partitions = mounts.node();
	REQUIRE(partitions.mounts.size() == 3);
	CHECK(partitions.mounts[0].disk == "sda");
	CHECK(partitions.mounts[1].disk == "nvmeof0n1");
	CHECK(partitions.mounts[2].disk == "dm-0");

	Machine stacked = withDisk();
	stacked.file("/sys/block/dm-0/dm/name", "scratch\n");
	stacked.file("/sys/block/dm-0/slaves/nvmeof0n1/size", "1\n");
	stacked.file("/sys/block/dm-0/queue/logical_block_size", "512\n");
	CHECK(complaints(stacked, {near.gpus, {"/dev/mapper/scratch"}}) == Set{"FAIL stack stacked"});
	const Node node = stacked.node();
	REQUIRE(node.disk("scratch"));
	CHECK(node.bottom(*node.disk("scratch")).front()->name == "nvmeof0n1");
}

TEST_CASE("an interface without carrier, down or missing is named", "[gpucheck]")
{
	MemoryTree tree;
	for (const char *name : {"up", "pulled", "off"})
		tree.file(std::string("/sys/class/net/") + name + "/flags",
			  name == std::string("off") ? "0x1002" : "0x1003");
	tree.file("/sys/class/net/up/carrier", "1\n");
	tree.file("/sys/class/net/pulled/carrier", "0\n");
	CHECK(interfaceTrouble(tree, "up") == "");
	CHECK(interfaceTrouble(tree, "pulled") == "pulled has no carrier");
	CHECK(interfaceTrouble(tree, "off") == "off is down");
	CHECK(interfaceTrouble(tree, "eth7") == "there is no interface eth7");
	CHECK(interfaceTrouble(tree, "") == "");
}

TEST_CASE("the interface of a path is found by its routes and addresses", "[gpucheck]")
{
	Machine machine = dgxA100();
	machine.route("ens0", "0000000A", "000000FF"); // 10.0.0.0/8
	machine.route("ens3", "0002000A", "00FFFFFF"); // 10.0.2.0/24
	machine.file("/proc/net/ipv6_route", "fd000000000000000000000000000000 10 0 00 0 00000000 0 0 00000001 ens5\n");
	machine.file("/proc/net/if_inet6", "fd000000000000000000000000000007 02 40 00 80 ens6\n");
	CHECK(interfaceTowards(machine.tree(), "10.9.0.1") == "ens0");
	CHECK(interfaceTowards(machine.tree(), "10.0.2.9") == "ens3");
	CHECK(interfaceTowards(machine.tree(), "fd00::1") == "ens5");
	CHECK(interfaceTowards(machine.tree(), "192.168.0.1") == "");
	CHECK(interfaceTowards(machine.tree(), "target.example") == "");
	CHECK(interfaceWith(machine.tree(), "fd00::7") == "ens6");
	CHECK(interfaceOf(machine.tree(), "", "", "10.9.0.1") == "ens0");
	CHECK(interfaceOf(machine.tree(), "", "fd00::7", "10.9.0.1") == "ens6");
	CHECK(interfaceOf(machine.tree(), "eth9", "fd00::7", "10.9.0.1") == "eth9");
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.2.9,trsvcid=4420");
	const Node node = machine.node();
	const DiskPath &path = node.disks.at("nvmeof0n1").paths.at(0);
	CHECK(path.interface == "ens3");
	CHECK(path.pci == "0000:54:00.0");
	CHECK(path.rdmaHardware);
	const CheckReport answer = check(node, {});
	REQUIRE(answer.cards.size() == 1);
	CHECK(answer.cards[0]->address == "0000:54:00.0");
	CHECK(usesOf(node, *answer.cards[0]).size() == 1);
}

TEST_CASE("each GPU gets its nearest card, shared evenly if there are fewer cards", "[rails]")
{
	for (const Machine &machine : {dgxA100(), hgxH100()}) {
		const Node node = machine.node();
		const std::vector<Rail> rails = planRails(node, node.pci.of(Kind::gpu), railCards(node));
		std::set<const PciDevice *> cards;
		REQUIRE(rails.size() == 8);
		for (const Rail &rail : rails) {
			CHECK(rail.pair.state.distance <= Distance::pxb);
			CHECK(cards.insert(rail.card).second);
			CHECK_FALSE(rail.interface.empty());
		}
	}
	// two cards for eight GPUs: four each
	const Node node = hgxH100().node();
	const std::vector<const PciDevice *> two{node.pci.find("0000:19:00.0"), node.pci.find("0000:9b:00.0")};
	const std::vector<Rail> rails = planRails(node, node.pci.of(Kind::gpu), two);
	CHECK(std::ranges::count(rails, two[0], &Rail::card) == 4);
	CHECK(planRails(node, node.pci.of(Kind::gpu), {}).empty());
}

TEST_CASE("interfaces are selected for connect --rail and for configured rails", "[rails]")
{
	const Machine machine = hgxH100();
	const Node node = machine.node();
	CHECK(railInterfaces(node, "all")->size() == 8);
	CHECK(*railInterfaces(node, "29:00.0") == std::vector<std::string>{"ibp1"});
	CHECK(railInterfaces(node, "0000:01:00.0").error().code == nvmeof::ErrorCode::noSuchObject);
	CHECK_FALSE(railInterfaces(node, "x"));
	CHECK_FALSE(railInterfaces(wrongSlots().node(), "all")); // its card is down

	nvmeof::Config config;
	config.connections.resize(2);
	config.connections[0].rail = "all";
	config.connections[0].nqn = "nqn.a";
	CHECK(spreadOverRails(config, machine.tree()).empty());
	REQUIRE(config.connections.size() == 9);
	CHECK(config.connections[7].hostIface == "ibp7");
	CHECK(config.connections[7].nqn == "nqn.a");
	CHECK(config.connections[8].hostIface == "");
	config.connections.resize(1);
	config.connections[0].rail = "0000:01:00.0";
	CHECK(spreadOverRails(config, machine.tree()).size() == 1);
	CHECK(config.connections.size() == 1);
	CHECK(config.connections[0].hostIface == "");
}

TEST_CASE("a card that connections use keeps its rail when its link is down", "[rails]")
{
	Node node = hgxH100().node();
	node.interfaces["ibp1"].state = "down";
	CHECK(railInterfaces(node, "all")->size() == 7);
	const std::vector<std::string> all = *railInterfaces(node, "all", {"ibp1"});
	CHECK(all.size() == 8);
	CHECK(*railInterfaces(node, "29:00.0", {"ibp1"}) == std::vector<std::string>{"ibp1"});
	for (auto &[name, interface] : node.interfaces)
		interface.state = "down";
	CHECK_FALSE(railInterfaces(node, "all"));
	CHECK(*railInterfaces(node, "all", std::set(all.begin(), all.end())) == all);
}

TEST_CASE("a rail stays as it was while the driver of a card that connections use is reloaded", "[rails]")
{
	const Machine machine = hgxH100();
	auto without = [&](const std::string &folder) {
		MemoryTree tree;
		for (const auto &[path, content] : machine.tree().files())
			if (path.find(folder) == path.npos)
				tree.file(path, content);
		for (const auto &[path, target] : machine.tree().links())
			if (path.find(folder) == path.npos)
				tree.link(path, target);
		for (const std::string &path : machine.tree().names())
			tree.name(path);
		return tree;
	};
	SpreadRails rails;
	auto interfaces = [&](const std::string &rail, const Tree &tree, const std::set<std::string> &used) {
		nvmeof::Config config;
		config.connections.resize(1);
		config.connections[0].rail = rail;
		CHECK(spreadOverRails(config, tree, used, &rails).empty());
		std::vector<std::string> names;
		for (const nvmeof::ConfigTarget &one : config.connections)
			names.push_back(one.hostIface);
		return names;
	};
	const std::string rail = GENERATE("29:00.0", "all");
	const MemoryTree reloading = without(GENERATE("/net/ibp1", "/infiniband/mlx5_1"));
	const std::vector<std::string> all = interfaces(rail, machine.tree(), {});
	REQUIRE(std::ranges::find(all, "ibp1") != all.end());
	const std::set<std::string> used(all.begin(), all.end());
	CHECK(interfaces(rail, reloading, used) == all);
	CHECK(interfaces(rail, reloading, used) == all); // for as long as it takes
	CHECK(interfaces(rail, machine.tree(), used) == all);
	SECTION("unless nothing uses it")
	{
		CHECK(interfaces(rail, reloading, {"ibp0"}) != all);
	}
	SECTION("until the configuration is read")
	{
		rails.clear();
		CHECK(interfaces(rail, reloading, used) != all);
	}
	CHECK(interfaces(rail, machine.tree(), {}) == all);
}

TEST_CASE("errors and idle operation are found in the statistics of nvidia-fs", "[gpucheck]")
{
	const char *stats =
		"GDS Version: 1.7.0\nNVFS statistics(ver: 4.0)\nReads\t\t\t\t: err=1 n=12 ok=11 io_state_err=0\n"
		"Writes\t\t\t\t: err=0 n=7 ok=7\nBar1-map\t\t\t: n=2 ok=2 err=3 free=2 callbacks=0 active=0\n";
	const NvidiaFs found = parseNvidiaFs(stats);
	CHECK(found.reads == 12);
	CHECK(found.writes == 7);
	CHECK(found.readErrors == 1);
	CHECK(found.mapErrors == 3);
	Findings findings;
	checkNvidiaFs(findings, stats);
	checkNvidiaFs(findings, "Reads : err=0 n=0\nWrites : err=0 n=0\n");
	checkNvidiaFs(findings, "Reads : err=0 n=5\n");
	CHECK(complaints(findings) == Set{"WARN nvidia-fs nvidia-fs-errors", "WARN nvidia-fs nvidia-fs-idle"});
}

TEST_CASE("a recording has all data that was read, and gives the same findings", "[recording]")
{
	for (const Machine &machine : {dgxA100(), wrongSlots(), withDisk()}) {
		const RecordingTree keeping(machine.tree());
		const Node direct = readNode(keeping);
		const std::string text = formatRecording(keeping.kept());
		nvmeof::Result<MemoryTree> again = parseRecording(text);
		REQUIRE(again);
		CHECK(formatRecording(*again) == text);
		const Node replayed = readNode(*again);
		const CheckReport a = check(direct, {}), b = check(replayed, {});
		REQUIRE(a.findings.size() == b.findings.size());
		for (std::size_t i = 0; i < a.findings.size(); i++)
			CHECK(a.findings[i].subject + a.findings[i].what == b.findings[i].subject + b.findings[i].what);
	}
}

TEST_CASE("an invalid recording is refused with its line", "[recording]")
{
	for (const char *wrong :
	     {"", "x", "nvmeof-recording 1\nf", "nvmeof-recording 1\nf a b", "nvmeof-recording 1\nq /a b",
	      "nvmeof-recording 1\nb /a 4 0:zz", "nvmeof-recording 1\nb /a 4 0:0011223344", "nvmeof-recording 1\nl /a",
	      "nvmeof-recording 1\nf /a \\x4", "nvmeof-recording 1\nb /a 99999999 "}) {
		CAPTURE(wrong);
		CHECK_FALSE(parseRecording(wrong));
	}
	CHECK(parseRecording("nvmeof-recording 1\n\nf /a b\n?").error().message.find("line 4") != std::string::npos);
	nvmeof::Result<MemoryTree> tree =
		parseRecording("nvmeof-recording 1\nf /a\\x20b c\\n\nb /c 20 10:ff\nl /d/e ../f\nn /g/h\n");
	REQUIRE(tree);
	CHECK(tree->read("/a b") == "c\n");
	CHECK(tree->read("/c") == std::string(16, '\0') + "\xff" + std::string(3, '\0'));
	CHECK(tree->target("/d/e") == "/f");
	CHECK(tree->list("/g") == std::vector<std::string>{"h"});
	CHECK(tree->list("/") == std::vector<std::string>{"a b", "c", "d", "g"});
}
