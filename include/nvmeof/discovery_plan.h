// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From what discovery services have told to what this host is to be connected to. Nobody is asked here: whoever reads
 * the logs plans again with each that he has got, until there is nothing unread. NVMe Base 2.0, 3.1.2.3, 5.16.1.23.
 */
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
	std::size_t depth = 4;          // of referrals; of what a configured service tells it is 1
	std::size_t referrals = 64;     // services that one configured one leads to
	std::size_t connections = 1024; // that one configured service leads to, be it by referrals
	std::size_t paths = 64;         // addresses of one subsystem

	bool operator==(const PlanLimits &) const = default;
};

struct PlanRules {
	PlanLimits limits;
	std::vector<Exclusion> exclusions;
	std::string hostnqn;                   // by which it has its order among services that tell the same
	std::vector<std::string> ownAddresses; // of this machine, numeric; loopback is always one
	bool connectSelf = false;              // addresses of this machine are as good as others
	std::string owner;                     // ConnectOptions::owner of each connection
	// What is connected, by which a limit does not cut off what is in use; none: nothing.
	std::function<bool(const ConnectOptions &options)> present;
	// How to connect to a subsystem of that NQN; none: the kernel's defaults.
	std::function<ConnectSettings(const std::string &nqn)> settings;
};

// What is known of a service. A log that was read stays known, also when it cannot be read any more.
struct KnownService {
	std::optional<DiscoveryLog> log;
	bool failed = false; // the last attempt to read it
};

// By serviceKey().
using KnownServices = std::map<std::string, KnownService, std::less<>>;

// "tcp 10.0.0.1:8009", and where it is connected from where that is given: the same service, whatever NQN it goes by.
std::string serviceKey(const ConnectOptions &options);

// The same with the NQNs of subsystem and host: one association.
std::string connectionKey(const ConnectOptions &options);

struct PlannedService {
	enum class State {
		unread,  // its log has to be read
		told,    // it is known
		failed,  // it could not be read; an older log may be known
		standby, // another one of same is enough
	};

	ConnectOptions options; // how to reach it; complete but for the identity where that was left out
	std::string key;
	State state = State::unread;
	std::size_t root = 0;              // the configured one that led here, by its place among those
	std::size_t depth = 0;             // referrals on the way
	std::optional<std::size_t> toldBy; // index of the service that has referred to it
	// It can keep connections (EPCSD), as far as somebody said so.
	bool persistent = false;
	// All that tell the same, it included, in the order in which this host turns to them; empty: only itself.
	std::vector<std::size_t> same;
};

const char *toString(PlannedService::State state); // "unread", "told", "failed", "standby"

struct PlannedConnection {
	ConnectOptions options;
	std::vector<std::size_t> toldBy; // services; empty: it is configured
};

// What was told, or configured, and is not connected to.
struct Refusal {
	std::string what; // "tcp 10.0.0.1:4420 nqn...", without control characters
	std::string reason;
	std::optional<std::size_t> toldBy; // service; not set: it is configured
};

struct Plan {
	std::vector<PlannedService> services; // the configured ones first, each once
	std::vector<PlannedConnection> connections;
	std::vector<Refusal> refusals; // the first 256
	std::size_t moreRefusals = 0;

	std::vector<std::size_t> unread() const;
	// Every service that counts has told, and every referral was followed: what is in none of the logs is gone.
	bool complete = true;
};

/*
 * @services and @fixed are configured: where to, and all that is to be said of the connection. What services tell of
 * is connected to by their host's identity and from their addresses, by @rules.settings.
 */
Plan planDiscovery(const PlanRules &rules, std::span<const ConnectOptions> services,
		   std::span<const ConnectOptions> fixed, const KnownServices &known);

} // namespace nvmeof
