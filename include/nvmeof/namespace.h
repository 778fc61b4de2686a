// SPDX-License-Identifier: LGPL-2.1-or-later
// A namespace: the multipath disk that applications open.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/uuid.h>

namespace nvmeof {

struct Namespace {
	std::uint32_t subsystem = 0; // id of its subsystem
	std::string name;            // nvmeof0n1, as in /dev and /sys/block
	std::uint32_t nsid = 0;
	std::string wwid;
	std::optional<Uuid> uuid;
	std::optional<std::array<std::uint8_t, 16>> nguid;
	std::optional<std::array<std::uint8_t, 8>> eui64;
	std::uint32_t lbaSize = 0; // bytes
	std::uint64_t size = 0;    // bytes
	bool readOnly = false;
	std::uint32_t paths = 0;
	std::uint32_t usablePaths = 0; // can take I/O now
	std::uint32_t waiting = 0;     // requests that wait for a path
	std::uint32_t held = 0;        // requests held back by fencing
};

} // namespace nvmeof
