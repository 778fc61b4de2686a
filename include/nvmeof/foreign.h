// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What other NVMe drivers of this machine have: the kernel's own, with /dev/nvme0n1, may be connected to the same
 * subsystem, and a file system that is mounted through both is lost. Read from sysfs, and only attributes that no
 * command to a target stands behind: a controller that hangs does not hold these calls up. Where there is no other
 * driver there is nothing; so there is where sysfs cannot be read.
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
	std::string state;     // the driver's own word: live, connecting, resetting, ...
};

// Controllers that another driver has for the subsystem, live or on their way back. Those of discovery services, which
// have no disks, and those that are being deleted do not count.
std::vector<ForeignController> foreignControllers(std::string_view subsysnqn);

// A disk of an NVMe driver, ours or another
struct NvmeDisk {
	std::string name; // nvmeof0n1, nvme0n1
	std::string subsysnqn;
	std::uint32_t nsid = 0;
	std::string wwid;           // the best identifier of the namespace; all drivers prefer them in the same order
	std::uint64_t sequence = 0; // the kernel counts its disks: the smaller number was there first
	bool foreign = false;
};

// All that there are, by name.
std::vector<NvmeDisk> nvmeDisks();

// Whether both are the same namespace: by their identifiers or, where a target gives none, by NQN and NSID.
bool sameNamespace(const NvmeDisk &one, const NvmeDisk &other);

// Of @disks, those of other drivers that are the same namespace as our disk of that name.
std::vector<NvmeDisk> foreignTwins(std::string_view name, const std::vector<NvmeDisk> &disks);

} // namespace nvmeof
