// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <set>

#include "machine.h"

#include "libctl/gpu/finding.h"
#include "libctl/gpu/pci.h"

using namespace nofctl::gpu;

namespace {

Distance between(const Node &node, const char *a, const char *b)
{
	const PciDevice *first = node.pci.find(a), *second = node.pci.find(b);
	REQUIRE(first);
	REQUIRE(second);
	CHECK(distanceBetween(*first, *second) == distanceBetween(*second, *first));
	return distanceBetween(*first, *second);
}

} // namespace

TEST_CASE("configuration space is decoded", "[pci]")
{
	DeviceSpec spec = spec::downstream(Acs::requestRedirect | Acs::sourceValidation);
	spec.payload = 128;
	spec.payloadMost = 512;
	spec.readRequest = 4096;
	spec.speed = 3;
	spec.rebarMost = 17;
	const PciConfig config = parsePciConfig(configSpace(spec));
	CHECK(config.whole());
	CHECK(config.extended());
	CHECK(config.vendor == 0x1000);
	CHECK(config.classCode == 0x060400);
	CHECK(config.bridge);
	REQUIRE(config.express);
	CHECK(config.express->type == Express::Type::downstream);
	CHECK(config.express->payload == 128);
	CHECK(config.express->payloadMost == 512);
	CHECK(config.express->readRequest == 4096);
	CHECK(config.express->relaxedOrdering);
	CHECK(config.express->speed == 3);
	CHECK(config.express->speedMost == 4);
	CHECK(config.express->width == 16);
	REQUIRE(config.acs);
	CHECK(config.acs->offset == 0x100);
	CHECK(config.acs->on == 5);
	CHECK(config.acs->redirect());
	REQUIRE(config.resizable.size() == 1);
	CHECK(config.resizable[0].bar == 1);
	CHECK(config.resizable[0].max == 128ull << 30);
}

TEST_CASE("truncated or looping capability lists end", "[pci]")
{
	const std::string space = configSpace(spec::downstream(0x3f));
	for (std::size_t length = 0; length <= space.size(); length += length < 300 ? 1 : 97) {
		const PciConfig config = parsePciConfig(space.substr(0, length));
		CHECK(config.length == length);
		CHECK(config.acs.has_value() == (length >= 0x108));
		CHECK(config.express.has_value() == (length >= 0x54));
	}
	std::string loop = space;
	loop[0x41] = 0x40;                      // the capability is its own successor
	loop[0x103] = 0x10, loop[0x102] = 0x01; // so is the extended one
	CHECK(parsePciConfig(loop).express);
	std::string reserved = space;
	reserved[0x48] = static_cast<char>(0xe0); // a reserved payload size
	CHECK(parsePciConfig(reserved).express->payload == 128);
}

TEST_CASE("addresses of devices are parsed", "[pci]")
{
	CHECK(pciAddress("0000:07:00.0") == "0000:07:00.0");
	CHECK(pciAddress("07:00.0") == "0000:07:00.0");
	CHECK(pciAddress("10000:e1:1f.7") == "10000:e1:1f.7");
	for (const char *wrong : {"", "7:0.0", "0000:07:00", "x7:00.0", "0000:07:00.", "07-00.0", "../etc.0"})
		CHECK(pciAddress(wrong) == "");
}

TEST_CASE("DGX A100: each GPU has two cards behind its root port, and none nearer", "[pci]")
{
	const Node node = dgxA100().node();
	CHECK(node.pci.of(Kind::gpu).size() == 8);
	CHECK(node.pci.of(Kind::nic).size() == 8);
	CHECK(between(node, "0000:07:00.0", "0000:0c:00.0") == Distance::pxb);
	CHECK(between(node, "0000:07:00.0", "0000:12:00.0") == Distance::pxb);
	CHECK(between(node, "0000:07:00.0", "0000:0f:00.0") == Distance::pxb);
	CHECK(between(node, "0000:07:00.0", "0000:4b:00.0") == Distance::node);
	CHECK(between(node, "0000:07:00.0", "0000:8d:00.0") == Distance::sys);
	CHECK(meetingPoint(*node.pci.find("0000:07:00.0"), *node.pci.find("0000:0c:00.0")) == "0000:01:00.0");
	const PciDevice &card = *node.pci.find("0000:0c:00.0");
	CHECK(card.rdmas == std::vector<std::string>{"mlx5_0"});
	CHECK(card.nets == std::vector<std::string>{"ens0"});
	CHECK(card.socket == 0);
	CHECK(card.root == "pci0000:00");
	CHECK(card.above == std::vector<std::string>{"0000:02:04.0", "0000:01:00.0", "0000:00:01.1"});
	CHECK(node.pci.find("0000:07:00.0")->largestBar()->size == 1ull << 36);
}

TEST_CASE("HGX H100: each GPU shares a switch with one card", "[pci]")
{
	const Node node = hgxH100().node();
	CHECK(between(node, "0000:18:00.0", "0000:19:00.0") == Distance::pix);
	CHECK(between(node, "0000:18:00.0", "0000:2a:00.0") == Distance::node);
	CHECK(between(node, "0000:18:00.0", "0000:da:00.0") == Distance::sys);
	CHECK(throughHostBridge(node.pci, *node.pci.find("0000:18:00.0"), *node.pci.find("0000:2a:00.0")));
}

TEST_CASE("only known host bridges forward traffic between peers", "[pci]")
{
	const Node vm = virtualMachine().node(), amd = dgxA100().node();
	CHECK_FALSE(throughHostBridge(vm.pci, *vm.pci.find("0000:00:05.0"), *vm.pci.find("0000:00:06.0")));
	CHECK(between(vm, "0000:00:05.0", "0000:00:06.0") == Distance::phb);
	CHECK(throughHostBridge(amd.pci, *amd.pci.find("0000:07:00.0"), *amd.pci.find("0000:8d:00.0")));
	Machine old; // forwards within one root complex only
	const std::string a = old.root("pci0000:00"), b = old.root("pci0000:80");
	old.file("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\n");
	old.device(a, "0000:00:00.0", {.vendor = 0x8086, .device = 0x2f00, .classCode = 0x060000});
	old.device(b, "0000:80:00.0", {.vendor = 0x8086, .device = 0x2f01, .type = 4});
	old.device(a, "0000:00:05.0", spec::gpu(0));
	old.device(a, "0000:00:06.0", spec::card(0));
	old.device(b, "0000:80:06.0", spec::card(0));
	const Node node = old.node();
	CHECK(throughHostBridge(node.pci, *node.pci.find("0000:00:05.0"), *node.pci.find("0000:00:06.0")));
	CHECK_FALSE(throughHostBridge(node.pci, *node.pci.find("0000:00:05.0"), *node.pci.find("0000:80:06.0")));
}

TEST_CASE("an ACS redirect counts at the ports where Linux checks it", "[pci]")
{
	struct Case {
		unsigned left, top, right;
		std::vector<std::string> found;
	};
	// the port at which both paths meet counts once; ports above it do not count
	for (const Case &one : {Case{0, 0, 0, {}}, Case{4, 0, 0, {"0000:02:00.0"}}, Case{0, 0, 8, {"0000:02:01.0"}},
				Case{0x20, 0, 4, {"0000:02:00.0", "0000:02:01.0"}}, Case{0x53, 0x5d, 0x53, {}}}) {
		Machine machine;
		DeviceSpec port = spec::rootPort(0);
		port.acs = one.top;
		const std::string root = machine.device(machine.root("pci0000:00"), "0000:00:01.0", port);
		const std::string up = machine.device(root, "0000:01:00.0", spec::upstream());
		const std::string left = machine.device(up, "0000:02:00.0", spec::downstream(one.left));
		const std::string right = machine.device(up, "0000:02:01.0", spec::downstream(one.right));
		machine.device(left, "0000:03:00.0", spec::gpu(0));
		machine.device(right, "0000:04:00.0", spec::card(0));
		const Node node = machine.node();
		std::vector<std::string> found;
		for (const PciDevice *bridge :
		     redirectsBetween(node.pci, *node.pci.find("0000:03:00.0"), *node.pci.find("0000:04:00.0")))
			found.push_back(bridge->address);
		CHECK(found == one.found);
		CHECK(peerState(node.pci, *node.pci.find("0000:03:00.0"), *node.pci.find("0000:04:00.0")).redirect ==
		      !one.found.empty());
	}
}

TEST_CASE("every combination of states has a row in the table of peers, and every row is used", "[pci]")
{
	std::set<std::string> used, ids;
	for (Distance distance :
	     {Distance::same, Distance::pix, Distance::pxb, Distance::phb, Distance::node, Distance::sys})
		for (bool redirect : {false, true})
			for (Translation translation : {Translation::off, Translation::passthrough, Translation::lazy,
							Translation::strict, Translation::other})
				for (bool hostBridge : {false, true}) {
					const PeerRow &row = peerRow({distance, redirect, translation, hostBridge});
					used.insert(row.id);
					if (redirect && (distance == Distance::pix || distance == Distance::pxb))
						CHECK(row.p2pdma == Level::fail);
					if (distance == Distance::sys)
						CHECK(row.nvidiaFs == Level::fail);
				}
	for (const PeerRow &row : peerTable()) {
		CAPTURE(row.id);
		CHECK(ids.insert(row.id).second);
		CHECK(used.contains(row.id));
		CHECK(std::string(row.source) != "");
		CHECK(std::string(row.what) != "");
		CHECK((row.level(P2pMethod::p2pdma) == Level::pass && row.level(P2pMethod::nvidiaFs) == Level::pass) ==
		      (std::string(row.step) == ""));
	}
	CHECK(std::string(peerRow({Distance::pix, false, Translation::passthrough, false}).id) == "switch");
	CHECK(std::string(peerRow({Distance::pxb, false, Translation::strict, true}).id) == "switch-translated");
	CHECK(std::string(peerRow({Distance::phb, true, Translation::off, true}).id) == "root-complex");
}
