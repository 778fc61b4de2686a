// SPDX-License-Identifier: LGPL-2.1-or-later
// What an instance of the service is to others.
#pragma once

#include <string>

namespace cdc {

struct Identity {
	std::string id;     // a UUID, kept over restarts
	std::string nqn;    // of its discovery subsystem, besides the well-known one
	std::string serial; // 20 characters at most
	std::string version;
};

} // namespace cdc
