// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registrations of hosts and direct discovery controllers (DDCs): the permission to register, and the duration of a
 * registration. Only these rules keep one machine from publishing false addresses of another one's storage.
 */
#pragma once

#include <functional>
#include <set>
#include <string>

#include <nvmeof/result.h>

#include "libctl/wire/registration.h"
#include "model.h"
#include "peer_limits.h"

namespace cdc {

// [registration] of cdc.toml
struct RegistrationRules {
	struct Ddc {
		std::string nqn;
		std::vector<Prefix> sources; // addresses from which it may register
		bool join = false;           // may register ports of subsystems of others, and referrals
		std::string hostnqn = {};    // by which it connects; empty: its own NQN

		const std::string &connectsAs() const { return hostnqn.empty() ? nqn : hostnqn; }
		bool operator==(const Ddc &) const = default;
	};

	bool hosts = true;                 // each host may register itself
	std::vector<Ddc> ddcs;             // DDCs that may register
	std::int64_t leaseSeconds = 86400; // lease: how long a registration outlives the last connection of its owner
	std::size_t maxHosts = 20000;      // limit of host records; the last quarter is for addresses with few
	std::size_t maxHostsEach = 1024;   // limit per address (IPv6: per /64)
	std::size_t maxTargetsEach = 1024; // limit of entries per DDC

	bool operator==(const RegistrationRules &) const = default;
};

// The sender of a registration
struct Registrant {
	Peer from;
	std::string hostnqn; // that it has connected with
	bool proved = false; // by authentication or TLS
};

// Whether somebody has to prove that NQN
using MustProve = std::function<bool(const std::string &hostnqn)>;

// The changes of a registration by @who at @now, seconds since 1970. Errors: it is refused with nvmeStatus, and
// nothing changes
nvmeof::Result<std::vector<Change>> registrationChanges(const Model &model, const RegistrationRules &rules,
							nofctl::wire::DimTask task,
							const nofctl::wire::Registration &registration,
							const Registrant &who, const MustProve &mustProve,
							std::int64_t now);

// Owners of registrations that are connected to this instance
struct Connected {
	std::set<std::string> hosts; // by NQN
	std::set<std::string> ddcs;  // that have registered over a connection that is still open
	bool renewAll = false;       // renew every lease, connected or not, however much of it is left
};

// Whether rules and keys still allow a registration of somebody who has connected with that NQN, and had proved it or
// not. Empty: they do
using MayStayRegistered = std::function<bool(const std::string &hostnqn, bool proved)>;

// The NQN by which the owner of a registration connects
const std::string &connectsAs(const RegistrationRules &rules, const std::string &owner);

// How long another registration is kept: long enough for its owner to connect again and register with a proof
constexpr std::int64_t unprovedSeconds = 600;

struct LeaseChanges {
	std::vector<Change> renewed;    // leases of connected owners; records without a lease get one
	std::vector<Change> ended;      // expired leases, and records that the rules no longer allow
	std::set<std::string> refused;  // owners of the latter
	std::set<std::string> unproved; // owners whose records end because their NQN is not proved
};
LeaseChanges leaseChanges(const Model &model, const RegistrationRules &rules, const Connected &connected,
			  std::int64_t now, const MayStayRegistered &mayStay = {});

} // namespace cdc
