// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings of subsystems from the configuration.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/config.h>

#include "args.h"
#include "context.h"
#include "json.h"

// The configuration, or what stands in the file that --policy-file names alone. Usual files need not be there.
nvmeof::Result<nvmeof::Config> policies(const Args &args);

/*
 * What a rule applies to: everything it says, or only what is still as the module makes it, so that what somebody has
 * set meanwhile stays.
 */
enum class Extent { all, untouched };

// Those of @settings whose value in @subsystem is the module's own.
nvmeof::SubsystemSettings untouched(nvmeof::SubsystemSettings settings, const nvmeof::Subsystem &subsystem);

// What has become of one subsystem; no rule: none fits or, with an error, the file cannot be used.
struct PolicyOutcome {
	std::string subsystem;
	std::optional<nvmeof::ConfigDefaults> rule; // of several that fit the first, with the settings of all
	std::optional<nvmeof::Error> error;
};

PolicyOutcome applyPolicy(nvmeof::Client &client, const nvmeof::Subsystem &subsystem, const nvmeof::Config &config,
			  Extent extent);
Json toJson(const PolicyOutcome &outcome);
// For a command that has succeeded in what it was asked for: what went wrong is a warning. Returns the entries of those
// with a rule or an error.
Json warnOfPolicies(Context &context, const std::vector<PolicyOutcome> &outcomes);

// Those that there are, and were not @before; none where they cannot be read.
std::vector<nvmeof::Subsystem> subsystemsSince(nvmeof::Client &client, const std::vector<nvmeof::Subsystem> &before);

// Sets subsystems that a command has made, where they are still as the module made them. The command stands whatever
// comes of it. Returns what warnOfPolicies() does.
Json applyToNew(Context &context, nvmeof::Client &client, const std::vector<nvmeof::Subsystem> &subsystems,
		const nvmeof::Result<nvmeof::Config> &config);

// The error of "set" for an iopolicy that the module does not have
std::string noSelectorText(const std::string &name, const std::vector<std::string> &there);

// set(), with an error about an unknown iopolicy that lists those there are.
nvmeof::Result<void> setSubsystem(nvmeof::Client &client, const std::string &name,
				  const nvmeof::SubsystemSettings &settings);
