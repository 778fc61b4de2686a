// SPDX-License-Identifier: LGPL-2.1-or-later
// From what there is, or is wanted, to bandwidths, widths, times and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nofctl::sizing {

// Of one host, unless it says otherwise
struct Demand {
	unsigned gpus = 8;
	unsigned cards = 8;
	double cardGigabits = 400;   // a second
	unsigned cardGeneration = 5; // of PCI Express
	unsigned cardLanes = 16;
	bool rdma = true;
	unsigned targets = 4;        // JBOFs
	double targetGigabits = 800; // a second, of one
	unsigned namespaces = 16;
	double readRate = 12e9, writeRate = 6e9; // bytes a second of one namespace
	unsigned paths = 2;                      // of each subsystem, from this host
	double io = 1 << 20;                     // bytes of a request
	double chunk = 128 << 10;                // of the stripe
	unsigned depth = 128;                    // entries of a queue
	unsigned queues = 16;                    // of a controller
	unsigned agents = 32;                    // of each GPU, that submit by themselves
	double latency = 200e-6;                 // seconds of a request
	double payload = 256;                    // MaxPayload
	double parameters = 0;                   // of a model whose state is written; 0: none
	double window = 900;                     // seconds that it may take
	unsigned hosts = 1;                      // that share the targets, and the state
};

enum class Verdict { none, enough, short_ };

struct Line {
	std::string group, name;
	double value = 0;
	std::string unit;    // "B/s", "B", "s", "", "%"
	std::string formula; // in words
	std::string source;  // of the constants in it; empty: only what was given
	Verdict verdict = Verdict::none;
};

struct Stage {
	std::string name;
	double read = 0, write = 0; // bytes a second
};

struct Sizing {
	std::vector<Stage> stages; // of one host, from the drives on
	std::size_t narrowest = 0; // of them, for writes
	std::vector<Line> lines;
};

Sizing size(const Demand &demand);

// What is on a machine; what is not known is not set.
struct Live {
	std::optional<unsigned> gpus, cards, namespaces, targets;
	std::optional<double> cardGigabits; // the slowest
	std::optional<unsigned> leastPaths; // usable ones of a namespace
	std::optional<unsigned> leastDepth, leastQueues;
	std::optional<unsigned> stripeWidth; // the widest
};

struct Shortage {
	std::string what;
	double wanted = 0;
	std::optional<double> there;
	bool enough = false;
	std::string step; // empty: none
};

std::vector<Shortage> compare(const Demand &demand, const Live &live);

// "3.2 TB/s", "14 TB", "15.0 min", "94.6 %"
std::string formatValue(double value, const std::string &unit);

} // namespace nofctl::sizing
