// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pci.h"

#include <algorithm>
#include <charconv>
#include <linux/pci_regs.h>

namespace nofctl::gpu {

// ---- distances and routing

namespace {

constexpr unsigned intel = 0x8086, zen = 0x17;

// Host bridges that Linux allows peer-to-peer traffic through. A machine without a host bridge device is identified by
// its first root port.
struct KnownBridge {
	unsigned device;
	bool within; // only within one root complex, not between two
};

constexpr KnownBridge knownBridges[] = {
	{0x3c00, true},  {0x3c01, true},                   // Xeon E5
	{0x2f00, true},  {0x2f01, true},                   // Xeon E5 and E7 v3
	{0x2030, false}, {0x2031, false}, {0x2032, false}, // Skylake
	{0x2033, false}, {0x2020, false}, {0x09a2, false}, // and Ice Lake, Sapphire Rapids
};

// Returns "0000:07:00" for "0000:07:00.0"
std::string slotOf(const PciDevice &device)
{
	return device.address.substr(0, device.address.rfind('.'));
}

// The first device of the root bus, if it is device 00.0 or a root port
const PciDevice *hostBridge(const Pci &pci, const std::string &root)
{
	for (const auto &[address, device] : pci.devices) {
		if (device.root != root || !device.above.empty())
			continue;
		const bool first = address.ends_with(":00.0");
		const bool port = device.config.express && device.config.express->type == Express::Type::rootPort;
		return first || port ? &device : nullptr;
	}
	return nullptr;
}

bool known(const Pci &pci, const std::string &root, bool within)
{
	const PciDevice *bridge = hostBridge(pci, root);
	return bridge && bridge->config.vendor == intel &&
	       std::ranges::any_of(knownBridges, [&](const KnownBridge &one) {
		       return one.device == bridge->config.device && (within || !one.within);
	       });
}

bool redirects(const PciDevice *bridge)
{
	return bridge && bridge->config.acs && bridge->config.acs->redirect();
}

} // namespace

const char *toString(Translation translation)
{
	switch (translation) {
	case Translation::off:
		return "off";
	case Translation::passthrough:
		return "passthrough";
	case Translation::lazy:
		return "lazy";
	case Translation::strict:
		return "strict";
	case Translation::other:
		break;
	}
	return "other";
}

const char *toString(Distance distance)
{
	constexpr const char *names[] = {"X", "PIX", "PXB", "PHB", "NODE", "SYS"};
	return names[static_cast<std::size_t>(distance)];
}

const char *describe(Distance distance)
{
	constexpr const char *words[] = {"one device",
					 "behind one switch",
					 "behind one root port",
					 "behind two root ports of one root complex",
					 "behind two root complexes of one socket",
					 "at two sockets"};
	return words[static_cast<std::size_t>(distance)];
}

const Bar *PciDevice::largestBar() const
{
	const Bar *largest = nullptr;
	for (const Bar &bar : bars)
		if (bar.memory && bar.size && (!largest || bar.size > largest->size))
			largest = &bar;
	return largest;
}

const PciDevice *Pci::find(const std::string &address) const
{
	auto found = devices.find(address);
	return found == devices.end() ? nullptr : &found->second;
}

std::vector<const PciDevice *> Pci::of(Kind kind) const
{
	std::vector<const PciDevice *> found;
	for (const auto &[address, device] : devices)
		if (device.kind == kind)
			found.push_back(&device);
	return found;
}

std::string meetingPoint(const PciDevice &a, const PciDevice &b)
{
	for (const std::string &bridge : a.above)
		if (std::ranges::find(b.above, bridge) != b.above.end())
			return bridge;
	return {};
}

Distance distanceBetween(const PciDevice &a, const PciDevice &b)
{
	if (slotOf(a) == slotOf(b))
		return Distance::same;
	const std::string meeting = meetingPoint(a, b);
	if (!meeting.empty()) {
		// between a device and the meeting point there is one port per switch; a second port means a second
		// switch
		auto ports = [&](const PciDevice &device) {
			return std::ranges::find(device.above, meeting) - device.above.begin();
		};
		return ports(a) <= 1 && ports(b) <= 1 ? Distance::pix : Distance::pxb;
	}
	if (a.root == b.root)
		return Distance::phb;
	return a.socket == b.socket ? Distance::node : Distance::sys;
}

std::vector<const PciDevice *> redirectsBetween(const Pci &pci, const PciDevice &a, const PciDevice &b)
{
	std::vector<const PciDevice *> found;
	const std::string meeting = meetingPoint(a, b);
	auto add = [&](const PciDevice &device, bool withMeeting) {
		for (const std::string &bridge : device.above) {
			if (bridge == meeting && !withMeeting)
				return;
			if (redirects(pci.find(bridge)))
				found.push_back(pci.find(bridge));
			if (bridge == meeting)
				return;
		}
	};
	add(a, true);
	add(b, false);
	return found;
}

bool throughHostBridge(const Pci &pci, const PciDevice &a, const PciDevice &b)
{
	if (pci.cpuVendor == "AuthenticAMD" && pci.cpuFamily >= zen)
		return true;
	const bool within = a.root == b.root;
	return known(pci, a.root, within) && known(pci, b.root, within);
}

// ---- configuration space

namespace {

constexpr unsigned minPayload = 128;                 // bytes, encoding 0
constexpr unsigned maxCapabilities = (256 - 64) / 4; // that fit without overlap
constexpr unsigned maxExtended = (4096 - 256) / 8;   // that fit without overlap
constexpr std::uint64_t resizableUnit = 1 << 20;     // bytes, size of bit 4 of the capability
constexpr unsigned maxResizable = 6;

class Bytes {
public:
	explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

	bool has(std::size_t at, std::size_t length) const
	{
		return at <= bytes_.size() && length <= bytes_.size() - at;
	}
	// Little-endian; 0 if out of bounds.
	std::uint32_t get(std::size_t at, std::size_t length) const
	{
		std::uint32_t value = 0;
		for (std::size_t i = 0; has(at, length) && i < length; i++)
			value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i);
		return value;
	}
	std::uint32_t word(std::size_t at) const { return get(at, 2); }
	std::uint32_t dword(std::size_t at) const { return get(at, 4); }

private:
	std::string_view bytes_;
};

unsigned field(std::uint32_t value, std::uint32_t mask)
{
	return (value & mask) / (mask & -mask);
}

// Encodings above 5 are reserved and treated as 0.
unsigned payloadOf(unsigned code)
{
	constexpr unsigned maxCode = 5;
	return minPayload << (code <= maxCode ? code : 0);
}

Express::Type typeOf(unsigned code)
{
	switch (code) {
	case PCI_EXP_TYPE_ENDPOINT:
	case PCI_EXP_TYPE_LEG_END:
		return Express::Type::endpoint;
	case PCI_EXP_TYPE_ROOT_PORT:
		return Express::Type::rootPort;
	case PCI_EXP_TYPE_UPSTREAM:
		return Express::Type::upstream;
	case PCI_EXP_TYPE_DOWNSTREAM:
		return Express::Type::downstream;
	case PCI_EXP_TYPE_PCI_BRIDGE:
	case PCI_EXP_TYPE_PCIE_BRIDGE:
		return Express::Type::bridge;
	case PCI_EXP_TYPE_RC_END:
		return Express::Type::integrated;
	default:
		return Express::Type::other;
	}
}

Express expressAt(const Bytes &bytes, unsigned at)
{
	const std::uint32_t can = bytes.dword(at + PCI_EXP_DEVCAP), set = bytes.word(at + PCI_EXP_DEVCTL);
	const std::uint32_t linkCan = bytes.dword(at + PCI_EXP_LNKCAP), link = bytes.word(at + PCI_EXP_LNKSTA);
	Express express;
	express.offset = at;
	express.type = typeOf(field(bytes.word(at + PCI_EXP_FLAGS), PCI_EXP_FLAGS_TYPE));
	express.payloadMost = payloadOf(field(can, PCI_EXP_DEVCAP_PAYLOAD));
	express.payload = payloadOf(field(set, PCI_EXP_DEVCTL_PAYLOAD));
	express.readRequest = payloadOf(field(set, PCI_EXP_DEVCTL_READRQ));
	express.relaxedOrdering = set & PCI_EXP_DEVCTL_RELAX_EN;
	express.speedMost = field(linkCan, PCI_EXP_LNKCAP_SLS);
	express.widthMost = field(linkCan, PCI_EXP_LNKCAP_MLW);
	express.speed = field(link, PCI_EXP_LNKSTA_CLS);
	express.width = field(link, PCI_EXP_LNKSTA_NLW);
	return express;
}

void addResizable(PciConfig &config, const Bytes &bytes, unsigned at)
{
	const unsigned count = field(bytes.dword(at + PCI_REBAR_CTRL), PCI_REBAR_CTRL_NBAR_MASK);
	for (unsigned i = 0; i < count && i < maxResizable; i++) {
		const std::uint32_t sizes = bytes.dword(at + 8 * i + PCI_REBAR_CAP) >> 4;
		Resizable one;
		one.bar = field(bytes.dword(at + 8 * i + PCI_REBAR_CTRL), PCI_REBAR_CTRL_BAR_IDX);
		for (unsigned bit = 0; bit < 28; bit++)
			if (sizes >> bit & 1)
				one.max = resizableUnit << bit;
		config.resizable.push_back(one);
	}
}

void readCapabilities(PciConfig &config, const Bytes &bytes)
{
	if (!(bytes.word(PCI_STATUS) & PCI_STATUS_CAP_LIST))
		return;
	unsigned at = bytes.get(PCI_CAPABILITY_LIST, 1) & ~3u;
	for (unsigned seen = 0; at >= PCI_STD_HEADER_SIZEOF && seen < maxCapabilities; seen++) {
		if (!bytes.has(at, PCI_CAP_SIZEOF))
			return;
		if (bytes.get(at, 1) == PCI_CAP_ID_EXP && !config.express && bytes.has(at, PCI_EXP_LNKSTA + 2))
			config.express = expressAt(bytes, at);
		at = bytes.get(at + PCI_CAP_LIST_NEXT, 1) & ~3u;
	}
}

void readExtended(PciConfig &config, const Bytes &bytes)
{
	unsigned at = PciConfig::wholeLength;
	for (unsigned seen = 0; at >= PciConfig::wholeLength && seen < maxExtended && bytes.has(at, 8); seen++) {
		const std::uint32_t head = bytes.dword(at);
		const unsigned id = head & 0xffff;
		if (id == PCI_EXT_CAP_ID_ACS && !config.acs)
			config.acs = Acs{at, bytes.word(at + PCI_ACS_CAP), bytes.word(at + PCI_ACS_CTRL)};
		else if (id == PCI_EXT_CAP_ID_REBAR && config.resizable.empty())
			addResizable(config, bytes, at);
		at = head >> 20 & ~3u;
	}
}

} // namespace

PciConfig parsePciConfig(std::string_view text)
{
	const Bytes bytes(text);
	PciConfig config;
	config.length = text.size();
	if (!bytes.has(0, PCI_STD_HEADER_SIZEOF))
		return config;
	config.vendor = bytes.word(PCI_VENDOR_ID);
	config.device = bytes.word(PCI_DEVICE_ID);
	config.command = bytes.word(PCI_COMMAND);
	config.classCode = bytes.dword(PCI_CLASS_REVISION) >> 8;
	config.bridge = (bytes.get(PCI_HEADER_TYPE, 1) & 0x7f) == PCI_HEADER_TYPE_BRIDGE;
	if (config.bridge)
		config.secondary = bytes.get(PCI_SECONDARY_BUS, 1);
	readCapabilities(config, bytes);
	readExtended(config, bytes);
	return config;
}

// ---- devices in sysfs

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
