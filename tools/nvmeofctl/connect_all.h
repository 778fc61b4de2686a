// SPDX-License-Identifier: LGPL-2.1-or-later
// Connecting to all that discovery services tell of: reading the logs, and connecting as soon as one has told.
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

#include "present.h"

// What is wanted.
struct ConnectAllOrder {
	std::vector<nvmeof::ConnectOptions> services, fixed;
	nvmeof::PlanRules rules;
	nvmeof::WaitOptions wait; // its timeout is for all together
	bool dryRun = false;      // read the logs, and no more
	bool persistent = false;  // connections to services stay
	bool idempotent = false;  // what is connected already is waited for, too
	bool force = false;       // also to what the in-tree driver has
};

// What became of one path.
struct PathOutcome {
	nvmeof::ConnectOptions options;
	std::optional<nvmeof::Result<nvmeof::Controller>> result; // not set: it was not tried
	bool there = false;                                       // it was connected already
};

class ConnectAll {
public:
	ConnectAll(nvmeof::Client &client, ConnectAllOrder order);

	// Until all is done, the time is over, or a signal has come: then what was not live yet is removed again.
	// 0, or the signal
	int run();

	const nvmeof::Plan &plan() const { return plan_; }
	const nvmeof::KnownServices &known() const { return known_; }
	// Of a service that could not be read; by its key
	const std::map<std::string, nvmeof::Error> &failures() const { return failures_; }
	const std::vector<PathOutcome> &paths() const { return paths_; } // as plan().connections
	// For a person, from any thread
	std::string progress() const;

private:
	struct Reading {
		nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> connecting; // where it is to stay
		nvmeof::Pending<nvmeof::Result<nvmeof::DiscoveryLog>> log;
	};
	struct Connecting {
		nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> pending;
		PathOutcome outcome;
	};

	void replan();
	void startReading(const nvmeof::PlannedService &service);
	void startConnecting(const nvmeof::PlannedConnection &connection);
	std::optional<nvmeof::Error> heldElsewhere(const std::string &nqn);
	bool collectLogs();
	void collectConnections();
	void told(const std::string &key, nvmeof::Result<nvmeof::DiscoveryLog> log);
	bool idle() const { return readings_.empty() && pending_ == 0; }
	void finish();
	void takeBack();
	std::chrono::milliseconds left() const;

	nvmeof::Client &client_;
	const ConnectAllOrder order_;
	const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
	const Present present_;
	nvmeof::KnownServices known_;
	nvmeof::Plan plan_;
	std::map<std::string, nvmeof::Error> failures_;
	std::map<std::string, Reading> readings_;
	std::map<std::string, Connecting> connections_;
	std::map<std::string, std::optional<nvmeof::Error>> held_; // by NQN
	std::vector<PathOutcome> paths_;
	std::size_t pending_ = 0; // of connections_
	std::atomic<std::size_t> services_ = 0, read_ = 0, wanted_ = 0, connected_ = 0;
};
