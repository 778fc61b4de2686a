// SPDX-License-Identifier: LGPL-2.1-or-later
// What nvidia-fs has counted: /proc/driver/nvidia-fs/stats.
#pragma once

#include <string_view>

#include "finding.h"

namespace nofctl::gpu {

struct NvidiaFs {
	std::uint64_t reads = 0, writes = 0; // that it was asked for
	std::uint64_t readErrors = 0, writeErrors = 0;
	std::uint64_t mapErrors = 0; // GPU memory that could not be mapped, and the like
};

// Lines it does not know it passes over.
NvidiaFs parseNvidiaFs(std::string_view stats);
void checkNvidiaFs(Findings &findings, std::string_view stats);

} // namespace nofctl::gpu
