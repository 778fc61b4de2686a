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

// What is meant where the command line does not say it; no NQN: it has to.
struct PlanDefaults {
	const char *nqn = "";
	const char *port = nvmeof::defaultPort;
};

nvmeof::Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults = {});

// What to do about a connect that failed.
std::string connectNextStep(const nvmeof::Error &error, const nvmeof::ConnectOptions &options);
