// SPDX-License-Identifier: LGPL-2.1-or-later
// One entry of a discovery log, as a plan looks at it.
#pragma once

#include <string>

#include <nvmeof/discovery_plan.h>

namespace nofctl {

// Without what a terminal or a log could take for more than text.
std::string shown(const std::string &text);
// "tcp 10.0.0.1:4420 nqn..."
std::string planText(const nvmeof::ConnectOptions &options);
// A link-local address is one of an interface: that over which its service is reached.
std::string withScope(const std::string &traddr, const nvmeof::ConnectOptions &service);
// Why not to connect to it, as @options say; empty: nothing is against it.
std::string refusalOf(const nvmeof::DiscoveryEntry &entry, const nvmeof::ConnectOptions &options,
		      const nvmeof::ConnectOptions &service, const nvmeof::PlanRules &rules);

} // namespace nofctl
