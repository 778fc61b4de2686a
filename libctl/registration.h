// SPDX-License-Identifier: LGPL-2.1-or-later
// This host at a centralized discovery controller: TP8010, explicit registration.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/connect.h>
#include <nvmeof/result.h>

namespace nofctl {

// Through a discovery controller that is there. @options: by which it was connected to. Blocks. False: the service does
// not say that it takes registrations.
nvmeof::Result<bool> registerHost(const std::string &controller, const nvmeof::ConnectOptions &options,
				  std::chrono::milliseconds timeout);

} // namespace nofctl
