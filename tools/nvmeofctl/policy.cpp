// SPDX-License-Identifier: LGPL-2.1-or-later
#include "policy.h"

#include <algorithm>
#include <cerrno>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nvmeof/suggest.h>

#include "documents.h"

using namespace nvmeof;

namespace {

template <typename T> void keepIf(std::optional<T> &value, bool keep)
{
	if (!keep)
		value.reset();
}

int report(Context &context, const std::vector<PolicyOutcome> &outcomes)
{
	int code = 0;
	Json array = Json::array();
	for (const PolicyOutcome &outcome : outcomes) {
		array.push_back(toJson(outcome));
		if (outcome.error) {
			int one = context.complain(outcome.subsystem, *outcome.error);
			code = code ? code : one;
		} else if (!context.json()) {
			context.out() << fmt::format("{} {}\n", outcome.subsystem,
						     outcome.rule ? "set by " + outcome.rule->place.toString()
								  : "matches no rule");
		}
	}
	if (context.json())
		context.print(policiesDocument(array));
	return code;
}

// A missing configuration is an error, except with --new, by which the udev rule runs this.
Result<Config> policiesByHand(const Args &args)
{
	Result<Config> config = policies(args);
	if (!config || !config->files.empty() || args.has("new"))
		return config;
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.message = fmt::format("there is no {}", defaultConfigFile);
	return error;
}

// Next step for a file that cannot be used; empty: usualNextStep() applies.
const char *policyFileStep(const Error &error)
{
	if (error.code == ErrorCode::noSuchObject)
		return "create the file with [[defaults]], or give rules 'NQN-PATTERN NAME=VALUE...' with "
		       "--policy-file FILE";
	return error.code == ErrorCode::invalid ? "correct the file" : "";
}

// Next step for a subsystem that was connected, but not configured.
std::string laterStep(const Args &args, const PolicyOutcome &outcome)
{
	std::string command = "nvmeofctl apply-policy " + outcome.subsystem;
	if (args.has("policy-file"))
		command += " --policy-file " + args.textOr("policy-file", "");
	std::string where = outcome.rule ? fmt::format("{} line {}", outcome.rule->place.file, outcome.rule->place.line)
					 : "the file";
	return outcome.error->code == ErrorCode::invalid
		       ? fmt::format("connected, but not configured: correct {}, then run '{}'", where, command)
		       : fmt::format("connected, but not configured: '{}' retries", command);
}

Result<std::vector<Subsystem>> wanted(Client &client, const std::optional<std::string> &name)
{
	if (!name)
		return client.subsystems();
	Result<Subsystem> one = client.subsystem(*name);
	if (!one)
		return one.error();
	return std::vector<Subsystem>{*one};
}

} // namespace

Result<Config> policies(const Args &args)
{
	if (!args.has("policy-file"))
		return readConfig();
	const std::string file = args.textOr("policy-file", "");
	Result<Config> config = readConfig({{}, file});
	if (!config || !config->files.empty())
		return config;
	Error error;
	error.code = ErrorCode::noSuchObject;
	error.message = "there is no " + file;
	return error;
}

std::string noSelectorText(const std::string &name, const std::vector<std::string> &there)
{
	const std::optional<std::string> meant = closest(name, there);
	return fmt::format("there is no iopolicy '{}'; available: {}{}", name, fmt::join(there, ", "),
			   meant ? fmt::format("; did you mean '{}'?", *meant) : "");
}

SubsystemSettings untouched(SubsystemSettings settings, const Subsystem &subsystem)
{
	const SubsystemSettings fresh = defaultSettings();
	keepIf(settings.iopolicy, subsystem.iopolicy == fresh.iopolicy);
	keepIf(settings.spillLatency, subsystem.spillLatency == fresh.spillLatency);
	keepIf(settings.spillDepth, subsystem.spillDepth == fresh.spillDepth);
	keepIf(settings.degrade, subsystem.degrade == fresh.degrade);
	keepIf(settings.fencing, subsystem.fencing == fresh.fencing);
	keepIf(settings.delayedRemoval, subsystem.delayedRemoval == fresh.delayedRemoval);
	keepIf(settings.quiesceTimeout, subsystem.quiesceTimeout == fresh.quiesceTimeout);
	return settings;
}

PolicyOutcome applyPolicy(Client &client, const Subsystem &subsystem, const Config &config, Extent extent)
{
	PolicyOutcome outcome{subsystem.name, config.subsystemSettingsFor(subsystem.nqn), {}};
	if (!outcome.rule)
		return outcome;
	SubsystemSettings settings = outcome.rule->subsystem;
	if (extent == Extent::untouched)
		settings = untouched(settings, subsystem);
	if (settings == SubsystemSettings())
		return outcome;
	if (Result<void> done = setSubsystem(client, subsystem.name, settings); !done)
		outcome.error = done.error();
	return outcome;
}

Json toJson(const PolicyOutcome &outcome)
{
	Json json{{"subsystem", outcome.subsystem}};
	if (outcome.rule)
		json["rule"] = {{"pattern", outcome.rule->pattern},
				{"line", outcome.rule->place.line},
				{"file", outcome.rule->place.file}};
	if (outcome.error)
		json["error"] = toJson(*outcome.error);
	return json;
}

Json warnOfPolicies(Context &context, const std::vector<PolicyOutcome> &outcomes)
{
	Json entries = Json::array();
	for (const PolicyOutcome &outcome : outcomes) {
		if (outcome.rule || outcome.error)
			entries.push_back(toJson(outcome));
		if (outcome.error)
			context.warn(outcome.subsystem, *outcome.error, laterStep(context.args(), outcome));
	}
	return entries;
}

std::vector<Subsystem> subsystemsSince(Client &client, const std::vector<Subsystem> &before)
{
	Result<std::vector<Subsystem>> read = client.subsystems();
	std::vector<Subsystem> now = read ? *std::move(read) : std::vector<Subsystem>();
	std::erase_if(now, [&](const Subsystem &one) {
		return std::ranges::any_of(before, [&](const Subsystem &other) { return other.id == one.id; });
	});
	return now;
}

Json applyToNew(Context &context, Client &client, const std::vector<Subsystem> &subsystems,
		const Result<Config> &config)
{
	std::vector<PolicyOutcome> outcomes;
	outcomes.reserve(subsystems.size());
	for (const Subsystem &subsystem : subsystems)
		outcomes.push_back(config ? applyPolicy(client, subsystem, *config, Extent::untouched)
					  : PolicyOutcome{subsystem.name, {}, config.error()});
	return warnOfPolicies(context, outcomes);
}

Result<void> setSubsystem(Client &client, const std::string &name, const SubsystemSettings &settings)
{
	Result<void> done = client.set(name, settings);
	if (done || !settings.iopolicy || done.error().sysErrno != ENOENT || done.error().code == ErrorCode::noModule)
		return done;
	Error error = done.error();
	error.code = ErrorCode::invalid;
	if (Result<ModuleVersion> version = client.version())
		error.message = noSelectorText(*settings.iopolicy, version->selectors);
	return error;
}

int runApplyPolicy(Context &context)
{
	std::optional<std::string> name = context.args().text("NAME");
	Result<Config> rules = policiesByHand(context.args());
	if (!rules)
		return context.fail("", rules.error(), policyFileStep(rules.error()));
	Result<Client> client = Client::open();
	if (!client)
		return context.fail(name.value_or(""), client.error());
	Result<std::vector<Subsystem>> subsystems = wanted(*client, name);
	// The udev rule runs later: a subsystem may be gone again after a connect that failed.
	if (!subsystems && context.args().has("new") && subsystems.error().sysErrno == ENOENT)
		return 0;
	if (!subsystems)
		return context.fail(name.value_or(""), subsystems.error());
	std::vector<PolicyOutcome> outcomes;
	for (const Subsystem &subsystem : *subsystems)
		outcomes.push_back(applyPolicy(*client, subsystem, *rules,
					       context.args().has("new") ? Extent::untouched : Extent::all));
	return report(context, outcomes);
}
