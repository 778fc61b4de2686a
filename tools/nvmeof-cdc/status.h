// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The state of an instance, as programs are told it: over the control socket, and by the web. Documentation/json.md.
 * A picture is taken in the service's thread, and read in any.
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
std::span<const CounterText> counterTexts(); // of those that only grow

struct Picture {
	Identity identity;
	double time = 0; // when it was taken, seconds since 1970, as all here
	std::int64_t since = 0;
	bool draining = false;
	StoreState store;
	std::vector<PullState> pulls;
	std::vector<std::uint64_t> counters;    // as counterTexts() has them
	std::vector<Latency::Reading> commands; // by Served
	Latency::Reading publications;
	std::uint64_t exceptions = 0; // caught in callbacks: each is a defect
	std::uint64_t open = 0;       // connections
	std::shared_ptr<const Model> model;
	std::shared_ptr<const Views> views; // null: the store has not told anything yet
	std::vector<Guest> guests;
	std::vector<Happening> happenings; // the last ones
};
using PicturePtr = std::shared_ptr<const Picture>;

// @done comes later, or at once.
void takePicture(Service &service, std::function<void(PicturePtr)> done);

// What is known of a host, from all its connections and from what it has registered
struct HostPicture {
	std::string nqn;
	const Host *registered = nullptr; // of the picture's model
	std::vector<const Guest *> guests;

	std::uint64_t generation() const; // the newest that it has
	bool persistent() const;
	// Host IDs that connect by its NQN: more than one are machines that were cloned with it, or somebody who
	// claims it.
	std::size_t machines() const;
	// "current": nothing that it sees has changed since it has read its log; "behind"; "unread"; "away": not
	// connected
	const char *state() const;
};

std::vector<HostPicture> hostPictures(const Picture &picture); // by NQN

struct ZoneHosts {
	std::size_t hosts = 0, connected = 0;
};

// By name; zones that @hosts are in. None before the store has told what there is
std::map<std::string, ZoneHosts> hostsOfZones(const Picture &picture, const std::vector<HostPicture> &hosts);

// Who sees what: hosts of the same zones see the same.
class Sight {
public:
	struct View {
		const ZoneSet *zones;
		std::vector<std::size_t> targets; // by place in the model's
		std::size_t hosts = 0;
	};

	explicit Sight(const Picture &picture);

	const std::vector<HostPicture> &hosts() const { return hosts_; }
	const std::vector<View> &views() const { return views_; }
	std::size_t viewOf(std::size_t host) const { return viewOf_[host]; } // npos: nothing is known yet
	std::vector<std::size_t> seenBy() const;                             // for each target how many hosts

	static constexpr std::size_t npos = static_cast<std::size_t>(-1);

private:
	std::size_t targets_;
	std::vector<HostPicture> hosts_;
	std::vector<View> views_;
	std::vector<std::size_t> viewOf_;
};

// Documents
Json statusJson(const Picture &picture);
Json hostsJson(const Picture &picture);
Json targetsJson(const Picture &picture);
Json zonesJson(const Picture &picture);
Json instancesJson(const Picture &picture);
Json changesJson(const Picture &picture);
// All of it in one, and what a map of hosts by targets needs
Json stateJson(const Picture &picture);

Json happeningJson(const Happening &happening);
// On one line; what is not UTF-8 is replaced.
std::string lineOf(const Json &json);

} // namespace cdc
