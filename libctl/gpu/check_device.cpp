// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of a single PCI device: link, payload size, ordering, BAR, NUMA node.
#include "finding.h"

#include <algorithm>

#include <fmt/format.h>

namespace nofctl::gpu {

namespace {

constexpr std::uint64_t mebibyte = 1 << 20, gibibyte = 1 << 30;
constexpr std::uint64_t smallBar = 256 * mebibyte; // BAR size of GPUs without Resizable BAR
constexpr unsigned smallRead = 512;                // bytes
constexpr const char *expressBase = "PCI Express Base 5.0, 7.5.3";
constexpr const char *barGuide = "NVIDIA GPUDirect Storage Design Guide, GPU BAR1 Size; PCI Express Base 5.0, 7.8.6";
constexpr const char *tuningGuide = "NVIDIA, Understanding PCIe Configuration for Maximum Performance";

std::string speedText(unsigned generation, unsigned width)
{
	constexpr const char *rates[] = {"?", "2.5", "5", "8", "16", "32", "64"};
	return fmt::format("{} GT/s x{}", generation < std::size(rates) ? rates[generation] : "?", width);
}

std::string sizeText(std::uint64_t bytes)
{
	constexpr std::uint64_t kibibyte = 1 << 10;
	if (bytes >= gibibyte)
		return fmt::format("{} GiB", bytes / gibibyte);
	return bytes >= mebibyte ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} KiB", bytes / kibibyte);
}

const Express *expressOf(const PciDevice *device)
{
	return device && device->config.express ? &*device->config.express : nullptr;
}

void checkLink(Findings &findings, const Node &node, const PciDevice &device, const Express &express)
{
	if (!express.width || !express.speed || express.type == Express::Type::integrated)
		return; // not reported, for example by virtual devices
	const std::string now = speedText(express.speed, express.width);
	if (express.speed >= express.speedMost && express.width >= express.widthMost) {
		findings.push_back({Level::pass, "link", device.address, now, "", "link", expressBase});
		return;
	}
	const Express *port = device.above.empty() ? nullptr : expressOf(node.pci.find(device.above.front()));
	const bool slot = port && port->speedMost && port->widthMost &&
			  (port->speedMost < express.speedMost || port->widthMost < express.widthMost);
	findings.push_back(
		{Level::warn, "link", device.address,
		 fmt::format("{}, below the device's maximum of {}{}", now,
			     speedText(express.speedMost, express.widthMost),
			     slot ? fmt::format("; its port supports {}", speedText(port->speedMost, port->widthMost))
				  : ""),
		 slot ? "use a faster slot"
		      : "check again under load, as idle GPUs lower their link speed; then reseat the card or its "
			"riser",
		 "link", expressBase});
}

// A packet must not be larger than the MaxPayload of any port on the way; it should not be smaller than the ports
// allow.
void checkPayload(Findings &findings, const Node &node, const PciDevice &device, const Express &express)
{
	unsigned taken = express.payload, possible = express.payloadMost;
	for (const std::string &address : device.above)
		if (const Express *port = expressOf(node.pci.find(address))) {
			taken = std::min(taken, port->payload);
			possible = std::min(possible, port->payloadMost);
		}
	Finding finding{Level::pass, "payload", device.address, fmt::format("MaxPayload {} bytes", express.payload),
			"",          "payload", expressBase};
	if (express.payload > taken) {
		finding.level = Level::fail;
		finding.what +=
			fmt::format(", but a port above it accepts only {}: longer packets are errors there", taken);
		finding.step = "boot with pci=pcie_bus_safe";
	} else if (express.payload < possible) {
		finding.level = Level::warn;
		finding.what += fmt::format(", although all devices on the route support {}", possible);
		finding.step = "boot with pci=pcie_bus_perf";
	}
	findings.push_back(finding);
}

void checkOrdering(Findings &findings, const PciDevice &device, const Express &express)
{
	constexpr unsigned control = 8, bit = 0x10; // Device Control, Enable Relaxed Ordering
	if (express.relaxedOrdering)
		findings.push_back({Level::pass, "ordering", device.address, "relaxed ordering is allowed", "",
				    "ordering", expressBase});
	else
		findings.push_back(
			{Level::warn, "ordering", device.address,
			 "relaxed ordering is off: the root complex, in particular AMD's, serializes writes",
			 fmt::format("setpci -s {} CAP_EXP+{}.w={:04x}:{:04x}, and enable it in the firmware",
				     device.address, control, bit, bit),
			 "ordering", tuningGuide});
}

void checkRead(Findings &findings, const PciDevice &device, const Express &express)
{
	if (express.readRequest < smallRead)
		findings.push_back({Level::warn, "read-request", device.address,
				    fmt::format("its read requests are at most {} bytes", express.readRequest),
				    "set MaxReadReq to 4096 in the firmware, or boot with pci=pcie_bus_perf",
				    "read-request", tuningGuide});
}

bool severalNodes(const Node &node)
{
	return std::ranges::any_of(node.pci.devices, [](const auto &one) { return one.second.numa > 0; });
}

const Resizable *resizableOf(const PciDevice &device, const Bar &bar)
{
	auto found = std::ranges::find(device.config.resizable, bar.index, &Resizable::bar);
	return found == device.config.resizable.end() ? nullptr : &*found;
}

} // namespace

void checkDevice(Findings &findings, const Node &node, const PciDevice &device)
{
	if (!device.config.whole()) {
		findings.push_back({Level::warn, "config", device.address, "its configuration space cannot be read",
				    "run it as root", "config", ""});
		return;
	}
	if (const Express *express = expressOf(&device)) {
		checkLink(findings, node, device, *express);
		checkPayload(findings, node, device, *express);
		checkRead(findings, device, *express);
		checkOrdering(findings, device, *express);
	}
	if (device.numa < 0 && severalNodes(node))
		findings.push_back({Level::warn, "numa", device.address, "the firmware does not report its NUMA node",
				    "update the firmware; without the node no near CPU can be chosen", "numa",
				    "ACPI 6.5, 6.2.14 _PXM"});
}

void checkGpu(Findings &findings, const Node &node, const PciDevice &gpu)
{
	checkDevice(findings, node, gpu);
	const Bar *bar = gpu.largestBar();
	if (!bar) {
		findings.push_back({Level::fail, "bar", gpu.address, "no BAR of its memory has an address",
				    "turn on Above 4G Decoding in the firmware", "bar", barGuide});
		return;
	}
	const Resizable *resizable = resizableOf(gpu, *bar);
	Finding finding{Level::pass, "bar",
			gpu.address, fmt::format("BAR of {}, {} bits", sizeText(bar->size), bar->wide ? 64 : 32),
			"",          "bar",
			barGuide};
	if (!bar->wide) {
		finding.level = Level::warn;
		finding.step = "turn on Above 4G Decoding in the firmware";
	} else if (resizable && resizable->max > bar->size) {
		finding.level = Level::warn;
		finding.what += fmt::format(", smaller than the possible {}: transfers have to share it",
					    sizeText(resizable->max));
		finding.step =
			"turn on Resizable BAR in the firmware; P2PDMA needs a BAR that covers all of the memory";
	} else if (bar->size <= smallBar) {
		finding.level = Level::warn;
		finding.what += ": transfers have to share it";
		finding.step = "turn on Resizable BAR in the firmware, or use a data centre GPU";
	}
	findings.push_back(finding);
}

void checkCard(Findings &findings, const Node &node, const PciDevice &card)
{
	checkDevice(findings, node, card);
	if (card.kind != Kind::nic)
		return;
	for (const std::string &name : card.nets) {
		auto interface = node.interfaces.find(name);
		if (interface != node.interfaces.end() && interface->second.state == "down")
			findings.push_back({Level::warn, "card", card.address, name + " is down",
					    "ip link set " + name + " up, or check its cable", "card-down", ""});
	}
	for (const RdmaDevice &rdma : node.rdmas)
		if (rdma.pci == card.address && rdma.state != "ACTIVE")
			findings.push_back({Level::warn, "card", card.address,
					    fmt::format("RDMA device {} is {}", rdma.name,
							rdma.state.empty() ? "in an unknown state" : rdma.state),
					    "check its cable and, with InfiniBand, the subnet manager", "card-down",
					    ""});
	if (card.rdmas.empty())
		findings.push_back({Level::fail, "card", card.address,
				    "has no RDMA device: data pass through CPU memory",
				    "load the card's RDMA driver, or use another card", "card-rdma",
				    "nvidia-fs 2.28.4, nvfs-dma.c: modules_list; AMD hipFile documentation, NVMe-oF"});
}

} // namespace nofctl::gpu
