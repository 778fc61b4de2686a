// SPDX-License-Identifier: LGPL-2.1-or-later
// The PCI devices of a machine: what is above each, how far two are from each other, what lies between. No I/O.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pci_config.h"

namespace nofctl::gpu {

constexpr unsigned nvidia = 0x10de, amd = 0x1002; // vendors

enum class Kind { gpu, nic, drive, bridge, other };

// What an IOMMU does to the addresses of a device, by its group's type in sysfs
enum class Translation {
	off,         // it has no group
	passthrough, // "identity"
	lazy,        // "DMA-FQ"
	strict,      // "DMA"
	other,       // a driver of its own: VFIO, say
};

const char *toString(Translation translation); // "off", "passthrough", "lazy", "strict", "other"

struct Bar {
	unsigned index = 0;
	std::uint64_t start = 0, size = 0; // bytes
	bool memory = false, wide = false, prefetchable = false;
};

struct PciDevice {
	std::string address;            // "0000:07:00.0"
	std::string root;               // the root bus, "pci0000:00"
	std::vector<std::string> above; // bridges, the nearest first, the root port last
	std::string folder;             // in sysfs
	PciConfig config;
	std::vector<Bar> bars;
	int numa = -1;   // -1: not told
	int socket = -1; // likewise
	std::string driver;
	Translation translation = Translation::off;
	std::string group; // of the IOMMU
	Kind kind = Kind::other;
	std::vector<std::string> nets, rdmas, controllers; // eth0; mlx5_0; nvme0

	const Bar *largestBar() const; // of memory; null: there is none
};

// As nvidia-smi calls them
enum class Distance {
	same, // functions of one device
	pix,  // one switch
	pxb,  // several, below one root port
	phb,  // several root ports of one root complex
	node, // several root complexes of one socket
	sys,  // several sockets
};

const char *toString(Distance distance); // "X", "PIX", "PXB", "PHB", "NODE", "SYS"
const char *describe(Distance distance); // "behind one switch"

struct Pci {
	std::map<std::string, PciDevice> devices; // by address
	std::string cpuVendor;                    // "AuthenticAMD"
	unsigned cpuFamily = 0;

	const PciDevice *find(const std::string &address) const;
	std::vector<const PciDevice *> of(Kind kind) const;
};

Distance distanceBetween(const PciDevice &a, const PciDevice &b);
// The bridge at which both ways meet; empty: in a root complex, or beyond.
std::string meetingPoint(const PciDevice &a, const PciDevice &b);
// Bridges between that send peers' traffic up, where Linux looks for them (pci/p2pdma.c, calc_map_type_and_dist()).
std::vector<const PciDevice *> redirectsBetween(const Pci &pci, const PciDevice &a, const PciDevice &b);
// Whether Linux 6.12 lets peers through the root complexes of both (pci/p2pdma.c, pci_p2pdma_whitelist, AMD Zen).
bool throughHostBridge(const Pci &pci, const PciDevice &a, const PciDevice &b);

} // namespace nofctl::gpu
