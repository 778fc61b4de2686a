// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The configuration: /etc/nvmeof/nvmeof.toml and the files in nvmeof.d. It sets the identity of this host, the
 * discovery services to read, and the connections with their settings. See Documentation/discovery.md. It holds no
 * secrets.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/connect_settings.h>
#include <nvmeof/difference.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/exclusion.h>
#include <nvmeof/policy_file.h>
#include <nvmeof/settings.h>

namespace nvmeof {

inline constexpr const char *defaultConfigFile = "/etc/nvmeof/nvmeof.toml";

struct ConfigPlace {
	std::string file;
	unsigned line = 0; // from 1; 0: the whole file

	bool operator==(const ConfigPlace &) const = default;
	std::string toString() const; // "/etc/nvmeof/nvmeof.toml:12"
};

// [[discovery]] or [[connection]]: a discovery service or a subsystem, at one or several addresses.
struct ConfigTarget {
	std::string transport = "tcp";
	std::vector<std::string> addresses; // as accepted by "connect -a", host names included
	std::string port;                   // for addresses without a port
	std::string nqn;
	std::optional<std::string> hostnqn; // default: the host's own
	std::optional<Uuid> hostid;
	std::string hostTraddr;
	std::string hostIface;
	std::string rail; // GPU (PCI address) or "all": connect through the NICs near them; empty: default routing
	ConnectSettings settings;
	bool duplicateConnect = false;  // [[connection]] only
	std::optional<bool> persistent; // [[discovery]] only: keep a connection, regardless of EPCSD
	ConfigPlace place;
};

// [[defaults]]: settings for connections to subsystems whose NQN matches, and for these subsystems.
struct ConfigDefaults {
	std::string pattern = "*"; // see fnmatch(3)
	ConnectSettings connect;
	SubsystemSettings subsystem;
	ConfigPlace place;
	bool last = false; // if this entry matches, later ones are ignored; always set for entries from policy.conf
};

// [[security]]: what connections to subsystems and discovery services whose NQN matches must have. The first match
// applies.
struct ConfigSecurity {
	std::string pattern = "*"; // see fnmatch(3)
	SecurityRule rule;
};

// [[stripe]]: a device-mapper stripe over namespaces, created when all of them exist.
struct ConfigStripe {
	std::string name;                 // below /dev/mapper
	std::uint64_t chunk = 128 * 1024; // bytes
	std::vector<std::string> members; // in stripe order, by wwid: "uuid.6f1b2c3d-..."
	ConfigPlace place;
};

struct Config {
	std::optional<std::string> hostnqn; // default: from /etc/nvme/hostnqn
	std::optional<Uuid> hostid;
	std::vector<ConfigTarget> services;
	std::vector<ConfigTarget> connections;
	std::vector<ConfigDefaults> defaults;
	std::vector<ConfigSecurity> securities;
	std::vector<Exclusion> exclusions;
	std::vector<ConfigStripe> stripes;
	RemovalPolicy removal = RemovalPolicy::own;
	bool removeOpen = false; // also remove the last path of an open disk
	PlanLimits limits;
	std::size_t mostConnections = 4096; // limit for all services together
	bool connectSelf = false;           // see PlanRules::connectSelf
	bool mdns = false;                  // for interfaces not in mdnsInterfaces
	std::map<std::string, bool> mdnsInterfaces;

	std::vector<std::string> files; // the files read, in that order
	std::vector<std::string> notes; // hints for the user

	// Merges all entries of defaults that match @nqn. For each setting, the first entry that has it wins. With
	// securityFor().
	ConnectSettings connectSettingsFor(const std::string &nqn) const;
	// The same for subsystem settings; pattern and place are those of the first match. Empty if no entry matches.
	std::optional<ConfigDefaults> subsystemSettingsFor(const std::string &nqn) const;
	// Nothing: no [[security]] matches.
	std::optional<SecurityRule> securityFor(const std::string &nqn) const;
	bool mdnsOn(const std::string &interface) const;
};

// Options for connecting to the target at @address. The target's own settings come first; for a connection, the
// defaults for its NQN supply the rest.
ConnectOptions serviceOptions(const Config &config, const ConfigTarget &service, const Address &address);
ConnectOptions connectionOptions(const Config &config, const ConfigTarget &connection, const Address &address);
// Rules from the configuration. The caller sets owner, ownAddresses and present, and hostnqn if it is not configured.
// The result refers to @config.
PlanRules planRules(const Config &config);
DifferenceRules differenceRules(const Config &config);

struct ConfigProblem {
	ConfigPlace place;
	std::string message;
	ErrorCode code = ErrorCode::invalid; // other codes: the file could not be read
};

// The valid part of a configuration, and all problems found.
struct ConfigReading {
	Config config;
	std::vector<ConfigProblem> problems;
	// A file with [[security]] has problems, or cannot be read: a rule may be missing here, so that nothing may be
	// connected by what was read. Set with problems only.
	bool securityUnknown = false;

	// The configuration, or the first problem as an Error that also gives the number of further ones.
	Result<Config> outcome() const;
	// For a connect that goes on without the configuration if that has problems: then only what securityFor()
	// returns. Errors: the first problem, if securityUnknown.
	Result<ConnectSettings> connectSettingsFor(const std::string &nqn) const;
};

struct ConfigFiles {
	std::filesystem::path main = defaultConfigFile;   // also *.toml in the folder with .d in place of .toml
	std::filesystem::path policy = defaultPolicyFile; // of older versions, read as defaults; empty: none
};

// Parses the text of one file.
ConfigReading parseConfig(std::string_view text, const std::string &file);
// Missing files are skipped. The limit is 1 MiB per file. A later file overrides single values and appends to lists.
ConfigReading inspectConfig(const ConfigFiles &files = {});
Result<Config> readConfig(const ConfigFiles &files = {});

// The text of a configuration file, without values that equal the default.
std::string formatConfig(const Config &config);

} // namespace nvmeof
