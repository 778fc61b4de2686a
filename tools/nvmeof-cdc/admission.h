// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Admission control for hosts that connect: a bounded number is served at a time, a bounded number waits, and all
 * others get Connect Controller Busy. Waiting hosts are served round robin, regardless of how many connections each one
 * opens. Hosts whose first choice is another instance wait behind hosts whose first choice is this one, but do not
 * starve.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace cdc {

class Admission {
public:
	struct Limits {
		std::size_t active = 1024, waiting = 16384;
	};
	enum class Verdict { now, later, busy };

	explicit Admission(Limits limits) : limits_(limits) {}

	// @firstChoice: this instance is the first choice of @host. A connection that was pushed out of the queue for
	// this one is returned by displaced().
	Verdict ask(std::uint64_t connection, const std::string &host, bool firstChoice);
	// Removes a connection that was served or has closed. Returns true if it was being served, so that next() may
	// admit another.
	bool leave(std::uint64_t connection);
	// Admits the next waiting connection if a place is free
	std::optional<std::uint64_t> next();
	// Connections removed from the queue to make room for others; the caller answers them with busy
	std::vector<std::uint64_t> displaced();

	std::size_t active() const { return active_.size(); }
	std::size_t waiting() const { return waiters_.size(); }

private:
	struct Host {
		std::string name;
		std::deque<std::uint64_t> connections;
	};
	struct Line {
		std::list<Host> hosts; // in round-robin order
		std::unordered_map<std::string, std::list<Host>::iterator> byName;
	};
	struct Waiter {
		bool firstChoice;
		std::string host;
	};

	void enqueue(Line &line, const std::string &host, std::uint64_t connection);
	std::optional<std::uint64_t> take(Line &line);
	bool displace();
	void drop(std::uint64_t connection, const Waiter &place);
	Line &line(bool firstChoice) { return firstChoice ? preferred_ : others_; }

	Limits limits_;
	Line preferred_, others_;
	std::unordered_set<std::uint64_t> active_;
	std::unordered_map<std::uint64_t, Waiter> waiters_; // waiting connections
	std::vector<std::uint64_t> displaced_;
	unsigned served_ = 0; // admitted from preferred_ since the last one from others_
};

} // namespace cdc
