// SPDX-License-Identifier: LGPL-2.1-or-later
// An NVM subsystem as this host sees it: one per (subsystem NQN, host NQN, host ID).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/uuid.h>

namespace nvmeof {

struct Subsystem {
	std::uint32_t id = 0; // the 0 of nvmeof0
	std::string name;
	std::string nqn;
	std::string hostnqn;
	std::optional<Uuid> hostid;
	std::string model;
	std::string serial;
	std::string firmware;
	std::string iopolicy; // name of the path selector
	std::uint32_t controllers = 0;
	std::uint32_t namespaces = 0;
};

} // namespace nvmeof
