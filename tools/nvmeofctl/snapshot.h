// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything there is at one moment, for commands that show several kinds of objects together.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include <nvmeof/client.h>

struct Snapshot {
	std::chrono::nanoseconds time{0}; // CLOCK_BOOTTIME, as the kernel's own times
	std::vector<nvmeof::Subsystem> subsystems;
	std::vector<nvmeof::Controller> controllers;
	std::vector<nvmeof::Namespace> namespaces;
	std::vector<nvmeof::Path> paths;

	// Null when it went between two of the readings.
	const nvmeof::Controller *controller(std::string_view name) const;
	const nvmeof::Namespace *nameSpace(std::string_view name) const;
	const nvmeof::Subsystem *subsystem(std::uint32_t id) const;
	std::vector<const nvmeof::Path *> pathsOf(const nvmeof::Namespace &ns) const;
};

nvmeof::Result<Snapshot> readSnapshot();

// Only what belongs to the object of that name, of any kind; all for an empty name. False: there is no such object.
bool narrow(Snapshot &snapshot, std::string_view name);
