// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

#include <nvmeof/discovery.h>

namespace nofctl {

// The NQN of a discovery service for which @configured may be empty: the well-known one then
inline std::string serviceNqn(const std::string &configured)
{
	return configured.empty() ? nvmeof::discoveryNqn : configured;
}

} // namespace nofctl
