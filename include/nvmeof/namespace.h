// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace: the multipath disk that applications use.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/uuid.h>

namespace nvmeof {

// Zones of a zoned namespace (ZNS), which must be written sequentially.
struct Zones {
	std::uint64_t size = 0; // bytes
	std::uint32_t count = 0;
	std::uint32_t maxOpen = 0;   // 0: no limit
	std::uint32_t maxActive = 0; // 0: no limit
	std::uint32_t maxAppend = 0; // largest zone append, bytes; 0: not supported
};

// Reservation types that a namespace supports (RESCAP); NVMe Base 2.0, 8.19
enum Reservations : std::uint8_t {
	reservationsPersist = 1 << 0, // PTPL: persists through power loss
	writeExclusive = 1 << 1,
	exclusiveAccess = 1 << 2,
	writeExclusiveRegistrants = 1 << 3,
	exclusiveAccessRegistrants = 1 << 4,
	writeExclusiveAllRegistrants = 1 << 5,
	exclusiveAccessAllRegistrants = 1 << 6,
};

// The lost association for which fencing holds requests. If there are several, the one whose hold ends last.
struct Hold {
	std::string controller;            // controller of the lost association
	std::string asked;                 // controller asked for a Cross-Controller Reset of it; empty: none
	std::chrono::milliseconds left{0}; // until the time limit of the hold
};

struct Namespace {
	std::uint32_t subsystem = 0; // id of its subsystem
	std::string name;            // nvmeof0n1, as in /dev and /sys/block
	std::uint32_t nsid = 0;
	std::string wwid;
	std::optional<Uuid> uuid;
	std::optional<std::array<std::uint8_t, 16>> nguid;
	std::optional<std::array<std::uint8_t, 8>> eui64;
	std::optional<std::uint8_t> csi; // command set: 0 NVM, 1 Key Value, 2 zoned, ...; not set: old module
	std::uint32_t lbaSize = 0;       // bytes; 0: see genericOnly()
	std::uint64_t size = 0;          // bytes
	bool readOnly = false;
	std::uint32_t paths = 0;
	std::uint32_t usablePaths = 0; // that can take I/O now
	std::uint32_t livePaths = 0;   // whose controller is live, regardless of ANA state
	// livePaths if all controllers of the namespace, including lost and unscanned ones, were live.
	std::uint32_t expectedPaths = 0;
	std::uint32_t waiting = 0;                           // requests waiting for a path
	std::uint32_t held = 0;                              // requests held by fencing
	std::optional<Hold> hold;                            // set while requests are held
	std::uint32_t openers = 0;                           // openers of the disk: processes, mounts, stacked devices
	std::optional<std::chrono::nanoseconds> noPathSince; // CLOCK_BOOTTIME; set only while no path is usable
	bool p2p = false;                                    // all paths support PCI peer-to-peer memory
	std::optional<Zones> zones;
	std::uint8_t reservations = 0;    // bits of enum Reservations; 0: none
	std::uint8_t protection = 0;      // protection information type, 1 to 3; 0: none
	std::uint32_t atomicWrite = 0;    // largest atomic write, bytes; 0: none
	std::uint32_t atomicBoundary = 0; // bytes; an atomic write must not cross a multiple; 0: no boundary
};

// The driver does not support the command set: the namespace has a generic node, /dev/ngnvmeof0n1, but no block device.
inline bool genericOnly(const Namespace &ns)
{
	return ns.lbaSize == 0 && ns.size == 0;
}

} // namespace nvmeof
