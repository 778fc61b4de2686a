// SPDX-License-Identifier: LGPL-2.1-or-later
// All objects of the driver at one point in time.
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
	std::chrono::nanoseconds time{0}; // CLOCK_BOOTTIME, like the kernel's time stamps
	std::vector<Subsystem> subsystems;
	std::vector<Controller> controllers;
	std::vector<Namespace> namespaces;
	std::vector<Path> paths;

	// Null if there is no such object. The lists are read one after another, so an object may have been removed
	// between two of them.
	const Controller *controller(std::string_view name) const;
	const Namespace *nameSpace(std::string_view name) const;
	const Subsystem *subsystem(std::uint32_t id) const;
	std::vector<const Path *> pathsOf(const Namespace &ns) const;
};

// Reads all lists, on a socket of its own. Waits only for the kernel. Errors: see Client.
Result<Snapshot> readSnapshot();

// Keeps only the objects that belong to the object @name, which may be of any kind. An empty name keeps all. False:
// there is no such object.
bool narrow(Snapshot &snapshot, std::string_view name);

} // namespace nvmeof
