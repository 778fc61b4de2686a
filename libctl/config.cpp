// SPDX-License-Identifier: LGPL-2.1-or-later
// Evaluates a configuration; config_parse.cpp parses it.
#include <nvmeof/config.h>

#include <fnmatch.h>

namespace nvmeof {

namespace {

bool fits(const ConfigDefaults &entry, const std::string &nqn)
{
	return ::fnmatch(entry.pattern.c_str(), nqn.c_str(), 0) == 0;
}

ConnectOptions optionsOf(const Config &config, const ConfigTarget &target, const Address &address)
{
	ConnectOptions options;
	options.transport = target.transport;
	options.address = address;
	options.subsysnqn = target.nqn;
	options.hostnqn = target.hostnqn ? target.hostnqn : config.hostnqn;
	// A host ID belongs to its host NQN: another NQN does not get the configured ID of this host.
	options.hostid = target.hostid || target.hostnqn ? target.hostid : config.hostid;
	options.hostTraddr = target.hostTraddr;
	options.hostIface = target.hostIface;
	options.duplicateConnect = target.duplicateConnect;
	return options;
}

} // namespace

std::string ConfigPlace::toString() const
{
	return line ? file + ":" + std::to_string(line) : file;
}

ConnectSettings Config::connectSettingsFor(const std::string &nqn) const
{
	ConnectSettings settings;
	for (const ConfigDefaults &entry : defaults) {
		if (!fits(entry, nqn))
			continue;
		settings.complete(entry.connect);
		if (entry.last)
			break;
	}
	return settings;
}

std::optional<ConfigDefaults> Config::subsystemSettingsFor(const std::string &nqn) const
{
	std::optional<ConfigDefaults> found;
	for (const ConfigDefaults &entry : defaults) {
		if (!fits(entry, nqn))
			continue;
		if (!found)
			found = entry;
		found->subsystem.complete(entry.subsystem);
		if (entry.last)
			break;
	}
	return found;
}

bool Config::mdnsOn(const std::string &interface) const
{
	auto named = mdnsInterfaces.find(interface);
	return named == mdnsInterfaces.end() ? mdns : named->second;
}

ConnectOptions serviceOptions(const Config &config, const ConfigTarget &service, const Address &address)
{
	ConnectOptions options = optionsOf(config, service, address);
	service.settings.apply(options);
	return options;
}

ConnectOptions connectionOptions(const Config &config, const ConfigTarget &connection, const Address &address)
{
	ConnectOptions options = optionsOf(config, connection, address);
	ConnectSettings settings = connection.settings;
	settings.complete(config.connectSettingsFor(connection.nqn));
	settings.apply(options);
	return options;
}

PlanRules planRules(const Config &config)
{
	PlanRules rules;
	rules.limits = config.limits;
	rules.exclusions = config.exclusions;
	rules.hostnqn = config.hostnqn.value_or("");
	rules.connectSelf = config.connectSelf;
	rules.settings = [&config](const std::string &nqn) { return config.connectSettingsFor(nqn); };
	return rules;
}

DifferenceRules differenceRules(const Config &config)
{
	DifferenceRules rules;
	rules.removal = config.removal;
	rules.removeOpen = config.removeOpen;
	rules.connections = config.mostConnections;
	rules.hostnqn = config.hostnqn.value_or("");
	for (const ConfigTarget &service : config.services)
		rules.discoveryNqns.push_back(service.nqn);
	return rules;
}

Result<Config> ConfigReading::outcome() const
{
	if (problems.empty())
		return config;
	Error error;
	error.code = problems.front().code;
	error.message = problems.front().place.toString() + ": " + problems.front().message;
	if (problems.size() > 1)
		error.message += "; and " + std::to_string(problems.size() - 1) + " more";
	error.object = {ErrorObject::Kind::file, problems.front().place.file};
	return error;
}

} // namespace nvmeof
