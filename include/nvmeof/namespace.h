// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace: the multipath disk that applications open.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/uuid.h>

namespace nvmeof {

// Of a zoned namespace (ZNS): each of its zones is written from its beginning to its end
struct Zones {
	std::uint64_t size = 0; // bytes
	std::uint32_t count = 0;
	std::uint32_t maxOpen = 0;   // 0: no limit
	std::uint32_t maxActive = 0; // 0: no limit
	std::uint32_t maxAppend = 0; // bytes of one zone append; 0: none at all
};

// Kinds of reservations, by the bits of what a namespace offers; NVMe Base 2.0, 8.19
enum Reservations : std::uint8_t {
	reservationsPersist = 1 << 0, // through a loss of power
	writeExclusive = 1 << 1,
	exclusiveAccess = 1 << 2,
	writeExclusiveRegistrants = 1 << 3,
	exclusiveAccessRegistrants = 1 << 4,
	writeExclusiveAllRegistrants = 1 << 5,
	exclusiveAccessAllRegistrants = 1 << 6,
};

// The lost association that requests are held back for; of several the one whose hold ends last.
struct Hold {
	std::string controller;            // whose association was lost
	std::string asked;                 // the controller that was asked to reset it; empty if none was
	std::chrono::milliseconds left{0}; // until it ends at the latest
};

struct Namespace {
	std::uint32_t subsystem = 0; // id of its subsystem
	std::string name;            // nvmeof0n1, as in /dev and /sys/block
	std::uint32_t nsid = 0;
	std::string wwid;
	std::optional<Uuid> uuid;
	std::optional<std::array<std::uint8_t, 16>> nguid;
	std::optional<std::array<std::uint8_t, 8>> eui64;
	std::optional<std::uint8_t> csi; // command set: 0 NVM, 1 Key Value, 2 zoned, ...; an older module does not tell
	std::uint32_t lbaSize = 0;       // bytes; 0: see genericOnly()
	std::uint64_t size = 0;          // bytes
	bool readOnly = false;
	std::uint32_t paths = 0;
	std::uint32_t usablePaths = 0; // can take I/O now
	std::uint32_t livePaths = 0;   // their controller is live, whatever their ANA state
	// The same if all controllers that it came over, and those that have tried in vain so far, were live.
	std::uint32_t expectedPaths = 0;
	std::uint32_t waiting = 0; // requests that wait for a path
	std::uint32_t held = 0;    // requests held back by fencing
	std::optional<Hold> hold;  // while there are some
	std::uint32_t openers = 0; // users of the disk: programs that have it open, mounts, other devices
	std::optional<std::chrono::nanoseconds> noPathSince; // CLOCK_BOOTTIME; only while no path is usable
	bool p2p = false; // data may be in PCI peer-to-peer memory: all paths reach it
	std::optional<Zones> zones;
	std::uint8_t reservations = 0;    // of Reservations, or-ed; 0: none
	std::uint8_t protection = 0;      // type of protection information, 1 to 3; 0: none
	std::uint32_t atomicWrite = 0;    // bytes of a write that is done whole or not at all; 0: none
	std::uint32_t atomicBoundary = 0; // bytes, multiples of which such a write does not cross; 0: anywhere
};

// Of a command set that the driver does not know: there is a generic node, /dev/ngnvmeof0n1, and no block device.
inline bool genericOnly(const Namespace &ns)
{
	return ns.lbaSize == 0 && ns.size == 0;
}

} // namespace nvmeof
