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

#include "context.h"
#include "json.h"
#include "parse.h"

// The configuration, or only the file named by --policy-file, which must exist. The default files may be absent.
nvmeof::Result<nvmeof::Config> policies(const Args &args);

/*
 * The settings of a rule that are applied: all, or only those that still have the module's default in the subsystem, so
 * that values set by hand are kept.
 */
enum class Extent { all, untouched };

// The @settings whose value in @subsystem is the module's default.
nvmeof::SubsystemSettings untouched(nvmeof::SubsystemSettings settings, const nvmeof::Subsystem &subsystem);

// Result for one subsystem. Without a rule, none matches or, with an error, the configuration cannot be used.
struct PolicyOutcome {
	std::string subsystem;
	std::optional<nvmeof::ConfigDefaults> rule; // the first that matches, with the settings of all that match
	std::optional<nvmeof::Error> error;
};

PolicyOutcome applyPolicy(nvmeof::Client &client, const nvmeof::Subsystem &subsystem, const nvmeof::Config &config,
			  Extent extent);
Json toJson(const PolicyOutcome &outcome);
// For a command that has otherwise succeeded: reports errors as warnings. Returns the entries of outcomes with a rule
// or an error.
Json warnOfPolicies(Context &context, const std::vector<PolicyOutcome> &outcomes);

// The subsystems that are not in @before; none if they cannot be read.
std::vector<nvmeof::Subsystem> subsystemsSince(nvmeof::Client &client, const std::vector<nvmeof::Subsystem> &before);

// Applies the configuration to subsystems that a command has created, with Extent::untouched. Errors are warnings.
// Returns what warnOfPolicies() returns.
Json applyToNew(Context &context, nvmeof::Client &client, const std::vector<nvmeof::Subsystem> &subsystems,
		const nvmeof::Result<nvmeof::Config> &config);

// Error message for an iopolicy that the module does not have. @there: those it has
std::string noSelectorText(const std::string &name, const std::vector<std::string> &there);

// Client::set(), but the error for an unknown iopolicy lists the existing ones.
nvmeof::Result<void> setSubsystem(nvmeof::Client &client, const std::string &name,
				  const nvmeof::SubsystemSettings &settings);
