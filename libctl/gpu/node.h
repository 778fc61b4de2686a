// SPDX-License-Identifier: LGPL-2.1-or-later
// The hardware and software of a machine that transfers between storage and GPUs depend on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pci.h"
#include "tree.h"

namespace nofctl::gpu {

struct Interface {
	std::string name;                     // eth0
	std::vector<std::string> pci;         // underlying devices: several for a bond, none for a virtual interface
	std::string state;                    // operstate, "up"
	std::optional<std::int64_t> megabits; // Mbit/s
	std::optional<std::int64_t> mtu;
};

struct RdmaDevice {
	std::string name;      // mlx5_0
	std::string pci;       // empty: software
	std::string interface; // eth0; empty: none, as with InfiniBand without IP
	std::string state;     // of port 1, "ACTIVE"
	std::string layer;     // "Ethernet", "InfiniBand"
	std::string rate;      // "400 Gb/sec (4X NDR)"
};

// A path of one of our disks.
struct DiskPath {
	std::string name;       // nvmeof0c1n1
	std::string controller; // nvmeof0c1
	std::string transport, traddr, hostTraddr, hostIface;
	std::string ana, state;
	bool usable = false;
	std::string interface; // interface towards the target; empty: unknown
	std::string pci;       // the NIC; empty: unknown, or virtual
	bool rdmaHardware = false;
};

struct Disk {
	enum class Kind { head, nvme, mapper, raid, other };

	Kind kind = Kind::other;
	std::string name;       // nvmeof0n1
	std::string mapperName; // for dm-0
	std::string wwid;       // "uuid...."
	std::uint64_t bytes = 0;
	unsigned logical = 0, physical = 0, optimal = 0; // bytes
	std::optional<unsigned> dmaAlignment;            // dma_alignment, a mask
	bool zoned = false;
	std::vector<std::string> members; // for mapper and RAID devices
	std::string pci;                  // for a local drive
	bool nativeMultipath = false;     // in-tree driver with native multipath: the disk has no PCI device of its own
	std::vector<DiskPath> paths;      // for a head
	std::optional<bool> peers;        // for a head: accepts P2P pages, if the driver reports it
};

struct Mount {
	std::string disk;  // "nvmeof0n1"
	std::string point; // "/data"
	std::string type;  // "xfs"
	std::vector<std::string> options;
};

struct Node {
	Pci pci;
	std::string release;                     // kernel release
	std::string commandLine;                 // kernel command line
	std::optional<std::string> p2pdmaOption; // "y", "is not set"; nothing: the kernel's configuration was not found
	std::map<std::string, std::string> modules; // loaded modules of interest, with version
	std::map<std::string, Interface> interfaces;
	std::vector<RdmaDevice> rdmas;
	std::map<std::string, Disk> disks;
	std::vector<Mount> mounts;
	std::string nvidiaVersion;                // /proc/driver/nvidia/version; contains "Open" for the open module
	std::optional<std::string> nvidiaFsStats; // text of /proc/driver/nvidia-fs/stats

	const Disk *disk(const std::string &name) const; // accepts "nvmeof0n1", "/dev/nvmeof0n1", "/dev/mapper/x"
	// The disks at the bottom of a stack; the disk itself if it is not stacked.
	std::vector<const Disk *> bottom(const Disk &disk) const;
};

Node readNode(const Tree &tree);

} // namespace nofctl::gpu
