// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Who is served when more hosts come than can be served at once: so many at a time, some more wait, the rest is told at
 * once that the service is busy. Hosts have their turn one after the other, however many connections one makes; those
 * for whom another instance is the first choice wait behind those for whom it is this one, but not for ever.
 */
#pragma once

#include <cstdint>
#include <utility>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cdc {

class Admission {
public:
	struct Limits {
		std::size_t active = 1024, waiting = 16384;
	};
	enum class Verdict { now, later, busy };

	explicit Admission(Limits limits) : limits_(limits) {}

	// @firstChoice: of this host's. Who had to make room for it is in displaced().
	Verdict ask(std::uint64_t connection, const std::string &host, bool firstChoice);
	// Has been served, or is gone; whoever it was. True: it was being served, and next() may have one.
	bool leave(std::uint64_t connection);
	// Whose turn it is now, if there is room
	std::optional<std::uint64_t> next();
	// Connections that waited and do not any more, since others are to wait: they are busy cases now
	std::vector<std::uint64_t> displaced();

	std::size_t active() const { return active_.size(); }
	std::size_t waiting() const { return where_.size(); }

private:
	struct Host {
		std::string name;
		std::deque<std::uint64_t> connections;
	};
	struct Line {
		std::list<Host> hosts; // in turn
		std::unordered_map<std::string, std::list<Host>::iterator> byName;
	};
	struct Place {
		bool firstChoice;
		std::string host;
	};

	void enqueue(Line &line, const std::string &host, std::uint64_t connection);
	std::optional<std::uint64_t> take(Line &line);
	bool displace();
	void drop(std::uint64_t connection, const Place &place);
	Line &line(bool firstChoice) { return firstChoice ? mine_ : others_; }

	Limits limits_;
	Line mine_, others_;
	std::unordered_set<std::uint64_t> active_;
	std::unordered_map<std::uint64_t, Place> where_; // who waits
	std::vector<std::uint64_t> displaced_;
	unsigned served_ = 0; // of mine_ since the last of others_
};

} // namespace cdc
