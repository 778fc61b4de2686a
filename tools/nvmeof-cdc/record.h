// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records of the service as the store keeps them: one key per record, with a JSON value. Keys are KIND/NAME. The
 * name of a target is "NQN TRANSPORT TRADDR TRSVCID", as none of these has blanks.
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
// The key without its prefix
std::string_view nameOf(std::string_view key);
// Whether discovery logs depend on records of this kind, so that a change needs a new generation
bool affectsLogs(Kind kind);

// Source and owner of a record
struct Origin {
	std::string source = "control"; // "file", "control", "pull", "push"
	std::string owner = {};         // ID of the instance, address of the service, or NQN of the registering entity
	std::int64_t ends = 0;          // seconds since 1970; 0: never
	std::string from = {};          // registrations: source address
	// registrations: whether the NQN was proved by authentication or TLS; absent: made by an earlier version
	std::optional<bool> proved = {};

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
	// libnvme interprets "not required" as a request for TLS.
	std::uint8_t treq = nofctl::wire::treq_unspecified;
	std::uint8_t sectype = nofctl::wire::sec_none; // TCP
	// RDMA: how to connect
	std::uint8_t qptype = nofctl::wire::qp_connected, prtype = nofctl::wire::pr_roce_v2;
	// best ANA state that any namespace has there
	nofctl::wire::AnaState state = nofctl::wire::ana_optimized;
	Origin origin = {};

	bool operator==(const Target &) const = default;
	std::string key() const;
	nofctl::wire::DiscoveryEntry entry() const;
	Json json() const; // members that identify the target, and those that differ from the defaults
	static nvmeof::Result<Target> of(const Json &json);
	// From an entry of another service's log or of a registration. Error: why it is not usable
	static nvmeof::Result<Target> of(const nofctl::wire::DiscoveryEntry &entry);
};

// Whether a host has to prove its identity: no; if the service has a key for it; always
enum class Demand : std::uint8_t { off, preferred, required };

// Hosts see the targets of the zones that they are in. NQNs or fnmatch(3) patterns
struct Zone {
	std::string name;
	std::vector<std::string> hosts, targets;
	Origin origin = {};
	// Of its hosts: authentication, and TLS; absent: as the configuration says for all
	std::optional<Demand> auth = {}, tls = {};

	bool operator==(const Zone &) const = default;
	static std::string keyOf(const std::string &name);
	std::string key() const { return keyOf(name); }
	Json json() const;
	static nvmeof::Result<Zone> of(const Json &json);
};

// The registration of a host
struct Host {
	std::string nqn, hostid, name, version;
	std::vector<std::string> interfaces; // "tcp 10.0.0.1"
	Origin origin = {};

	bool operator==(const Host &) const = default;
	std::string key() const;
	Json json() const;
	static nvmeof::Result<Host> of(const Json &json);
};

// One of the instances that share a store
struct Instance {
	std::string id;                     // a UUID
	std::string nqn;                    // of its discovery subsystem
	std::vector<std::string> addresses; // where hosts reach it: "10.0.0.1:8009"
	bool draining = false;
	Demand tls = Demand::off; // of its ports

	bool operator==(const Instance &) const = default;
	std::string key() const;
	Json json() const;
	static nvmeof::Result<Instance> of(const Json &json);
};

// A record in stored form; invalid UTF-8 is replaced.
std::string storedText(const Json &json);

// Checks that an NQN can be stored and shown: its length, UTF-8, no blanks or control characters
nvmeof::Result<void> checkName(const std::string &nqn);

// Excludes wildcard, broadcast and multicast addresses, which no host can connect to.
bool isUnicastAddress(const std::string &traddr);

std::optional<nofctl::wire::TransportType> transportOf(std::string_view name);
const char *stateName(nofctl::wire::AnaState state); // "optimized"
std::optional<nofctl::wire::AnaState> stateOf(std::string_view name);
std::vector<std::string> stateNames();
const char *demandName(Demand demand); // "off", "preferred", "required"
std::optional<Demand> demandOf(std::string_view name);

} // namespace cdc
