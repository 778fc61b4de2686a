// SPDX-License-Identifier: LGPL-2.1-or-later
// Which peers reach each other: a table, each row with its source. The first row that fits counts; one always does.
#pragma once

#include <span>

#include "pci.h"

namespace nofctl::gpu {

enum class Level { pass, warn, fail };

const char *toString(Level level); // "PASS", "WARN", "FAIL"

// How pages of a GPU get to a driver
enum class Means {
	p2pdma,   // the kernel's own: amdgpu, and nvidia's open driver since CUDA 12.8
	nvidiaFs, // nvidia-fs and nvidia-peermem, which go by what the GPU's driver maps
};

struct PeerState {
	Distance distance = Distance::same;
	bool redirect = false;                      // ACS sends peers' traffic up, at a bridge between
	Translation translation = Translation::off; // the stricter one of both devices
	bool hostBridge = false;                    // Linux lets peers through the root complexes of both
};

struct PeerRow {
	const char *id;
	Distance nearest, farthest;
	std::optional<bool> redirect;   // not set: either
	std::optional<bool> translated; // likewise; passthrough is not
	std::optional<bool> hostBridge; // likewise
	Level p2pdma, nvidiaFs;
	const char *what; // happens
	const char *step; // to take; empty: none
	const char *source;

	Level level(Means means) const { return means == Means::p2pdma ? p2pdma : nvidiaFs; }
};

std::span<const PeerRow> peerTable();
const PeerRow &peerRow(const PeerState &state);
PeerState peerState(const Pci &pci, const PciDevice &a, const PciDevice &b);

} // namespace nofctl::gpu
