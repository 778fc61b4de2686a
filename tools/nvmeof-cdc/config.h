// SPDX-License-Identifier: LGPL-2.1-or-later
// The configuration, cdc.toml
#pragma once

#include <filesystem>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/config.h>

#include "registrar.h"
#include "security.h"
#include "views.h"
#include "worker.h"

namespace cdc {

struct EtcdRules {
	std::vector<std::string> endpoints; // "http://10.0.0.1:2379"
	std::string prefix = "/nvmeof/cdc/";
	std::filesystem::path ca, certificate, key;
	std::string user;
	std::filesystem::path passwordFile;
	std::filesystem::path cache; // file with the last known records; empty: no cache
};

struct StoreRules {
	enum class Engine { sqlite, etcd } engine = Engine::sqlite;
	std::filesystem::path file = "/var/lib/nvmeof-cdc/cdc.db"; // SQLite
	EtcdRules etcd;
};

// A discovery service whose log is read and watched
struct PullSource {
	nvmeof::Address address;
	std::string nqn;  // empty: the well-known discovery NQN
	bool ana = false; // also read the ANA states of the subsystems in its log

	bool operator==(const PullSource &) const = default;
};

struct Rules {
	std::vector<nvmeof::Address> listen{{"0.0.0.0", "8009"}, {"::", "8009"}};
	std::vector<nvmeof::Address> advertise; // addresses for discovery logs; empty: those of listen
	std::vector<Prefix> advertiseNetworks;  // of addresses for "listen" at all addresses; empty: any network
	std::string nqn;                        // empty: derived from the ID
	std::string hostnqn;                    // host NQN towards other discovery services; empty: derived from the ID
	unsigned threads = 0;                   // 0: one per processor
	ViewRules views;
	FrontRules front;
	StoreRules store;
	std::filesystem::path state = "/var/lib/nvmeof-cdc"; // directory of the ID
	std::filesystem::path control = "/run/nvmeof-cdc/control";
	std::vector<nvmeof::Address> web{{"127.0.0.1", "8010"}};
	SteadyMs drainMs = 1000;
	RegistrationRules registration;
	SecurityRules security;
	std::vector<Target> targets;
	std::vector<Zone> zones;
	std::vector<PullSource> pulls;
};

struct RulesReading {
	Rules rules;
	std::vector<nvmeof::ConfigProblem> problems;
};

RulesReading parseRules(std::string_view text, const std::string &file);
// A missing @file gives the defaults. Errors: the first problem, and the number of further ones
nvmeof::Result<Rules> readRules(const std::filesystem::path &file);
RulesReading inspectRules(const std::filesystem::path &file);

} // namespace cdc
