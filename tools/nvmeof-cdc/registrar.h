// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registrations of hosts and direct discovery controllers (DDCs): the permission to register, and the duration of a
 * registration. A registration is not authenticated; only these rules keep one machine from publishing false addresses
 * of another one's storage.
 */
#pragma once

#include <set>

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
		bool join = false; // may register ports of subsystems that the configuration or a pull defines

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

// The changes of a registration from @from at @now, seconds since 1970. Errors: it is refused with nvmeStatus, and
// nothing changes
nvmeof::Result<std::vector<Change>> registrationChanges(const Model &model, const RegistrationRules &rules,
							nofctl::wire::DimTask task,
							const nofctl::wire::Registration &registration,
							const Peer &from, std::int64_t now);

// Owners of registrations that are connected to this instance
struct Connected {
	std::set<std::string> hosts; // by NQN
	std::set<std::string> ddcs;  // that have registered over a connection that is still open
	bool renewAll = false;       // renew every lease, connected or not, however much of it is left
};

struct LeaseChanges {
	std::vector<Change> renewed;   // leases of connected owners; records without a lease get one
	std::vector<Change> ended;     // expired leases, and records that the rules no longer allow
	std::set<std::string> refused; // owners of the latter
};
LeaseChanges leaseChanges(const Model &model, const RegistrationRules &rules, const Connected &connected,
			  std::int64_t now);

} // namespace cdc
