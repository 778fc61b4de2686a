// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether this kernel and this machine have what TLS connections need.
#pragma once

#include <string>
#include <vector>

namespace tlsd {

struct Finding {
	enum class Kind { ok, note, missing };

	Kind kind = Kind::missing;
	std::string text; // of missing: what to do, too
};

// Loads the kernel's module tls if it can.
std::vector<Finding> checkMachine();

} // namespace tlsd
