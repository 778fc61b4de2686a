// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that kernels that may be booted next have the modules.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builds.h"

// An installed kernel, newer than the running one, without an nvmeof.ko that modprobe would find.
struct KernelGap {
	std::string kernel;
	bool dkms = false;   // dkms has the modules
	std::string failure; // log of a failed dkms build; empty: none failed
};

/*
 * Reads boot/vmlinuz-*, lib/modules/KERNEL/modules.dep and var/lib/dkms/nvmeof below @root. Oldest kernel first; empty
 * if no module is installed for @running either.
 */
std::vector<KernelGap> kernelGaps(const std::filesystem::path &root, const std::string &running);

// The step names commands of @by.
BuildFinding gapFinding(const KernelGap &gap, InstalledBy by = InstalledBy::make);
