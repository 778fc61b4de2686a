// SPDX-License-Identifier: LGPL-2.1-or-later
// GPU commands on a machine with two sockets, PCIe switches and an IOMMU (qemu/topology)
#include "control.h"
#include "support/host.h"
#include "support/loop.h"
#include "support/netns.h"
#include "support/nvmet.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>

namespace guest::topology {

using Json = nlohmann::json;

namespace {

const std::string devices = "/sys/bus/pci/devices/";

std::string text(const std::string &file)
{
	std::string line;
	std::getline(std::ifstream(file) >> std::ws, line);
	return line;
}

// PCI addresses with this vendor and device ID, sorted
std::vector<std::string> pci(const std::string &vendor, const std::string &device)
{
	std::vector<std::string> found;
	std::istringstream names(must("ls " + devices));
	for (std::string name; names >> name;)
		if (text(devices + name + "/vendor") == vendor && text(devices + name + "/device") == device)
			found.push_back(name);
	return found;
}

struct Machine {
	std::vector<std::string> gpus = pci("0x8086", "0x10d3"), cards;

	// Excludes the guest's own card, which is not behind a switch
	Machine()
	{
		for (const std::string &one : pci("0x1af4", "0x1041"))
			if (one >= "0000:20")
				cards.push_back(one);
		REQUIRE(gpus.size() == 4);
		REQUIRE(cards.size() == 4);
	}
	std::string group(const std::string &address) const
	{
		return must("basename $(readlink -f " + devices + address + "/iommu_group)").substr(0, 3);
	}
};

Json check(const Machine &place, const std::string &more = "")
{
	std::string command = "nvmeofctl gds check --json " + more;
	for (const std::string &gpu : place.gpus)
		command += " --gpu " + gpu;
	const Output out = run(command);
	INFO(out.text);
	REQUIRE((out.status == 0 || out.status == 1));
	return Json::parse(out.text.substr(out.text.find('{')));
}

const Json &pair(const Json &document, const std::string &gpu, const std::string &peer)
{
	for (const Json &one : document["pairs"])
		if (one["gpu"] == gpu && one["peer"] == peer)
			return one;
	throw std::runtime_error("no pair of " + gpu + " and " + peer);
}

std::string row(const Json &document, const std::string &gpu, const std::string &peer)
{
	return pair(document, gpu, peer)["row"];
}

// Changes the IOMMU domain type of a group, which is possible while no driver is bound to its devices.
void setType(const Machine &place, const std::string &address, const std::string &type)
{
	const std::string group = place.group(address).substr(0, place.group(address).find_first_not_of("0123456789"));
	must("for d in /sys/kernel/iommu_groups/" + group +
	     "/devices/*; do case $(readlink $d/driver) in */virtio-pci|*/nvme) "
	     "echo ${d##*/} > $d/driver/unbind;; esac; done; echo " +
	     type + " > /sys/kernel/iommu_groups/" + group + "/type");
}

} // namespace

TEST_CASE("reported distances match the machine", "[topology]")
{
	const Machine place;
	const Json document = check(place);
	const std::map<std::pair<int, int>, const char *> expected{{{0, 0}, "PIX"}, {{0, 1}, "PHB"}, {{1, 1}, "PXB"},
								   {{1, 0}, "PHB"}, {{2, 2}, "PIX"}, {{3, 3}, "PXB"},
								   {{0, 2}, "SYS"}, {{3, 0}, "SYS"}};
	for (const auto &[which, distance] : expected) {
		CAPTURE(which.first, which.second);
		CHECK(pair(document, place.gpus[static_cast<std::size_t>(which.first)],
			   place.cards[static_cast<std::size_t>(which.second)])["distance"] == distance);
	}
	CHECK(row(document, place.gpus[0], place.cards[2]) == "sockets");
	CHECK(row(document, place.gpus[0], place.cards[1]) == "root-complex-unknown"); // QEMU's is not in Linux's list
	CHECK(document["level"] == "fail");
}

TEST_CASE("each IOMMU mode is detected, and the suggested command turns ACS redirection off", "[topology]")
{
	const Machine place;
	const std::string gpu = place.gpus[1], card = place.cards[1];
	Json document = check(place);
	// Debian's default: lazy; Linux turns ACS on at the root ports, where the paths of gpu1 and nic1 meet
	CHECK(pair(document, gpu, card)["iommu"] == "lazy");
	CHECK(row(document, gpu, card) == "switch-acs-unknown-root");
	CHECK(row(document, place.gpus[0], place.cards[0]) == "switch-translated");
	const std::string bridge = pair(document, gpu, card)["acs_redirects"].at(0);
	std::string step;
	for (const Json &one : document["findings"])
		if (one["check"] == "acs" && one["subject"] == bridge)
			step = one["step"];
	INFO(step);
	REQUIRE(step.starts_with("setpci -s "));
	must(step.substr(0, step.find(',')));
	document = check(place);
	CHECK(pair(document, gpu, card)["acs_redirects"].empty());
	CHECK(row(document, gpu, card) == "switch-translated");
	setType(place, gpu, "DMA");
	CHECK(pair(check(place), gpu, card)["iommu"] == "strict");
	setType(place, gpu, "identity");
	document = check(place);
	CHECK(pair(document, gpu, card)["iommu"] == "passthrough");
	CHECK(row(document, gpu, card) == "switch");
	CHECK(pair(document, gpu, card)["level"] == "pass");
	must("setpci -s " + bridge + " ECAP_ACS+6.w=001d");
	CHECK(row(check(place), gpu, card) == "switch-acs-unknown-root");
	must("setpci -s " + bridge + " ECAP_ACS+6.w=0000");
	for (const std::string &one : place.cards)
		must("[ -e " + devices + one + "/driver ] || echo " + one + " > /sys/bus/pci/drivers/virtio-pci/bind");
}

TEST_CASE("a recording gives the same results as the machine", "[topology]")
{
	const Machine place;
	must("nvmeofctl gds record --output /run/machine.rec");
	const Json here = check(place), there = check(place, "--root /run/machine.rec");
	CHECK(here == there);
	must("rm -rf /run/copy; mkdir -p /run/copy/sys/bus/pci /run/copy/sys/devices; cp -r /sys/bus/pci/devices "
	     "/run/copy/sys/bus/pci/; "
	     "cp -r /sys/devices/pci* /run/copy/sys/devices/ 2>/dev/null; true");
	const Json copy = check(place, "--root /run/copy");
	for (const Json &one : here["pairs"])
		CHECK(pair(copy, one["gpu"], one["peer"])["distance"] == one["distance"]);
	CHECK(run("nvmeofctl gds check --root /run/nothing").status == noObject);
	must("echo 'nvmeof-recording 1\nq' > /run/broken.rec");
	CHECK(run("nvmeofctl map --root /run/broken.rec").status == usage);
}

TEST_CASE("the rail of a GPU is the card beside it, and connect uses it", "[topology]")
{
	const Machine place;
	must("modprobe virtio_net");
	auto interface = [&](std::size_t card) {
		const std::string of = must("ls -d " + devices + place.cards[card] + "/virtio*/net/*");
		return of.substr(of.rfind('/') + 1, of.find('\n') - of.rfind('/') - 1);
	};
	REQUIRE(eventually([&] { return run("ls -d " + devices + place.cards[3] + "/virtio*/net/*").status == 0; }));
	const std::string near = interface(0), far = interface(2), other = interface(1);
	Netns netns("beyond");
	must("ip link set " + far + " netns beyond");
	netns.run("ip addr add 10.90.0.2/24 dev " + far);
	netns.run("ip link set " + far + " up");
	must("ip addr add 10.90.0.1/24 dev " + near + "; ip link set " + near + " up; ip link set " + other + " up");
	Json map = Json::parse(
		must("nvmeofctl map --json --svg /run/map.svg --gpu " + place.gpus[0] + " --gpu " + place.gpus[1]));
	CHECK(map["rails"][0]["card"] == place.cards[0]);
	CHECK(map["rails"][0]["interface"] == near);
	CHECK(map["rails"][1]["card"] == place.cards[1]);
	CHECK(map["rails"][1]["distance"] == "PXB");
	CHECK(text("/run/map.svg").starts_with("<svg "));

	Loop disk(16 << 20);
	nvmet::Subsystem subsystem(testNqn);
	subsystem.addNamespace(1, disk.device());
	nvmet::Port port(1, "10.90.0.2", 4420, {.netns = "beyond", .inlineData = {}});
	port.link(subsystem);
	Host host;
	must("nvmeofctl connect -t tcp -n " + subsystem.nqn() + " -a 10.90.0.2 --rail " + place.gpus[0]);
	const auto all = take(host.client().controllers());
	REQUIRE(all.size() == 1);
	CHECK(all[0].hostIface == near);
	const std::string name = host.disk(1).substr(5);
	const Json document = check(place, "-d " + name);
	REQUIRE(document["cards"].size() == 1);
	CHECK(document["cards"][0] == place.cards[0]);
	const std::string told = run("nvmeofctl gds check --gpu " + place.gpus[0]).text;
	CHECK(namesIt(told, "TCP copies data with the CPU"));
	map = Json::parse(must("nvmeofctl map --json"));
	for (const Json &card : map["cards"])
		CHECK(card["paths"].size() == (card["address"] == place.cards[0] ? 1 : 0));
	CHECK(run("nvmeofctl connect -t tcp -n " + subsystem.nqn() + " -a 10.90.0.2 --rail 00:01.9").status ==
	      noObject);
	CHECK(run("nvmeofctl connect -t tcp -n " + subsystem.nqn() + " -a 10.90.0.2 --rail all").status ==
	      noObject); // no GPU
	host.disconnectAll();
	netns.run("ip link set " + far + " netns 1");
}

TEST_CASE("cufile.json is written only with --write, and the old file is kept", "[topology]")
{
	must("rm -f /run/cufile.json*; echo '{ // mine\n\"logging\": {\"level\": \"INFO\"} }' > /run/cufile.json");
	const std::string shown = must("nvmeofctl gds config --file /run/cufile.json");
	CHECK(namesIt(shown, "+        \"allow_compat_mode\": true"));
	CHECK(namesIt(shown, "gds check: fails for node: no NVIDIA GPU was found"));
	CHECK(namesIt(shown, "+        \"use_pci_p2pdma\": false"));
	CHECK(namesIt(must("cat /run/cufile.json"), "// mine"));
	const std::string written = must("nvmeofctl gds config --file /run/cufile.json --write");
	CHECK(namesIt(written, "was written"));
	const Json now = Json::parse(must("cat /run/cufile.json"));
	CHECK(now["logging"]["level"] == "INFO");
	CHECK(now["properties"]["allow_compat_mode"] == true);
	CHECK(namesIt(must("cat /run/cufile.json.before-nvmeof"), "// mine"));
	CHECK(namesIt(must("nvmeofctl gds config --file /run/cufile.json"), "needs no change"));
	must("echo '{\"properties\": {\"io_batchsize\": 0}}' > /run/cufile.json");
	const Output wrong = run("nvmeofctl gds config --file /run/cufile.json");
	CHECK(wrong.status == failed);
	CHECK(namesIt(wrong.text, "io_batchsize: out of range: 1 to 256"));
	must("echo '{' > /run/cufile.json");
	CHECK(run("nvmeofctl gds config --file /run/cufile.json --write").status == usage);
	CHECK(must("cat /run/cufile.json") == "{\n");
}

TEST_CASE("plan compares the requirements with the machine", "[topology]")
{
	const Output compared = run("nvmeofctl plan --json --compare --svg /run/plan.svg --parameters 10T");
	CHECK(compared.status == failed); // something is short
	const Json document = Json::parse(compared.text);
	auto of = [&](const std::string &name) {
		for (const Json &one : document["compared"])
			if (one["name"] == name)
				return one;
		throw std::runtime_error("no " + name);
	};
	CHECK(of("GPUs")["verdict"] == "short");
	CHECK(of("namespaces")["verdict"] == "short");
	CHECK(text("/run/plan.svg").starts_with("<svg "));
	CHECK(must("nvmeofctl plan --csv | head -1") == "group,name,value,unit,formula,verdict,source\r\n");
	CHECK(namesIt(must("nvmeofctl plan --hosts 100"), "measured in an emulator"));
	CHECK(run("nvmeofctl plan --io 7x").status == usage);
}

} // namespace guest::topology
