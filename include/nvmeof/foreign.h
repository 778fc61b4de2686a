// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Controllers and disks of other NVMe drivers on this machine. The in-tree driver (/dev/nvme0n1) may be connected to
 * the same subsystem, and a file system mounted through both drivers is corrupted. Reads only sysfs attributes that
 * send no command to a target, so a controller that hangs cannot block these calls. Results are empty if there is no
 * other driver or sysfs cannot be read.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvmeof {

struct ForeignController {
	std::string name;      // nvme0
	std::string transport; // tcp, rdma, pcie, ...
	std::string state;     // as in sysfs: live, connecting, resetting, ...
};

// Controllers of other drivers for that subsystem, live or reconnecting. Excludes discovery controllers, which have no
// disks, and controllers that are being deleted.
std::vector<ForeignController> foreignControllers(std::string_view subsysnqn);

// A disk of any NVMe driver, ours included.
struct NvmeDisk {
	std::string name; // nvmeof0n1, nvme0n1
	std::string subsysnqn;
	std::uint32_t nsid = 0;
	std::string wwid;           // best identifier of the namespace; all drivers use the same order of preference
	std::uint64_t sequence = 0; // diskseq: the smaller number was created first
	bool foreign = false;
};

// All NVMe disks, sorted by name.
std::vector<NvmeDisk> nvmeDisks();

// Whether both disks are the same namespace: compares identifiers, or NQN and NSID if the target provides no
// identifiers.
bool sameNamespace(const NvmeDisk &one, const NvmeDisk &other);

// Disks in @disks of other drivers that are the same namespace as our disk @name.
std::vector<NvmeDisk> foreignTwins(std::string_view name, const std::vector<NvmeDisk> &disks);

} // namespace nvmeof
