// SPDX-License-Identifier: LGPL-2.1-or-later
// The connections that a command line requests.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/connect_settings.h>

#include "libctl/gpu/tree.h"

#include "args.h"

class Context;

struct ConnectPlan {
	std::vector<nvmeof::ConnectOptions> options; // one for each address
	std::vector<std::string> typed;              // host name of each address; empty if given as an address
	nvmeof::WaitFor wait = nvmeof::WaitFor::namespaces;
	std::chrono::milliseconds timeout = nvmeof::defaultTimeout;
};

// Defaults for a command line. If the NQN is empty, the command must require --nqn.
struct PlanDefaults {
	const char *nqn = "";
	const char *port = nvmeof::defaultPort;
};

using Resolve = std::function<nvmeof::Result<std::vector<nvmeof::Address>>(std::string_view, std::string_view port)>;

nvmeof::Result<ConnectPlan> planConnect(const Args &args, const PlanDefaults &defaults = {},
					const Resolve &resolve = nvmeof::resolveAddress);

// A value of --wait
nvmeof::WaitFor waitOf(const std::string &word);
// Connect settings of the command line.
nvmeof::ConnectSettings settingsOf(const Args &args);

// Notes the addresses of host names, and NQNs that do not conform to the specification.
void noteNames(Context &context, const ConnectPlan &plan);
// Next step for an error of planConnect(); may be empty.
std::string nameStep(const nvmeof::Error &error);
// Next step for a connect that failed; may be empty. Where no packet can have reached the target, it names a network
// interface of @tree that has no carrier, or is down.
std::string connectNextStep(const nvmeof::Error &error, const nvmeof::ConnectOptions &options,
			    const nofctl::gpu::Tree &tree = nofctl::gpu::FolderTree());
