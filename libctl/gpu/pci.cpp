// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pci.h"

#include <algorithm>

namespace nofctl::gpu {

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

} // namespace nofctl::gpu
