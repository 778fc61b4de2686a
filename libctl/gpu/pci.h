// SPDX-License-Identifier: LGPL-2.1-or-later
// The PCI devices of a machine: bridges above each device, distances, and routing between devices. Does no I/O.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pci_config.h"

namespace nofctl::gpu {

constexpr unsigned nvidia = 0x10de, amd = 0x1002; // vendor IDs

enum class Kind { gpu, nic, drive, bridge, other };

// DMA address translation of a device, from the type of its IOMMU group in sysfs
enum class Translation {
	off,         // no group
	passthrough, // "identity"
	lazy,        // "DMA-FQ"
	strict,      // "DMA"
	other,       // for example VFIO
};

const char *toString(Translation translation); // "off", "passthrough", "lazy", "strict", "other"

struct Bar {
	unsigned index = 0;
	std::uint64_t start = 0, size = 0; // bytes
	bool memory = false, wide = false, prefetchable = false;
};

struct PciDevice {
	std::string address;            // "0000:07:00.0"
	std::string root;               // root bus, "pci0000:00"
	std::vector<std::string> above; // bridges: nearest first, root port last
	std::string folder;             // path in sysfs
	PciConfig config;
	std::vector<Bar> bars;
	int numa = -1;   // -1: unknown
	int socket = -1; // -1: unknown
	std::string driver;
	Translation translation = Translation::off;
	std::string group; // IOMMU group
	Kind kind = Kind::other;
	std::vector<std::string> nets, rdmas, controllers; // eth0; mlx5_0; nvme0

	const Bar *largestBar() const; // of the memory BARs; null: none
};

// Names as in nvidia-smi
enum class Distance {
	same, // functions of one device
	pix,  // behind one switch
	pxb,  // several switches below one root port
	phb,  // several root ports of one root complex
	node, // several root complexes of one socket
	sys,  // different sockets
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
// The bridge at which both paths meet; empty: they meet in a root complex or beyond.
std::string meetingPoint(const PciDevice &a, const PciDevice &b);
// Bridges between the devices whose ACS settings redirect peer-to-peer traffic upstream, determined like Linux does
// (pci/p2pdma.c, calc_map_type_and_dist()).
std::vector<const PciDevice *> redirectsBetween(const Pci &pci, const PciDevice &a, const PciDevice &b);
// Whether Linux 6.12 allows peer-to-peer traffic through the root complexes of both devices (pci/p2pdma.c,
// pci_p2pdma_whitelist, AMD Zen).
bool throughHostBridge(const Pci &pci, const PciDevice &a, const PciDevice &b);

} // namespace nofctl::gpu
