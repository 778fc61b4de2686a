// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace nofctl {

// Path selectors (iopolicy) of the module nvmeof itself; see kmod/mpath/choose.c
inline const std::vector<std::string> &ownSelectors()
{
	static const std::vector<std::string> names{"numa", "round-robin", "queue-depth", "latency"};
	return names;
}

inline bool isOwnSelector(const std::string &name)
{
	return std::ranges::find(ownSelectors(), name) != ownSelectors().end();
}

} // namespace nofctl
