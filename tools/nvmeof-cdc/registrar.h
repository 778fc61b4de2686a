// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registrations of hosts and direct discovery controllers (DDCs): who may register what, and how long it holds. A
 * registration is not authenticated: the rules are what keeps one machine from telling all hosts where another one's
 * storage is.
 */
#pragma once

#include <set>

#include <nvmeof/result.h>

#include "libctl/wire/registration.h"
#include "model.h"
#include "peers.h"

namespace cdc {

// [registration] of cdc.toml
struct RegistrationRules {
	struct Ddc {
		std::string nqn;
		std::vector<Prefix> sources; // addresses that it may register from
		bool join = false; // its entries may be ports of subsystems that the configuration or a pull defines

		bool operator==(const Ddc &) const = default;
	};

	bool hosts = true;                 // may register, each itself
	std::vector<Ddc> ddcs;             // that may
	std::int64_t leaseSeconds = 86400; // that a registration holds beyond the last connection of its owner
	std::size_t maxHosts = 20000;      // records of hosts, in all; the last quarter for addresses with few
	std::size_t maxHostsEach = 1024;   // and of those from one address (IPv6: one /64)
	std::size_t maxTargetsEach = 1024; // entries of a DDC

	bool operator==(const RegistrationRules &) const = default;
};

// Changes that a registration from @from amounts to at @now, seconds since 1970. Errors: it is refused with nvmeStatus,
// and nothing changes.
nvmeof::Result<std::vector<Change>> registrationChanges(const Model &model, const RegistrationRules &rules,
							nofctl::wire::DimTask task,
							const nofctl::wire::Registration &registration,
							const Peer &from, std::int64_t now);

// Owners of registrations that are connected to this instance
struct Connected {
	std::set<std::string> hosts; // by NQN
	std::set<std::string> ddcs;  // that have registered over a connection that is there
};

struct Upkeep {
	std::vector<Change> renewed;   // of owners that are connected; records without an end get one
	std::vector<Change> ended;     // leases that are over, and records that the rules do not allow any more
	std::set<std::string> refused; // owners of the latter
};
Upkeep upkeepOf(const Model &model, const RegistrationRules &rules, const Connected &connected, std::int64_t now);

} // namespace cdc
