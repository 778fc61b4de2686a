// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state of an instance as JSON, for the control socket and the web server; see Documentation/json.md. A snapshot is
 * taken in the thread of the service; any thread may read it.
 */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "service.h"

namespace cdc {

struct CounterText {
	const char *name;
	Counter Counters::*counter;
	const char *help;
};
std::span<const CounterText> counterTexts(); // monotonic counters

struct Snapshot {
	Identity identity;
	double time = 0; // of the snapshot; seconds since 1970, like all times here
	std::int64_t since = 0;
	bool draining = false;
	StoreState store;
	std::vector<PullState> pulls;
	std::vector<std::uint64_t> counters;    // in the order of counterTexts()
	std::vector<Latency::Reading> commands; // by class, see Served
	Latency::Reading publications;
	std::uint64_t exceptions = 0; // caught in callbacks: each is a defect
	std::uint64_t open = 0;       // connections
	std::shared_ptr<const Model> model;
	std::shared_ptr<const Views> views; // null: the store has not loaded yet
	std::vector<HostSession> sessions;
	std::vector<ChangeEvent> changeEvents; // the latest ones
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// @done may be called before this returns.
void takeSnapshot(Service &service, std::function<void(SnapshotPtr)> done);

// All that is known of a host, from its connections and its registration
struct HostStatus {
	std::string nqn;
	const Host *registered = nullptr; // points into the snapshot's model
	std::vector<const HostSession *> sessions;

	std::uint64_t generation() const; // newest one that it has read
	bool persistent() const;
	// Number of different host IDs that use its NQN. More than one means cloned machines, or an impostor.
	std::size_t machines() const;
	// "current": the host's log has not changed since it was read; "behind"; "unread"; "away": not connected
	const char *state() const;
};

std::vector<HostStatus> hostStatuses(const Snapshot &snapshot); // by NQN

// Visibility of targets to hosts. Hosts in the same zones share a view.
class Visibility {
public:
	struct View {
		const ZoneSet *zones;
		std::vector<std::size_t> targets; // indexes into the model's targets
		std::size_t hosts = 0;
	};

	explicit Visibility(const Snapshot &snapshot);

	const std::vector<HostStatus> &hosts() const { return hosts_; }
	const std::vector<View> &views() const { return views_; }
	std::size_t viewOf(std::size_t host) const { return viewOf_[host]; } // npos: not known yet
	std::vector<std::size_t> visibleTo() const;                          // for each target, how many hosts see it

	static constexpr std::size_t npos = static_cast<std::size_t>(-1);

private:
	std::size_t targets_;
	std::vector<HostStatus> hosts_;
	std::vector<View> views_;
	std::vector<std::size_t> viewOf_;
};

// JSON documents
Json statusJson(const Snapshot &snapshot);
Json hostsJson(const Snapshot &snapshot);
Json targetsJson(const Snapshot &snapshot);
Json zonesJson(const Snapshot &snapshot);
Json instancesJson(const Snapshot &snapshot);
Json changesJson(const Snapshot &snapshot);
// All of the above in one document, with the views for a map of hosts and targets
Json stateJson(const Snapshot &snapshot);

Json changeEventJson(const ChangeEvent &changeEvent);
// On one line; invalid UTF-8 is replaced.
std::string lineOf(const Json &json);

// Metrics for Prometheus, listed in Documentation/cdc.md

std::string metricsText(const Snapshot &snapshot);

} // namespace cdc
