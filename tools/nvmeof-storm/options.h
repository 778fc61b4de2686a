// SPDX-License-Identifier: LGPL-2.1-or-later
// What a storm is made of, as the command line says it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nvmeof/address.h>

#include "initiator/endpoint.h"

namespace storm {

inline std::chrono::nanoseconds seconds(double count)
{
	return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(count));
}

// A change that is made while all hosts wait for the event that tells of it
struct PushOptions {
	std::string command; // run by the shell; done when it has ended
	std::string socket;  // of a service, where a line is written; done when a line has come back
	std::string line;    // "{}" is the number of the round in it, as in the command
	unsigned times = 1;
	double timeout = 10; // s, for all hosts to have read

	bool wanted() const { return !command.empty() || !socket.empty(); }
};

struct Options {
	std::vector<std::string> addresses;
	unsigned hosts = 1;
	unsigned first = 0; // number of the first host
	std::string hostnqn = "nqn.2014-08.org.nvmexpress:uuid:{uuid}";
	std::string subsysnqn;
	unsigned threads = 1;
	bool startTogether = false; // connected over TCP before the instant
	bool headerDigest = false, dataDigest = false;
	bool persistent = false;
	std::uint32_t kato = 30000; // ms, of persistent hosts
	double hold = 0, ramp = 0;  // s
	double retry = 0;           // s, for which hosts go on trying
	double patience = 10;       // s, for an answer
	std::uint32_t piece = 1u << 20;
	bool same = false;
	std::string expect, save;
	int pid = 0; // of a service on this machine, whose memory and processor time are looked at
	PushOptions push;
	bool json = false;

	// Of the addresses, in their order
	std::vector<initiator::Endpoint> endpoints = {};
	std::vector<std::string> members = {}; // as rendezvous hashing has them

	bool keeps() const { return persistent || hold > 0 || push.wanted(); }
};

// Of host number @number: "{}" in the pattern is the number, "{uuid}" its host ID.
std::array<std::uint8_t, 16> hostidOf(unsigned number);
std::string hostnqnOf(const std::string &pattern, unsigned number);

// Nothing: go on. Else the status to end with: help was asked for, or something is wrong, and was said.
std::optional<int> parse(int argc, char **argv, Options &options);

} // namespace storm
