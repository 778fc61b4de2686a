// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers this host with a centralized discovery controller: TP8010, explicit registration.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nofctl {

// @controller: an existing discovery controller; @options: those of its connect. Blocks. False: the service does not
// report that it accepts registrations.
nvmeof::Result<bool> registerHost(const std::string &controller, const nvmeof::ConnectOptions &options,
				  std::chrono::milliseconds timeout);

} // namespace nofctl
