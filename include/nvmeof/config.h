// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * /etc/nvmeof/nvmeof.toml with what is in nvmeof.d beside it: who this host is, which discovery services it asks, what
 * it connects to, and how. See Documentation/discovery.md. There is no secret in it, and no place for one.
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
	unsigned line = 0; // from 1; 0: the file as a whole

	bool operator==(const ConfigPlace &) const = default;
	std::string toString() const; // "/etc/nvmeof/nvmeof.toml:12"
};

// [[discovery]] or [[connection]]: a service, or a subsystem, at one or several addresses.
struct ConfigTarget {
	std::string transport = "tcp";
	std::vector<std::string> addresses; // as connect's -a takes them: host names, too
	std::string port;                   // of those that have none
	std::string nqn;
	std::optional<std::string> hostnqn; // if not the host's own
	std::optional<Uuid> hostid;
	std::string hostTraddr;
	std::string hostIface;
	std::string
		rail; // a GPU's PCI address, or "all": over the cards next to it, or to them; empty: as Linux routes
	ConnectSettings settings;
	bool duplicateConnect = false;  // of a connection
	std::optional<bool> persistent; // of a service: hold a connection to it, whatever it says of itself
	ConfigPlace place;
};

// [[defaults]]: how to connect to subsystems of such an NQN, and how they are set.
struct ConfigDefaults {
	std::string pattern = "*"; // as in fnmatch(3)
	ConnectSettings connect;
	SubsystemSettings subsystem;
	ConfigPlace place;
	bool last = false; // what follows does not count where this one fits, as ever in policy.conf
};

// [[stripe]]: a disk of device mapper, made of namespaces when all of them are there.
struct ConfigStripe {
	std::string name;                 // in /dev/mapper
	std::uint64_t chunk = 128 * 1024; // bytes
	std::vector<std::string> members; // in their order, by wwid: "uuid.6f1b2c3d-..."
	ConfigPlace place;
};

struct Config {
	std::optional<std::string> hostnqn; // not set: /etc/nvme/hostnqn
	std::optional<Uuid> hostid;
	std::vector<ConfigTarget> services;
	std::vector<ConfigTarget> connections;
	std::vector<ConfigDefaults> defaults;
	std::vector<Exclusion> exclusions;
	std::vector<ConfigStripe> stripes;
	RemovalPolicy removal = RemovalPolicy::own;
	bool removeOpen = false; // the last path of a disk that is open, too
	PlanLimits limits;
	std::size_t mostConnections = 4096; // of all services together
	bool connectSelf = false;           // PlanRules::connectSelf
	bool mdns = false;                  // on interfaces that are not named
	std::map<std::string, bool> mdnsInterfaces;

	std::vector<std::string> files; // that it was read from
	std::vector<std::string> notes; // worth knowing about them

	// Each setting is that of the first entry of defaults that fits the whole NQN, and has it.
	ConnectSettings connectSettingsFor(const std::string &nqn) const;
	// The same for the subsystem; pattern and place are those of the first that fits. Nothing: none does.
	std::optional<ConfigDefaults> subsystemSettingsFor(const std::string &nqn) const;
	bool mdnsOn(const std::string &interface) const;
};

/*
 * What @target asks for at @address. Its own settings come first; of a connection, those of the defaults for its NQN
 * complete them.
 */
ConnectOptions serviceOptions(const Config &config, const ConfigTarget &service, const Address &address);
ConnectOptions connectionOptions(const Config &config, const ConfigTarget &connection, const Address &address);
// But for hostnqn, owner, ownAddresses and present, which are not configured. Refers to @config.
PlanRules planRules(const Config &config);
DifferenceRules differenceRules(const Config &config);

struct ConfigProblem {
	ConfigPlace place;
	std::string message;
	ErrorCode code = ErrorCode::invalid; // else the file could not be read
};

// What could be read, with all that is wrong.
struct ConfigReading {
	Config config;
	std::vector<ConfigProblem> problems;

	// An error with the first problem, and how many more there are.
	Result<Config> outcome() const;
};

struct ConfigFiles {
	std::filesystem::path main = defaultConfigFile;   // and *.toml in the folder of that name with .d for .toml
	std::filesystem::path policy = defaultPolicyFile; // of older versions: read as defaults; empty: none
};

// One file's text.
ConfigReading parseConfig(std::string_view text, const std::string &file);
// Files that are not there are no problem. Each has 1 MiB at most. What a later one says wins, lists are continued.
ConfigReading inspectConfig(const ConfigFiles &files = {});
Result<Config> readConfig(const ConfigFiles &files = {});

// As it would stand in a file, without what is as it is anyway.
std::string formatConfig(const Config &config);

} // namespace nvmeof
