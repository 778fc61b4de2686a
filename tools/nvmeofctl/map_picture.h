// SPDX-License-Identifier: LGPL-2.1-or-later
// The GPUs, cards and disks of a machine, and which card serves which GPU, as text and as SVG.
#pragma once

#include <string>
#include <vector>

#include "libctl/gpu/rails.h"

struct MachineMap {
	const nofctl::gpu::Node &node;
	std::vector<const nofctl::gpu::PciDevice *> gpus, cards;
	std::vector<nofctl::gpu::Rail> rails;
};

std::string mapText(const MachineMap &map);
std::string mapSvg(const MachineMap &map);
