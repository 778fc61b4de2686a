// SPDX-License-Identifier: LGPL-2.1-or-later
// What became of hosts and their attempts; each thread has its own, and they are added up in the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "initiator/failure.h"

namespace storm {

// What a host does, one after the other: the steps of a session, then its log, then the event
enum class Mark : std::uint8_t {
	tcp,
	hello,
	connect,
	cap,
	vs,
	enable,
	ready,
	identify,
	events,
	header,
	entries,
	check,
	arm,
	waiting, // for an event; nothing that takes time
};
constexpr std::size_t mark_count = 13; // of those that take time
const char *toString(Mark mark);
Mark markOf(initiator::Step step);

constexpr std::size_t reason_count = static_cast<std::size_t>(initiator::Reason::unusable) + 1;

// Times in microseconds
using Times = std::vector<std::uint32_t>;

// A change that was made, and when hosts had heard of it, since its beginning
struct Round {
	Times events, reads;
	std::uint64_t missed = 0; // hosts that have not
};

struct Counts {
	std::uint64_t attempts = 0;         // to connect
	std::uint64_t fellOver = 0;         // to the next address
	std::uint64_t retries = 0;          // from the first address on, after a pause
	std::uint64_t torn = 0;             // logs that changed while they were read
	std::uint64_t told = 0;             // events
	std::uint64_t lost = 0;             // connections of hosts that had all they wanted
	std::uint64_t good = 0, failed = 0; // hosts
	std::uint64_t bytesIn = 0, bytesOut = 0;
	std::uint64_t commands = 0;  // that were sent
	std::uint64_t exchanges = 0; // answers to ICReq and to commands
	std::uint64_t writes = 0;    // to sockets
	std::array<std::array<std::uint64_t, reason_count>, mark_count + 1> failures{}; // attempts, by mark and reason
	std::map<std::string, std::uint64_t> endings;                                   // of hosts that failed, and why
	std::map<std::string, std::uint64_t> oddities;                                  // what was not in order
	std::array<Times, mark_count> marks;
	Times whole;
	std::vector<std::uint64_t> served; // hosts, by address
	std::vector<Round> rounds;

	void odd(const std::string &what, std::uint64_t times = 1) { oddities[what] += times; }
	void add(const Counts &other);
};

// What is told of many times
struct Summary {
	std::size_t count = 0;
	double p50 = 0, p90 = 0, p99 = 0, last = 0; // ms
};
Summary summarize(Times times);

} // namespace storm
