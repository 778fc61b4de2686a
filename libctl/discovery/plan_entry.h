// SPDX-License-Identifier: LGPL-2.1-or-later
// Evaluates one entry of a discovery log for a plan.
#pragma once

#include <string>

#include <nvmeof/discovery_plan.h>

namespace nofctl {

// "tcp 10.0.0.1:4420 nqn..."
std::string planText(const nvmeof::ConnectOptions &options);
// Adds the interface of the connection to @service to a link-local address.
std::string withScope(const std::string &traddr, const nvmeof::ConnectOptions &service);
// Whether its connection has to use TLS: it requires a secure channel, or is served over TLS and does not say that it
// requires none.
bool needsTls(const nvmeof::DiscoveryEntry &entry);
// Why no connect over RDMA can succeed with these options; empty: one can, or there is one already.
std::string transportRefusal(const nvmeof::ConnectOptions &options, const nvmeof::PlanRules &rules);
// Why this entry must not be connected to with @options; empty: it may be.
std::string refusalOf(const nvmeof::DiscoveryEntry &entry, const nvmeof::ConnectOptions &options,
		      const nvmeof::ConnectOptions &service, const nvmeof::PlanRules &rules);

} // namespace nofctl
