// SPDX-License-Identifier: LGPL-2.1-or-later
// What a "connect" command line asks for.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/connect_settings.h>

#include "args.h"

class Context;

struct ConnectPlan {
	std::vector<nvmeof::ConnectOptions> options; // one for each address
	std::vector<std::string> typed;              // of each address the host name that it came from; empty: none
	nvmeof::WaitFor wait = nvmeof::WaitFor::namespaces;
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

// What is meant where the command line does not say it; no NQN: it has to.
struct PlanDefaults {
	const char *nqn = "";
	const char *port = nvmeof::defaultPort;
};

using Resolve = std::function<nvmeof::Result<std::vector<nvmeof::Address>>(std::string_view, std::string_view port)>;

nvmeof::Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults = {},
					const Resolve &resolve = nvmeof::resolveAddress);

// A value of --wait
nvmeof::WaitFor waitOf(const std::string &word);
// What the command line says of how to connect.
nvmeof::ConnectSettings settingsOf(const Args &args);

// Tells which addresses a name has.
void tellNames(Context &context, const ConnectPlan &plan);
// What to do about a plan that cannot be made; may be empty.
std::string nameStep(const nvmeof::Error &error);
// What to do about a connect that failed.
std::string connectNextStep(const nvmeof::Error &error, const nvmeof::ConnectOptions &options);
