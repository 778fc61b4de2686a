// SPDX-License-Identifier: LGPL-2.1-or-later
// Constants of the sizing model, each with its source.
#pragma once

#include <span>
#include <string_view>

namespace nofctl::sizing {

struct Constant {
	const char *name;
	double value;
	const char *unit;
	const char *source;
	bool emulated = false; // measured in a guest that QEMU emulates without KVM
};

std::span<const Constant> constants();
// Aborts if there is no constant of that name.
const Constant &constant(std::string_view name);

// PCI Express: GT/s per lane, and bytes per second after encoding; 0 for an unknown generation
double laneGigatransfers(unsigned generation);
double laneBytesPerSecond(unsigned generation);

/*
 * Fraction of PCI Express traffic that is data, for a command of @bytes bytes. The rest is the submission queue entry,
 * the completion queue entry, two doorbells, and the overhead of each TLP; data moves in TLPs of @payload bytes. With
 * all data in one TLP (@payload >= @bytes), this is the model behind the published 94.6 % at 4 KiB and 68.8 % at 512
 * bytes.
 */
double expressEfficiency(double bytes, double payload);

} // namespace nofctl::sizing
