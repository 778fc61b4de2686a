// SPDX-License-Identifier: LGPL-2.1-or-later
#include "read_pci.h"

#include <algorithm>
#include <charconv>

namespace nofctl::gpu {

namespace {

constexpr unsigned display = 0x03, accelerator = 0x12, network = 0x02, bridge = 0x06; // base classes
constexpr unsigned infiniband = 0x0207, nonVolatile = 0x0108, pciBridge = 0x0604;
// Flags in a line of "resource"; include/linux/ioport.h
constexpr std::uint64_t flagMemory = 0x200, flagPrefetch = 0x2000, flagWide = 0x100000;
const std::string devicesFolder = "/sys/bus/pci/devices";

bool digits(std::string_view text)
{
	return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

// Whether @text looks like "0000:07:00.0"
bool isAddress(std::string_view text)
{
	const std::size_t dot = text.rfind('.');
	if (dot == text.npos || dot < 9 || text[dot - 3] != ':' || text[dot - 6] != ':')
		return false;
	return digits(text.substr(0, dot - 6)) && digits(text.substr(dot - 5, 2)) && digits(text.substr(dot - 2, 2)) &&
	       digits(text.substr(dot + 1));
}

std::uint64_t hex(std::string_view text)
{
	std::uint64_t value = 0;
	if (text.starts_with("0x"))
		text.remove_prefix(2);
	std::from_chars(text.data(), text.data() + text.size(), value, 16);
	return value;
}

// Derives the root bus and the bridges from a path such as "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
void putPlace(PciDevice &device)
{
	std::string_view rest = device.folder;
	while (!rest.empty()) {
		const std::size_t end = std::min(rest.find('/'), rest.size());
		const std::string part(rest.substr(0, end));
		rest.remove_prefix(std::min(end + 1, rest.size()));
		if (part.starts_with("pci")) { // a nested one belongs to a VMD, which is a root complex of its own
			device.root = part;
			device.above.clear();
		} else if (isAddress(part) && part != device.address) {
			device.above.insert(device.above.begin(), part);
		}
	}
}

std::vector<Bar> barsOf(const std::string &resource)
{
	constexpr std::size_t max = 6; // the expansion ROM and bridge windows follow
	std::vector<Bar> bars;
	const std::vector<std::string> lines = linesOf(resource);
	for (std::size_t i = 0; i < std::min(max, lines.size()); i++) {
		const std::vector<std::string> words = wordsOf(lines[i]);
		if (words.size() != 3 || hex(words[1]) <= hex(words[0]))
			continue;
		const std::uint64_t flags = hex(words[2]);
		bars.push_back({.index = static_cast<unsigned>(i),
				.start = hex(words[0]),
				.size = hex(words[1]) - hex(words[0]) + 1,
				.memory = (flags & flagMemory) != 0,
				.wide = (flags & flagWide) != 0,
				.prefetchable = (flags & flagPrefetch) != 0});
	}
	return bars;
}

Translation translationOf(const Tree &tree, const std::string &group)
{
	if (group.empty())
		return Translation::off;
	const std::string type = tree.text("/sys/kernel/iommu_groups/" + group + "/type");
	if (type == "identity")
		return Translation::passthrough;
	if (type == "DMA-FQ")
		return Translation::lazy;
	return type == "DMA" ? Translation::strict : Translation::other;
}

Kind kindOf(const PciConfig &config)
{
	const unsigned base = config.classCode >> 16, sub = config.classCode >> 8;
	if (base == bridge)
		return sub == pciBridge ? Kind::bridge : Kind::other;
	if ((base == display || base == accelerator) && (config.vendor == nvidia || config.vendor == amd))
		return Kind::gpu;
	if (base == network || sub == infiniband)
		return Kind::nic;
	return sub == nonVolatile ? Kind::drive : Kind::other;
}

// Socket of the NUMA node's first CPU
int socketOf(const Tree &tree, int numa)
{
	if (numa < 0)
		return -1;
	const std::string cpus = tree.text("/sys/devices/system/node/node" + std::to_string(numa) + "/cpulist");
	const std::string first = cpus.substr(0, cpus.find_first_not_of("0123456789"));
	const auto socket = tree.number("/sys/devices/system/cpu/cpu" + first + "/topology/physical_package_id");
	return socket && !first.empty() ? static_cast<int>(*socket) : numa;
}

// The device whose directory contains @folder, possibly below a directory of its driver; null: none
PciDevice *ownerOf(Pci &pci, const std::string &folder)
{
	PciDevice *owner = nullptr;
	for (auto &[address, device] : pci.devices)
		if (folder.starts_with(device.folder + "/") && (!owner || device.folder.size() > owner->folder.size()))
			owner = &device;
	return owner;
}

void putNames(Pci &pci, const Tree &tree, const std::string &what, std::vector<std::string> PciDevice::*names)
{
	const std::string folder = "/sys/class/" + what;
	for (const std::string &name : tree.list(folder))
		if (PciDevice *owner = ownerOf(pci, tree.target(folder + "/" + name).value_or("")))
			(owner->*names).push_back(name);
}

PciDevice readDevice(const Tree &tree, const std::string &address, const std::string &folder)
{
	PciDevice device;
	device.address = address;
	device.folder = folder;
	putPlace(device);
	device.config = parsePciConfig(tree.read(folder + "/config").value_or(""));
	device.bars = barsOf(tree.read(folder + "/resource").value_or(""));
	device.numa = static_cast<int>(tree.number(folder + "/numa_node").value_or(-1));
	device.socket = socketOf(tree, device.numa);
	device.driver = tree.linkName(folder + "/driver");
	device.group = tree.linkName(folder + "/iommu_group");
	device.translation = translationOf(tree, device.group);
	device.kind = kindOf(device.config);
	return device;
}

// Returns "AuthenticAMD" for "vendor_id\t: AuthenticAMD"
std::string cpuField(const Tree &tree, const std::string &name)
{
	const std::string line = tree.line("/proc/cpuinfo", name).value_or("");
	const std::vector<std::string> words = wordsOf(line);
	return words.empty() ? "" : words.back();
}

} // namespace

std::string pciAddress(const std::string &text)
{
	if (isAddress(text))
		return text;
	const std::string whole = "0000:" + text;
	return isAddress(whole) ? whole : "";
}

Pci readPci(const Tree &tree)
{
	Pci pci;
	for (const std::string &address : tree.list(devicesFolder)) {
		const std::optional<std::string> folder = tree.target(devicesFolder + "/" + address);
		if (folder && isAddress(address))
			pci.devices[address] = readDevice(tree, address, *folder);
	}
	putNames(pci, tree, "net", &PciDevice::nets);
	putNames(pci, tree, "infiniband", &PciDevice::rdmas);
	putNames(pci, tree, "nvme", &PciDevice::controllers);
	pci.cpuVendor = cpuField(tree, "vendor_id");
	const std::string family = cpuField(tree, "cpu family");
	std::from_chars(family.data(), family.data() + family.size(), pci.cpuFamily);
	return pci;
}

} // namespace nofctl::gpu
