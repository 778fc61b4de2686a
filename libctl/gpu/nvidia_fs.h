// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of nvidia-fs: /proc/driver/nvidia-fs/stats.
#pragma once

#include <string_view>

#include "finding.h"

namespace nofctl::gpu {

struct NvidiaFs {
	std::uint64_t reads = 0, writes = 0; // requests
	std::uint64_t readErrors = 0, writeErrors = 0;
	std::uint64_t mapErrors = 0; // failed mappings of GPU memory and similar errors
};

// Ignores unknown lines.
NvidiaFs parseNvidiaFs(std::string_view stats);
void checkNvidiaFs(Findings &findings, std::string_view stats);

} // namespace nofctl::gpu
