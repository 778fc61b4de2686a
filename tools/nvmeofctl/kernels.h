// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the kernels that may be booted next have the modules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builds.h"

// A kernel that is installed, later than the one that runs, and has no nvmeof.ko that modprobe would find.
struct KernelGap {
	std::string kernel;
	bool dkms = false;   // dkms is to build the modules
	std::string failure; // the log of the build that failed; empty: none has been tried
};

/*
 * By the folders below @root: boot/vmlinuz-*, lib/modules/KERNEL/modules.dep, var/lib/dkms/nvmeof. The earliest first;
 * none where no module is installed for @running either.
 */
std::vector<KernelGap> kernelGaps(const std::filesystem::path &root, const std::string &running);

BuildFinding judgeGap(const KernelGap &gap);
