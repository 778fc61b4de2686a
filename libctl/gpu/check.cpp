// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks a machine for GPU transfers: pairs of GPUs and cards, single devices, disks, kernel and drivers.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "finding.h"
#include "nvidia_fs.h"

namespace nofctl::gpu {

namespace {

Level worse(Level a, Level b)
{
	return std::max(a, b);
}

std::string nameOf(const PciDevice &device)
{
	const std::vector<std::string> &names = !device.rdmas.empty()  ? device.rdmas
						: !device.nets.empty() ? device.nets
								       : device.controllers;
	return names.empty() ? device.address : fmt::format("{} ({})", names.front(), device.address);
}

void addUnique(std::vector<const PciDevice *> &devices, const PciDevice *one)
{
	if (one && std::ranges::find(devices, one) == devices.end())
		devices.push_back(one);
}

// The NICs and local drives that the disks are reached through. Without disks: all NICs with RDMA or, if there are
// none, all NICs.
std::vector<const PciDevice *> cardsFor(const Node &node, const std::vector<const Disk *> &disks)
{
	std::vector<const PciDevice *> cards;
	for (const Disk *disk : disks)
		for (const Disk *below : node.bottom(*disk)) {
			addUnique(cards, node.pci.find(below->pci));
			for (const DiskPath &path : below->paths)
				addUnique(cards, node.pci.find(path.pci));
		}
	if (!cards.empty())
		return cards;
	const std::vector<const PciDevice *> all = node.pci.of(Kind::nic);
	std::ranges::copy_if(all, std::back_inserter(cards), [](const PciDevice *one) { return !one->rdmas.empty(); });
	return cards.empty() ? all : cards;
}

bool better(const Pair &a, const Pair &b)
{
	return std::pair(a.level, a.state.distance) < std::pair(b.level, b.state.distance);
}

void tellPair(Findings &findings, const Pair &pair)
{
	const PeerRow &row = *pair.row;
	findings.push_back({pair.level, "peers", fmt::format("{} - {}", pair.gpu->address, nameOf(*pair.peer)),
			    fmt::format("{}: {}", toString(pair.state.distance), row.what), row.step, row.id,
			    row.source});
}

void tellRedirects(Findings &findings, const std::vector<Pair> &pairs)
{
	std::set<std::string> told;
	for (const Pair &pair : pairs)
		for (const PciDevice *bridge : pair.redirects) {
			if (pair.state.distance > Distance::pxb || !told.insert(bridge->address).second)
				continue;
			findings.push_back({Level::fail, "acs", bridge->address,
					    fmt::format("redirects peer-to-peer traffic (ACS control {:#06x})",
							bridge->config.acs->on),
					    clearRedirects(*bridge) + ", and pci=disable_acs_redir=" + bridge->address +
						    " for the next boot; devices below it can then reach each other's "
						    "memory without the IOMMU: do not do this if one of them is "
						    "assigned to a virtual machine",
					    "acs-redirect",
					    "PCI Express Base 5.0, 7.7.8; Linux, admin-guide/kernel-parameters: "
					    "pci=disable_acs_redir"});
		}
}

} // namespace

Level worst(const Findings &findings)
{
	Level level = Level::pass;
	for (const Finding &one : findings)
		level = worse(level, one.level);
	return level;
}

std::string clearRedirects(const PciDevice &bridge)
{
	constexpr unsigned control = 6; // offset of the ACS Control register
	return fmt::format("setpci -s {} ECAP_ACS+{}.w=0000:{:04x}", bridge.address, control, Acs::redirects);
}

// A device of another vendor stands in for an unknown GPU: both means are checked.
std::vector<P2pMethod> methodsOf(const Node &node, const PciDevice &gpu)
{
	if (gpu.config.vendor == nvidia)
		return {node.modules.contains("nvidia_fs") ? P2pMethod::nvidiaFs : P2pMethod::p2pdma};
	if (gpu.config.vendor == amd)
		return {P2pMethod::p2pdma};
	return {P2pMethod::p2pdma, P2pMethod::nvidiaFs};
}

Pair pairOf(const Node &node, const PciDevice &gpu, const PciDevice &peer)
{
	Pair pair{&gpu,    &peer,       peerState(node.pci, gpu, peer),
		  nullptr, Level::pass, redirectsBetween(node.pci, gpu, peer)};
	pair.row = &peerRow(pair.state);
	for (P2pMethod means : methodsOf(node, gpu))
		pair.level = worse(pair.level, pair.row->level(means));
	return pair;
}

// Pairs each GPU with each card, and reports the best pair of each GPU.
void checkPairs(CheckReport &answer, const Node &node)
{
	for (const PciDevice *gpu : answer.gpus) {
		const auto first = static_cast<std::ptrdiff_t>(answer.pairs.size());
		for (const PciDevice *card : answer.cards)
			answer.pairs.push_back(pairOf(node, *gpu, *card));
		const auto best = std::min_element(answer.pairs.begin() + first, answer.pairs.end(), better);
		if (best != answer.pairs.end())
			tellPair(answer.findings, *best);
	}
	tellRedirects(answer.findings, answer.pairs);
}

CheckReport check(const Node &node, const CheckRequest &question)
{
	CheckReport answer;
	if (question.gpus.empty())
		answer.gpus = node.pci.of(Kind::gpu);
	for (const std::string &address : question.gpus)
		addUnique(answer.gpus, node.pci.find(address));
	for (const auto &[name, disk] : node.disks)
		if (question.disks.empty() && disk.kind == Disk::Kind::head)
			answer.disks.push_back(&disk);
	for (const std::string &name : question.disks)
		if (const Disk *disk = node.disk(name))
			answer.disks.push_back(disk);
	answer.cards = cardsFor(node, answer.disks);
	std::erase_if(answer.cards,
		      [&](const PciDevice *card) { return std::ranges::find(answer.gpus, card) != answer.gpus.end(); });
	checkSoftware(answer.findings, node, answer.gpus);
	for (const PciDevice *gpu : answer.gpus)
		checkGpu(answer.findings, node, *gpu);
	for (const PciDevice *card : answer.cards)
		checkCard(answer.findings, node, *card);
	checkPairs(answer, node);
	for (const Disk *disk : answer.disks)
		checkDisk(answer.findings, node, *disk);
	return answer;
}

// ---- a PCI device: link, payload size, ordering, BAR, NUMA node

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

// ---- a disk: paths, stacked devices, mounts

namespace {

constexpr unsigned directAlignment = 4096; // bytes; alignment that cuFile and hipFile use
constexpr const char *backing = "AMD hipFile documentation, Troubleshooting: Backing Storage; "
				"NVIDIA GPUDirect Storage Troubleshooting Guide, supported file systems";
constexpr const char *stacking = "Linux 6.12, include/linux/blkdev.h: BLK_FEAT_INHERIT_MASK; "
				 "NVIDIA GDS Support for NVMe: RAID0 over NVMe-oF";
constexpr const char *multipath =
	"NVIDIA GPUDirect Storage Troubleshooting Guide, NVMe P2PDMA; AMD hipFile, NVMe multipath";
constexpr const char *alignment = "NVIDIA cuFile API Reference Guide, O_DIRECT requirements";

// Why the path cannot transfer GPU pages; empty: it can
std::string spoiler(const DiskPath &path)
{
	if (path.transport == "tcp")
		return "TCP copies data with the CPU";
	if (path.transport != "rdma")
		return "transport " + path.transport;
	if (path.pci.empty())
		return "its NIC is unknown, or a software device";
	return path.rdmaHardware ? "" : "software RDMA copies data with the CPU";
}

void checkPaths(Findings &findings, const Disk &disk)
{
	for (const DiskPath &path : disk.paths) {
		const std::string why = spoiler(path);
		const std::string over = path.interface.empty() ? path.traddr : path.traddr + " by " + path.interface;
		if (!why.empty())
			findings.push_back(
				{Level::fail, "path", path.name, fmt::format("{} {}: {}", path.transport, over, why),
				 "connect over an RDMA NIC; the disk accepts GPU pages if all of its paths do",
				 "path-" + (path.transport == "tcp" ? std::string("tcp") : "software"),
				 "nvmeof: Documentation/gpu.md"});
		else
			findings.push_back({path.usable ? Level::pass : Level::warn, "path", path.name,
					    fmt::format("{} {}, {}{}", path.transport, over, path.state,
							path.ana.empty() || path.ana == "none" ? "" : ", " + path.ana),
					    path.usable ? "" : "nvmeofctl show " + path.name, "path", ""});
	}
	if (disk.paths.empty())
		findings.push_back(
			{Level::warn, "path", disk.name, "has no path", "nvmeofctl show " + disk.name, "path", ""});
}

void checkHead(Findings &findings, const Disk &disk)
{
	checkPaths(findings, disk);
	if (!disk.peers)
		return;
	auto spoiled = std::ranges::find_if(disk.paths, [](const DiskPath &path) { return !spoiler(path).empty(); });
	findings.push_back(
		{*disk.peers ? Level::pass : Level::fail, "head", disk.name,
		 *disk.peers ? "accepts peer-to-peer pages"
			     : "refuses peer-to-peer pages" + (spoiled == disk.paths.end()
								       ? std::string()
								       : ": " + spoiled->name + " cannot carry them"),
		 *disk.peers ? "" : "use a kernel with CONFIG_PCI_P2PDMA, and connect all paths over RDMA NICs", "head",
		 "nvmeof: Documentation/gpu.md"});
}

void checkMount(Findings &findings, const Mount &mount)
{
	auto is = [&](const char *option) { return std::ranges::find(mount.options, option) != mount.options.end(); };
	Finding finding{Level::pass, "mount", mount.point, mount.type + (is("ro") ? ", read-only" : ""),
			"",          "mount", backing};
	if (mount.type == "ext4" && (is("data=journal") || is("data=writeback"))) {
		finding.level = Level::fail;
		finding.what += is("data=journal") ? ", data=journal" : ", data=writeback";
		finding.step = "mount it with data=ordered";
	} else if (mount.type != "ext4" && mount.type != "xfs") {
		finding.level = Level::fail;
		finding.what += ": the libraries support only ext4 and xfs";
		finding.step = "use xfs, or ext4 with data=ordered";
	}
	findings.push_back(finding);
}

void checkAlignment(Findings &findings, const Disk &disk)
{
	const bool wide = disk.logical > directAlignment || disk.dmaAlignment.value_or(0) >= directAlignment;
	findings.push_back(
		{wide ? Level::warn : Level::pass, "alignment", disk.name,
		 fmt::format("blocks of {} bytes, memory aligned to {}", disk.logical,
			     disk.dmaAlignment.value_or(disk.logical ? disk.logical - 1 : 0) + 1),
		 wide ? fmt::format("align to that in the application: the libraries align to {} only", directAlignment)
		      : "",
		 "alignment", alignment});
	if (disk.zoned)
		findings.push_back({Level::warn, "alignment", disk.name,
				    "a zoned disk: the GPU libraries cannot write zones", "use a disk without zones",
				    "zoned", ""});
}

} // namespace

void checkDisk(Findings &findings, const Node &node, const Disk &disk)
{
	if (disk.kind == Disk::Kind::mapper || disk.kind == Disk::Kind::raid)
		findings.push_back({Level::fail, "stack", disk.name,
				    disk.kind == Disk::Kind::mapper ? "device mapper never accepts peer-to-peer pages"
								    : "md never accepts peer-to-peer pages",
				    "use its members directly, or let the libraries copy (compatibility mode)",
				    "stacked", stacking});
	for (const Disk *below : node.bottom(disk)) {
		if (below->kind == Disk::Kind::head)
			checkHead(findings, *below);
		if (below->kind == Disk::Kind::nvme && below->nativeMultipath)
			findings.push_back({Level::fail, "stack", below->name,
					    "in-tree multipath never accepts peer-to-peer pages",
					    "boot with nvme_core.multipath=N", "native-multipath", multipath});
	}
	checkAlignment(findings, disk);
	for (const Mount &mount : node.mounts)
		if (mount.disk == disk.name)
			checkMount(findings, mount);
}

// ---- kernel and drivers

namespace {

constexpr const char *p2pGuide = "NVIDIA GPUDirect Storage Troubleshooting Guide, NVMe P2PDMA";
constexpr const char *hipGuide = "AMD hipFile documentation, Troubleshooting: ais-check";
constexpr const char *iommuGuide = "NVIDIA GPUDirect Storage Installation Guide, Before You Install";

bool has(const std::vector<const PciDevice *> &gpus, unsigned vendor)
{
	return std::ranges::any_of(gpus, [=](const PciDevice *gpu) { return gpu->config.vendor == vendor; });
}

bool needs(const Node &node, const std::vector<const PciDevice *> &gpus, P2pMethod means)
{
	return std::ranges::any_of(gpus, [&](const PciDevice *gpu) {
		const std::vector<P2pMethod> all = methodsOf(node, *gpu);
		return std::ranges::find(all, means) != all.end();
	});
}

std::string versionOf(const Node &node, const std::string &module, const std::string &otherwise)
{
	const std::string &version = node.modules.at(module);
	return version.empty() ? otherwise : version;
}

void checkKernel(Findings &findings, const Node &node, bool p2pdma)
{
	const Level bad = p2pdma ? Level::fail : Level::warn;
	Finding finding{Level::pass, "kernel", node.release, "CONFIG_PCI_P2PDMA is set", "", "kernel-p2pdma", p2pGuide};
	if (!node.p2pdmaOption) {
		finding.level = Level::warn;
		finding.what = "the kernel configuration was not found, so CONFIG_PCI_P2PDMA is unknown";
		finding.step = "check the configuration that the distribution publishes";
	} else if (*node.p2pdmaOption != "y") {
		finding.level = bad;
		finding.what = "CONFIG_PCI_P2PDMA is not set: the kernel cannot use GPU pages";
		finding.step = "use a kernel with it; Debian's kernels lack it";
	}
	findings.push_back(finding);
}

void checkIommu(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	std::set<Translation> seen;
	for (const PciDevice *gpu : gpus)
		seen.insert(gpu->translation);
	for (Translation translation : seen) {
		const bool good = translation == Translation::off || translation == Translation::passthrough;
		findings.push_back(
			{good ? Level::pass : Level::warn, "iommu", "GPUs",
			 fmt::format("IOMMU {}{}", toString(translation),
				     node.commandLine.find("iommu") == std::string::npos ? ", the kernel's default"
											 : ""),
			 good ? ""
			      : "boot with iommu=pt (x86), or amd_iommu=off / intel_iommu=off where no "
				"virtual machine needs it",
			 "iommu", iommuGuide});
	}
}

void checkNvidia(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	for (const PciDevice *gpu : gpus)
		if (gpu->config.vendor == nvidia && gpu->driver != "nvidia")
			findings.push_back({Level::fail, "driver", gpu->address,
					    gpu->driver.empty() ? "has no driver" : "its driver is " + gpu->driver,
					    "install nvidia's open kernel modules", "driver-nvidia", p2pGuide});
	const bool open = node.nvidiaVersion.find("Open Kernel Module") != std::string::npos;
	if (node.modules.contains("nvidia"))
		findings.push_back({open || node.modules.contains("nvidia_fs") ? Level::pass : Level::fail, "driver",
				    "nvidia",
				    fmt::format("{}, {} kernel module", versionOf(node, "nvidia", "unknown version"),
						open ? "open" : "proprietary"),
				    open || node.modules.contains("nvidia_fs")
					    ? ""
					    : "P2PDMA needs the open module; nvidia-fs does not",
				    "driver-nvidia", p2pGuide});
	if (!node.modules.contains("nvidia_fs"))
		return;
	findings.push_back({Level::pass, "driver", "nvidia_fs", versionOf(node, "nvidia_fs", "unknown version"), "",
			    "driver-nvidia-fs", ""});
	if (!node.modules.contains("nvmeof_nvfs"))
		findings.push_back({Level::fail, "driver", "nvmeof_nvfs",
				    "is not loaded: nvidia-fs does not know this driver's disks",
				    "modprobe nvmeof_nvfs before a program opens nvidia-fs", "driver-nvmeof-nvfs",
				    "nvidia-fs 2.28.4, nvfs-dma.c: modules_list"});
	if (node.nvidiaFsStats)
		checkNvidiaFs(findings, *node.nvidiaFsStats);
}

void checkAmd(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	for (const PciDevice *gpu : gpus)
		if (gpu->config.vendor == amd && gpu->driver != "amdgpu")
			findings.push_back({Level::fail, "driver", gpu->address,
					    gpu->driver.empty() ? "has no driver" : "its driver is " + gpu->driver,
					    "load amdgpu, of ROCm 7.4 or later", "driver-amdgpu", hipGuide});
	if (node.modules.contains("amdgpu"))
		findings.push_back({Level::pass, "driver", "amdgpu", versionOf(node, "amdgpu", "the kernel's own"), "",
				    "driver-amdgpu", hipGuide});
}

} // namespace

void checkSoftware(Findings &findings, const Node &node, const std::vector<const PciDevice *> &gpus)
{
	if (gpus.empty())
		findings.push_back({Level::fail, "gpu", "node", "no known GPU was found", "name one with --gpu ADDRESS",
				    "gpu", ""});
	checkKernel(findings, node, needs(node, gpus, P2pMethod::p2pdma));
	checkIommu(findings, node, gpus);
	if (has(gpus, nvidia))
		checkNvidia(findings, node, gpus);
	if (has(gpus, amd))
		checkAmd(findings, node, gpus);
}

} // namespace nofctl::gpu
