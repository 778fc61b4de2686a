// SPDX-License-Identifier: LGPL-2.1-or-later
// What a "connect" command line asks for.
#pragma once

#include <chrono>
#include <vector>

#include <nvmeof/client.h>

#include "args.h"

struct ConnectPlan {
	std::vector<nvmeof::ConnectOptions> options; // one for each address
	nvmeof::WaitFor wait = nvmeof::WaitFor::namespaces;
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

nvmeof::Result<ConnectPlan> planConnect(const Args &args);

// What to do about a connect that failed.
std::string connectNextStep(const nvmeof::Error &error, const nvmeof::ConnectOptions &options);
