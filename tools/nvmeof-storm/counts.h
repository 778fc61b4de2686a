// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters and times of hosts and connection attempts. Each thread has its own; they are summed at the end.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "initiator/failure.h"

namespace storm {

// Activity of a host: the steps of a session, reading the log, waiting for the event
enum class HostStep : std::uint8_t {
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
	waiting, // for an event; not measured
};
constexpr std::size_t stepCount = 13; // measured ones
const char *toString(HostStep mark);
HostStep stepOf(initiator::Step step);

constexpr std::size_t reasonCount = static_cast<std::size_t>(initiator::Reason::unusable) + 1;

// Times in microseconds
using Times = std::vector<std::uint32_t>;

// One change, and the times from its start until hosts had the event and had read the log
struct Round {
	Times events, reads;
	std::uint64_t missed = 0; // hosts that did not get it
};

struct Counts {
	std::uint64_t attempts = 0;         // connection attempts
	std::uint64_t failovers = 0;        // attempts at the next address
	std::uint64_t retries = 0;          // attempts from the first address again, after a back-off
	std::uint64_t torn = 0;             // logs that changed while they were read
	std::uint64_t events = 0;           // events received
	std::uint64_t lost = 0;             // connections of hosts that had read their log
	std::uint64_t good = 0, failed = 0; // hosts
	std::uint64_t bytesIn = 0, bytesOut = 0;
	std::uint64_t commands = 0;  // sent
	std::uint64_t exchanges = 0; // responses to ICReq and to commands
	std::uint64_t writes = 0;    // to sockets
	std::array<std::array<std::uint64_t, reasonCount>, stepCount + 1> failures{}; // by mark and reason
	std::map<std::string, std::uint64_t> failureReasons;                          // failed hosts, by reason
	std::map<std::string, std::uint64_t> violations;                              // violations
	std::array<Times, stepCount> stepTimes;
	Times whole;
	std::vector<std::uint64_t> served; // hosts, by address
	std::vector<Round> rounds;

	void addViolation(const std::string &what, std::uint64_t times = 1) { violations[what] += times; }
	void add(const Counts &other);
};

// Percentiles
struct Summary {
	std::size_t count = 0;
	double p50 = 0, p90 = 0, p99 = 0, last = 0; // ms
};
Summary summarize(Times times);

} // namespace storm
