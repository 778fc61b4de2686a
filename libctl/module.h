// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace nofctl {

// Runs modprobe and waits for it; true when it says that the module is there. Only worth trying as root.
bool loadModule(const std::string &name);

} // namespace nofctl
