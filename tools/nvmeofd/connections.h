// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Connects and disconnects controllers until the kernel's state matches the plan. The kernel makes connections and
 * reconnects them; this class only remembers which wanted connections are not in the kernel, and when to try those
 * again.
 */
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nvmeof/client.h>
#include <nvmeof/difference.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/event.h>

#include "key_updates.h"
#include "libctl/base/jitter.h"
#include "libctl/runtime/journal.h"
#include "libctl/runtime/loop.h"

namespace nvmeofd {

// [[security]] rules, by the name of the controller that they apply to
using SecurityRules = std::map<std::string, const nvmeof::SecurityRule *>;

// The controllers of discovery services, and those that are kept for planned connections, that are not what the
// [[security]] rules of these demand: messages by name. @services: the rules of services
std::map<std::string, std::string> insecureControllers(const std::vector<nvmeof::Change> &changes,
						       const std::vector<nvmeof::PlannedConnection> &wanted,
						       SecurityRules services,
						       const std::vector<nvmeof::Controller> &present);

// Whether one of @present is the controller of a connection, see isConnection(). Fast, as a plan asks for each entry of
// all logs; valid as long as @present.
std::function<bool(const nvmeof::ConnectOptions &options)> presence(const std::vector<nvmeof::Controller> &present);

class Connections {
public:
	// A wanted connection, from its first connect on until some time after it is no longer wanted
	struct Attempt {
		nofctl::Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(60)};
		// Delay before it is connected when it is wanted again: a log may alternate
		nofctl::Backoff returns{std::chrono::seconds(1), std::chrono::seconds(60)};
		std::optional<std::chrono::steady_clock::time_point> unwanted; // since then
		std::chrono::steady_clock::time_point wanted;                  // since then, or was until 'unwanted'
		std::chrono::steady_clock::time_point notBefore;
		std::string controller; // last one created for it
		std::string error;      // why it is not connected; empty: no error yet
	};

	// @keys: records the keys of new controllers. @again: called when it is time to retry a connection
	Connections(runtime::Loop &loop, nvmeof::Client &client, KeyUpdates &keys, std::function<void()> again);

	// @services: see insecureControllers(). @present: the controllers that @changes are about.
	// @now: a parameter for tests
	void apply(const std::vector<nvmeof::Change> &changes, const std::vector<nvmeof::PlannedConnection> &wanted,
		   SecurityRules services, const std::vector<nvmeof::Controller> &present,
		   std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
	// For events of all controllers
	void event(const nvmeof::Event &event);
	// Null: no error
	const Attempt *attempt(const nvmeof::ConnectOptions &options) const;
	// Unwanted controllers that stay, with the reason
	const std::map<std::string, std::string> &kept() const { return kept_; }
	// See insecureControllers(). They stay, and nothing else is connected in their place.
	const std::map<std::string, std::string> &insecure() const { return insecure_; }
	// Clears the back-off, so that failed connections are retried at once.
	void forget() { attempts_.clear(); }

private:
	using Attempts = std::map<std::string, Attempt>;

	void connect(const nvmeof::ConnectOptions &options);
	void disconnect(const nvmeof::Change &change);
	void keep(const std::vector<nvmeof::Change> &changes);
	void tellInsecure(std::map<std::string, std::string> now);
	void failed(Attempt &attempt, const std::string &why);
	void unwant(const std::set<std::string> &wanted, std::chrono::steady_clock::time_point now);

	nvmeof::Client &client_;
	KeyUpdates &keys_;
	std::function<void()> again_;
	Attempts attempts_;
	std::map<std::string, std::string> kept_, insecure_;
	runtime::LogLimit limit_{100};
	runtime::Timer retry_;
};

// Owner of controllers that the daemon creates; the kernel stores it, so that the next daemon recognizes them
inline constexpr const char *owner = "nvmeofd";

} // namespace nvmeofd
