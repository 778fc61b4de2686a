// SPDX-License-Identifier: LGPL-2.1-or-later
// Connects to all subsystems that discovery services report. Connecting starts as soon as the first log is read.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/discovery_plan.h>

#include "connect_plan.h"

struct ConnectAllOptions {
	std::vector<nvmeof::ConnectOptions> services, fixed;
	nvmeof::PlanRules rules;
	nvmeof::WaitOptions wait; // the timeout covers all connections together
	bool dryRun = false;      // only read the logs
	bool persistent = false;  // stay connected to the services
	bool idempotent = false;  // also wait for paths that are connected already
	bool force = false;       // also to subsystems of the in-tree driver
};

// Result for one path.
struct PathOutcome {
	nvmeof::ConnectOptions options;
	std::optional<nvmeof::Result<nvmeof::Controller>> result; // empty: not tried
	bool there = false;                                       // connected before
};

class ConnectAll {
public:
	ConnectAll(nvmeof::Client &client, ConnectAllOptions order);

	// Returns 0 when all paths are connected, have failed or timed out. Returns SIGINT, SIGTERM or SIGHUP when that
	// signal arrives, after removing the controllers of this run that are not live yet.
	int run();

	const nvmeof::Plan &plan() const { return plan_; }
	const nvmeof::KnownServices &known() const { return known_; }
	// Errors of services that could not be read, by PlannedService::key
	const std::map<std::string, nvmeof::Error> &failures() const { return failures_; }
	const std::vector<PathOutcome> &paths() const { return paths_; } // in the order of plan().connections
	// For display. May be called from any thread.
	std::string progress() const;

private:
	struct Reading {
		nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> connecting; // if persistent
		nvmeof::Pending<nvmeof::Result<nvmeof::DiscoveryLog>> log;
	};
	struct Connecting {
		nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> pending;
		PathOutcome outcome;
	};

	void replan();
	void startReading(const nvmeof::PlannedService &service);
	void startConnecting(const nvmeof::PlannedConnection &connection);
	std::optional<nvmeof::Error> hasInTreeConflict(const std::string &nqn);
	bool collectLogs();
	void collectConnections();
	void told(const std::string &key, nvmeof::Result<nvmeof::DiscoveryLog> log);
	bool idle() const { return readings_.empty() && pending_ == 0; }
	void finish();
	void cancelAndWait();
	std::chrono::milliseconds left() const;

	nvmeof::Client &client_;
	const ConnectAllOptions order_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	const Present present_;
	nvmeof::KnownServices known_;
	nvmeof::Plan plan_;
	std::map<std::string, nvmeof::Error> failures_;
	std::map<std::string, Reading> readings_;
	std::map<std::string, Connecting> connections_;
	std::map<std::string, std::optional<nvmeof::Error>> held_; // by NQN
	std::vector<PathOutcome> paths_;
	std::size_t pending_ = 0; // number of connections_ outstanding
	std::atomic<std::size_t> services_ = 0, read_ = 0, wanted_ = 0, connected_ = 0;
};
