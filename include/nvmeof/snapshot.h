// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything there is at one moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nvmeof/controller.h>
#include <nvmeof/namespace.h>
#include <nvmeof/path.h>
#include <nvmeof/result.h>
#include <nvmeof/subsystem.h>

namespace nvmeof {

struct Snapshot {
	std::chrono::nanoseconds time{0}; // CLOCK_BOOTTIME, as the kernel's own times
	std::vector<Subsystem> subsystems;
	std::vector<Controller> controllers;
	std::vector<Namespace> namespaces;
	std::vector<Path> paths;

	// Null when it went between two of the readings.
	const Controller *controller(std::string_view name) const;
	const Namespace *nameSpace(std::string_view name) const;
	const Subsystem *subsystem(std::uint32_t id) const;
	std::vector<const Path *> pathsOf(const Namespace &ns) const;
};

// Reads it, on a socket of its own. Waits for the kernel alone; errors as of Client.
Result<Snapshot> readSnapshot();

// Only what belongs to the object of that name, of any kind; all for an empty name. False: there is no such object.
bool narrow(Snapshot &snapshot, std::string_view name);

} // namespace nvmeof
