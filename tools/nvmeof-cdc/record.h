// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the service knows, as it stands in the store: a record a key, its value as JSON. Keys are KIND/NAME; the name of
 * a target is "NQN TRANSPORT TRADDR TRSVCID", as none of these has blanks.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <nvmeof/result.h>

#include "libctl/wire/discovery_log.h"
#include "libctl/wire/log_page.h"

namespace cdc {

using Json = nlohmann::ordered_json;

enum class Kind { target, zone, host, instance };

std::string_view prefixOf(Kind kind); // "targets/"
std::optional<Kind> kindOf(std::string_view key);
// Of the name behind the prefix
std::string_view nameOf(std::string_view key);
// Whether what hosts are told follows from such records: a change is a new generation.
bool toldToHosts(Kind kind);

// Where a record comes from, and whose it is
struct Origin {
	std::string source = "control"; // "file", "control", "pull", "push"
	std::string owner = {};         // the service that was read, the NQN that has registered it
	std::int64_t ends = 0;          // seconds since 1970; 0: never
	std::string from = {};          // of a registration: the address that it came from

	bool operator==(const Origin &) const = default;
};

// A port of a subsystem, or of another discovery service
struct Target {
	std::string nqn;
	nofctl::wire::SubsystemType type = nofctl::wire::sub_nvm;
	nofctl::wire::TransportType transport = nofctl::wire::tr_tcp;
	std::string traddr;
	std::string trsvcid = "4420";
	std::uint16_t portid = 0;
	// libnvme takes "not required" for a wish to use TLS.
	std::uint8_t treq = nofctl::wire::treq_unspecified;
	std::uint8_t sectype = nofctl::wire::sec_none; // TCP
	// RDMA: how to connect
	std::uint8_t qptype = nofctl::wire::qp_connected, prtype = nofctl::wire::pr_roce_v2;
	// the best that a namespace has there
	nofctl::wire::AnaState state = nofctl::wire::ana_optimized;
	Origin origin = {};

	bool operator==(const Target &) const = default;
	std::string key() const;
	nofctl::wire::DiscoveryEntry entry() const;
	Json json() const; // of what differs from a TCP port by default, and all that names it
	static nvmeof::Result<Target> of(const Json &json);
	// Of an entry that another service tells, or that is registered. Error: of no use, and why
	static nvmeof::Result<Target> of(const nofctl::wire::DiscoveryEntry &entry);
};

// Hosts see the targets of the zones that they are in. NQNs or patterns of them, as in fnmatch(3)
struct Zone {
	std::string name;
	std::vector<std::string> hosts, targets;
	Origin origin = {};

	bool operator==(const Zone &) const = default;
	static std::string keyOf(const std::string &name);
	std::string key() const { return keyOf(name); }
	Json json() const;
	static nvmeof::Result<Zone> of(const Json &json);
};

// What a host has registered of itself
struct Host {
	std::string nqn, hostid, name, version;
	std::vector<std::string> interfaces; // "tcp 10.0.0.1"
	Origin origin = {};

	bool operator==(const Host &) const = default;
	std::string key() const;
	Json json() const;
	static nvmeof::Result<Host> of(const Json &json);
};

// One of the services that share a store
struct Instance {
	std::string id;                     // a UUID
	std::string nqn;                    // of its discovery subsystem
	std::vector<std::string> addresses; // "10.0.0.1:8009", at which hosts reach it
	bool draining = false;

	bool operator==(const Instance &) const = default;
	std::string key() const;
	Json json() const;
	static nvmeof::Result<Instance> of(const Json &json);
};

// A record as it stands in the store; bytes that are not UTF-8 are replaced.
std::string storedText(const Json &json);

// Whether an NQN can be stored and shown: its length, and that it is UTF-8 without blanks and control characters
nvmeof::Result<void> checkName(const std::string &nqn);

const char *transportName(nofctl::wire::TransportType transport); // "tcp", "rdma"
std::optional<nofctl::wire::TransportType> transportOf(std::string_view name);
const char *stateName(nofctl::wire::AnaState state); // "optimized"
std::optional<nofctl::wire::AnaState> stateOf(std::string_view name);
std::vector<std::string> stateNames();

} // namespace cdc
