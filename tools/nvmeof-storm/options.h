// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line options and the exit status.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/address.h>

#include "libctl/initiator/queue.h"

namespace storm {

inline std::chrono::nanoseconds seconds(double count)
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}

// A change that is made while all hosts wait for the event that reports it
struct PushOptions {
	std::string command; // run by the shell; the change is made when it exits
	std::string socket;  // service to which a line is written; the change is made when it returns a line
	std::string line;    // "{}" is replaced by the number of the round, as in the command
	unsigned times = 1;
	double timeout = 10; // s, until all hosts have read the log

	bool wanted() const { return !command.empty() || !socket.empty(); }
};

struct Options {
	std::vector<std::string> addresses;
	unsigned hosts = 1;
	unsigned first = 0; // number of the first host
	std::string hostnqn = "nqn.2014-08.org.nvmexpress:uuid:{uuid}";
	std::string subsysnqn;
	unsigned threads = 1;
	bool startTogether = false; // connect over TCP before the start
	bool headerDigest = false, dataDigest = false;
	bool persistent = false;
	std::uint32_t kato = 30000; // ms, for persistent hosts
	double hold = 0, ramp = 0;  // s
	double retry = 0;           // s, how long hosts keep retrying
	double patience = 10;       // s, per response
	std::uint32_t piece = 1u << 20;
	bool same = false;
	std::string expect, save;
	int pid = 0; // a local service whose memory and CPU time are measured
	PushOptions push;
	bool json = false;

	// Per address, in the same order
	std::vector<initiator::Endpoint> endpoints = {};
	std::vector<std::string> members = {}; // names for rendezvous hashing

	bool keeps() const { return persistent || hold > 0 || push.wanted(); }
};

// For host number @number. The pattern may have "{}" for the number and "{uuid}" for the host ID.
std::array<std::uint8_t, 16> hostidOf(unsigned number);
std::string hostnqnOf(const std::string &pattern, unsigned number);

// Absent: continue. Otherwise the exit status after help or an error message
std::optional<int> parse(int argc, char **argv, Options &options);

// Exit status of nvmeof-storm; part of its interface.
enum class ExitCode {
	good = 0,   // all hosts have read their log, without violations
	failed = 1, // a host failed or lost its connection
	usage = 2,
	local = 3, // local error: descriptors, a file, a command
	wrong = 4, // a response violates the specification or an expectation
	late = 5,  // an event or a log arrived too late
};

} // namespace storm
