// SPDX-License-Identifier: LGPL-2.1-or-later
// What a plan is computed from that nobody chooses, each with its source.
#pragma once

#include <span>
#include <string_view>

namespace nofctl::sizing {

struct Constant {
	const char *name;
	double value;
	const char *unit;
	const char *source;
};

std::span<const Constant> constants();
// Of a name that there is; another one is a bug, and ends the program.
const Constant &constant(std::string_view name);

// PCI Express: GT/s of a lane, and what is left of it after encoding; 0 for a generation that there is not
double laneGigatransfers(unsigned generation);
double laneBytesPerSecond(unsigned generation);

/*
 * The part of what goes over PCI Express that is data, for a command of @bytes: submission queue entry, completion
 * queue entry and two doorbells besides, each TLP with its overhead, data in TLPs of @payload bytes. With all data in
 * one TLP (@payload >= @bytes) it is the model by which 94.6 % at 4 KiB and 68.8 % at 512 bytes are given.
 */
double expressEfficiency(double bytes, double payload);

} // namespace nofctl::sizing
