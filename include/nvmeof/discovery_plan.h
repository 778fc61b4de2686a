// SPDX-License-Identifier: LGPL-2.1-or-later
// Plans the connections of this host from the logs of discovery services. Reads no logs itself: the caller reads the
// logs of Plan::unread(), then plans again, until no service is unread. NVMe Base 2.0, 3.1.2.3, 5.16.1.23.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nvmeof/connect.h>
#include <nvmeof/connect_settings.h>
#include <nvmeof/discovery.h>
#include <nvmeof/exclusion.h>

namespace nvmeof {

struct PlanLimits {
	std::size_t depth = 4;          // referral hops from a configured service
	std::size_t referrals = 64;     // services per configured service, through referrals
	std::size_t connections = 1024; // connections per configured service, including its referrals
	std::size_t paths = 64;         // addresses per subsystem

	bool operator==(const PlanLimits &) const = default;
};

struct PlanRules {
	PlanLimits limits;
	std::vector<Exclusion> exclusions;
	std::string hostnqn;                   // seeds this host's order among services with the same log
	std::vector<std::string> ownAddresses; // of this machine, numeric; loopback is implied
	bool connectSelf = false;              // connect to addresses of this machine as well
	std::string owner;                     // ConnectOptions::owner of each connection
	// Whether a controller for @options exists; such connections are planned first, so that limits do not cut them
	// off. Not set: no controller exists.
	std::function<bool(const ConnectOptions &options)> present;
	// Settings for a subsystem with that NQN; not set: the kernel's defaults.
	std::function<ConnectSettings(const std::string &nqn)> settings;
};

// State of one service between plans. The last log read is kept even if later reads fail.
struct KnownService {
	std::optional<DiscoveryLog> log;
	bool failed = false; // the last read failed
};

// Keyed by serviceKey().
using KnownServices = std::map<std::string, KnownService, std::less<>>;

// "tcp 10.0.0.1:8009", and the local address and interface if set. Identifies a service regardless of its NQN.
std::string serviceKey(const ConnectOptions &options);

// serviceKey() with the NQNs of subsystem and host. Identifies one association.
std::string connectionKey(const ConnectOptions &options);

struct PlannedService {
	enum class State {
		unread,  // the caller has to read the log
		told,    // the log is known
		failed,  // the last read failed; an older log may be known
		standby, // another service in "same" is used
	};

	ConnectOptions options; // how to connect; the host identity is set only if it was configured
	std::string key;
	State state = State::unread;
	std::size_t root = 0;              // index of the configured service that led here, among the configured ones
	std::size_t depth = 0;             // referral hops
	std::optional<std::size_t> toldBy; // index of the service that referred to it
	// The service supports persistent connections (EPCSD), as reported by itself or by a referral.
	bool persistent = false;
	// Services with the same log, this one included, in the order this host uses them; empty: only this one.
	std::vector<std::size_t> same;
};

const char *toString(PlannedService::State state); // "unread", "told", "failed", "standby"

struct PlannedConnection {
	ConnectOptions options;
	std::vector<std::size_t> toldBy; // indexes of services; empty: configured
};

// An entry or configured target that is not connected to.
struct Refusal {
	std::string what; // "tcp 10.0.0.1:4420 nqn...", without control characters
	std::string reason;
	std::optional<std::size_t> toldBy; // index of the service; not set: configured
};

struct Plan {
	std::vector<PlannedService> services; // configured services first; no duplicates
	std::vector<PlannedConnection> connections;
	std::vector<Refusal> refusals; // the first 256
	std::size_t moreRefusals = 0;

	std::vector<std::size_t> unread() const;
	// The logs of all services in use are known and all referrals were followed. A connection that no log has is
	// gone.
	bool complete = true;
};

// @services and @fixed are the configured services and connections, with complete options. Connections found in a log
// use the host identity and local address of their service, and the settings of @rules.settings.
Plan planDiscovery(const PlanRules &rules, std::span<const ConnectOptions> services,
		   std::span<const ConnectOptions> fixed, const KnownServices &known);

} // namespace nvmeof
