// SPDX-License-Identifier: LGPL-2.1-or-later
// Rates peer-to-peer transfers by a table; each row cites its source. The first matching row applies; the rows cover
// all states.
#pragma once

#include <span>

#include "pci.h"

namespace nofctl::gpu {

enum class Level { pass, warn, fail };

const char *toString(Level level); // "PASS", "WARN", "FAIL"

// How a driver accesses GPU pages
enum class P2pMethod {
	p2pdma,   // kernel P2PDMA: amdgpu, and nvidia's open driver since CUDA 12.8
	nvidiaFs, // nvidia-fs and nvidia-peermem, which use mappings of the GPU driver
};

struct PeerState {
	Distance distance = Distance::same;
	bool redirect = false;                      // ACS of a bridge between redirects traffic upstream
	Translation translation = Translation::off; // the stricter one of the two devices
	bool hostBridge = false;                    // Linux allows P2P through both root complexes
};

struct PeerRow {
	const char *id;
	Distance nearest, farthest;
	std::optional<bool> redirect;   // not set: any
	std::optional<bool> translated; // not set: any; true for translations other than off and passthrough
	std::optional<bool> hostBridge; // not set: any
	Level p2pdma, nvidiaFs;
	const char *what; // description
	const char *step; // advice; empty: none
	const char *source;

	Level level(P2pMethod means) const { return means == P2pMethod::p2pdma ? p2pdma : nvidiaFs; }
};

std::span<const PeerRow> peerTable();
const PeerRow &peerRow(const PeerState &state);
PeerState peerState(const Pci &pci, const PciDevice &a, const PciDevice &b);

} // namespace nofctl::gpu
