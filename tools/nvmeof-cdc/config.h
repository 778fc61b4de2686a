// SPDX-License-Identifier: LGPL-2.1-or-later
// What stands in cdc.toml.
#pragma once

#include <filesystem>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/config.h>

#include "registrar.h"
#include "worker.h"
#include "views.h"

namespace cdc {

struct EtcdRules {
	std::vector<std::string> endpoints; // "http://10.0.0.1:2379"
	std::string prefix = "/nvmeof/cdc/";
	std::filesystem::path ca, certificate, key;
	std::string user;
	std::filesystem::path passwordFile;
	std::filesystem::path cache; // what was known last; empty: it is not kept
};

struct StoreRules {
	enum class Engine { sqlite, etcd } engine = Engine::sqlite;
	std::filesystem::path file = "/var/lib/nvmeof-cdc/cdc.db"; // of SQLite
	EtcdRules etcd;
};

// A discovery service that is read and watched
struct PullSource {
	nvmeof::Address address;
	std::string nqn;  // empty: the well-known one
	bool ana = false; // the ANA states of the subsystems behind it, too

	bool operator==(const PullSource &) const = default;
};

struct Rules {
	std::vector<nvmeof::Address> listen{{"0.0.0.0", "8009"}, {"::", "8009"}};
	std::vector<nvmeof::Address> advertise; // at which hosts reach it; empty: as it listens, or all that it has
	std::string nqn;                        // empty: made of the ID
	std::string hostnqn;                    // that it goes by at other services; empty: made of the ID
	unsigned threads = 0;                   // 0: as many as there are processors
	ViewRules views;
	FrontRules front;
	StoreRules store;
	std::filesystem::path state = "/var/lib/nvmeof-cdc"; // for the ID
	std::filesystem::path control = "/run/nvmeof-cdc/control";
	std::vector<nvmeof::Address> web{{"127.0.0.1", "8010"}};
	Moment drainMs = 1000;
	RegistrationRules registration;
	std::vector<Target> targets;
	std::vector<Zone> zones;
	std::vector<PullSource> pulls;
};

struct RulesReading {
	Rules rules;
	std::vector<nvmeof::ConfigProblem> problems;
};

RulesReading parseRules(std::string_view text, const std::string &file);
// @file need not be there. Errors: the first problem, and how many more there are.
nvmeof::Result<Rules> readRules(const std::filesystem::path &file);
RulesReading inspectRules(const std::filesystem::path &file);

} // namespace cdc
