// SPDX-License-Identifier: LGPL-2.1-or-later
// How an instance identifies itself to hosts
#pragma once

#include <string>

namespace cdc {

struct Identity {
	std::string id;     // UUID, kept across restarts
	std::string nqn;    // of its discovery subsystem, in addition to the well-known NQN
	std::string serial; // at most 20 characters
	std::string version;
};

} // namespace cdc
