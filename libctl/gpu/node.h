// SPDX-License-Identifier: LGPL-2.1-or-later
// What there is on a machine of that on which transfers between storage and GPUs depend.
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
	std::vector<std::string> pci;         // devices it is made of: several for a bond, none for a virtual one
	std::string state;                    // of the link, "up"
	std::optional<std::int64_t> megabits; // a second
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

// A path of one of our disks
struct DiskPath {
	std::string name;       // nvmeof0c1n1
	std::string controller; // nvmeof0c1
	std::string transport, traddr, hostTraddr, hostIface;
	std::string ana, state;
	bool usable = false;
	std::string interface; // by which the target is reached; empty: not known
	std::string pci;       // the card; empty: not known, or virtual
	bool rdmaHardware = false;
};

struct Disk {
	enum class Kind { head, nvme, mapper, raid, other };

	Kind kind = Kind::other;
	std::string name;       // nvmeof0n1
	std::string mapperName; // of dm-0
	std::string wwid;       // "uuid...."
	std::uint64_t bytes = 0;
	unsigned logical = 0, physical = 0, optimal = 0; // bytes
	std::optional<unsigned> dmaAlignment;            // mask
	bool zoned = false;
	std::vector<std::string> members; // of a mapper or RAID device
	std::string pci;                  // of a local drive
	bool nativeMultipath = false;     // of the in-tree driver: a local drive without a place of its own
	std::vector<DiskPath> paths;      // of a head
	std::optional<bool> peers;        // a head whose driver tells whether it takes P2P pages
};

struct Mount {
	std::string disk;  // "nvmeof0n1"
	std::string point; // "/data"
	std::string type;  // "xfs"
	std::vector<std::string> options;
};

struct Node {
	Pci pci;
	std::string release;                     // of the kernel
	std::string commandLine;                 // likewise
	std::optional<std::string> p2pdmaOption; // "y", "is not set"; nothing: the kernel's configuration is not there
	std::map<std::string, std::string> modules; // that are loaded, with their versions, of those that matter
	std::map<std::string, Interface> interfaces;
	std::vector<RdmaDevice> rdmas;
	std::map<std::string, Disk> disks;
	std::vector<Mount> mounts;
	std::string nvidiaVersion;                // /proc/driver/nvidia/version, "open" in it for the open module
	std::optional<std::string> nvidiaFsStats; // text of /proc/driver/nvidia-fs/stats

	const Disk *disk(const std::string &name) const; // "nvmeof0n1" or "/dev/nvmeof0n1", "/dev/mapper/x"
	// Those that a disk stands on in the end: itself where it stands on none.
	std::vector<const Disk *> bottom(const Disk &disk) const;
};

Node readNode(const Tree &tree);

} // namespace nofctl::gpu
