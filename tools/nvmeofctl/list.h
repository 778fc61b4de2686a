// SPDX-License-Identifier: LGPL-2.1-or-later
// Output of "list" and "list-subsys".
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nvmeof/topology.h>

// "list": the cell of the paths also has the number of those that are slow or left out.
std::string formatNamespaces(const std::vector<nvmeof::Namespace> &namespaces,
			     const std::vector<nvmeof::Subsystem> &subsystems,
			     const std::vector<nvmeof::Path> &paths = {});
enum class Detail { brief, verbose }; // verbose: how each controller is authenticated and encrypted, too

// "list-subsys": ANA states and conditions of paths are those of live controllers.
std::string formatSubsystems(const std::vector<nvmeof::Subsystem> &subsystems,
			     const std::vector<nvmeof::Controller> &controllers, const std::vector<nvmeof::Path> &paths,
			     Detail detail = Detail::brief, std::chrono::nanoseconds now = nvmeof::bootTime());
