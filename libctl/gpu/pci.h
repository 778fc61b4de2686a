// SPDX-License-Identifier: LGPL-2.1-or-later
// The PCI devices of a machine: configuration space, bridges above each device, distances, and routing between devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tree.h"

namespace nofctl::gpu {

// PCI Express capability; PCI Express Base 5.0, 7.5.3
struct Express {
	enum class Type { endpoint, rootPort, upstream, downstream, bridge, integrated, other };

	Type type = Type::other;
	unsigned offset = 0;
	unsigned payloadMost = 0; // bytes, Max_Payload_Size Supported
	unsigned payload = 0;     // bytes, Max_Payload_Size in use
	unsigned readRequest = 0; // bytes, Max_Read_Request_Size
	bool relaxedOrdering = false;
	unsigned speedMost = 0, speed = 0; // maximum and current; 1 is 2.5 GT/s, 5 is 32 GT/s; 0: not reported
	unsigned widthMost = 0, width = 0; // maximum and current number of lanes; 0: not reported
};

// Access Control Services; PCI Express Base 5.0, 7.7.8
struct Acs {
	unsigned offset = 0;
	unsigned can = 0, on = 0; // capability and control bits, as below

	enum : unsigned {
		sourceValidation = 0x01,
		translationBlocking = 0x02,
		requestRedirect = 0x04,
		completionRedirect = 0x08,
		upstreamForwarding = 0x10,
		egressControl = 0x20,
		directTranslated = 0x40,
	};
	// Bits that redirect peer-to-peer traffic upstream, as in Linux (pci_bridge_has_acs_redir())
	static constexpr unsigned redirects = requestRedirect | completionRedirect | egressControl;
	bool redirect() const { return on & redirects; }
};

// Resizable BAR; PCI Express Base 5.0, 7.8.6
struct Resizable {
	unsigned bar = 0;
	std::uint64_t max = 0; // bytes, largest supported size
};

// Those parts of a PCI configuration space that affect peer-to-peer transfers
struct PciConfig {
	std::size_t length = 0; // bytes read: 64 without CAP_SYS_ADMIN
	unsigned vendor = 0xffff, device = 0xffff;
	unsigned classCode = 0; // 24 bits
	unsigned command = 0;
	bool bridge = false;
	unsigned secondary = 0; // secondary bus number of a bridge
	std::optional<Express> express;
	std::optional<Acs> acs;
	std::vector<Resizable> resizable;

	// Whether capabilities, or also extended capabilities, could be read.
	bool whole() const { return length >= wholeLength; }
	bool extended() const { return length > wholeLength; }

	static constexpr std::size_t wholeLength = 256, extendedLength = 4096;
};

// The input is untrusted. Members for missing parts keep their defaults. Loops and out-of-bounds pointers in capability
// lists end the parsing.
PciConfig parsePciConfig(std::string_view bytes);

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

// Reads all devices from sysfs.
Pci readPci(const Tree &tree);

// Completes "07:00.0" to "0000:07:00.0"; empty if @text is not a PCI address.
std::string pciAddress(const std::string &text);

} // namespace nofctl::gpu
