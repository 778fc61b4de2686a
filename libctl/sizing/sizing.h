// SPDX-License-Identifier: LGPL-2.1-or-later
// The sizing model: computes bandwidths, stripe widths, times and memory from a configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nofctl::sizing {

// Values are per host, unless noted otherwise
struct Demand {
	unsigned gpus = 8;
	unsigned cards = 8;
	double cardGigabits = 400;   // Gbit/s
	unsigned cardGeneration = 5; // PCI Express generation
	unsigned cardLanes = 16;
	bool rdma = true;
	unsigned targets = 4;        // storage enclosures (JBOFs)
	double targetGigabits = 800; // Gbit/s of each
	unsigned namespaces = 16;
	double readRate = 12e9, writeRate = 6e9; // bytes/s of one namespace
	unsigned paths = 2;                      // per subsystem, from this host
	double io = 1 << 20;                     // bytes per request
	double chunk = 128 << 10;                // stripe chunk, bytes
	unsigned depth = 128;                    // entries per queue
	unsigned queues = 16;                    // per controller
	unsigned agents = 32;                    // submitting agents per GPU
	double latency = 200e-6;                 // seconds per request
	double payload = 256;                    // MaxPayload, bytes
	double parameters = 0;                   // of a model that writes checkpoints; 0: none
	double window = 900;                     // seconds for one checkpoint
	unsigned hosts = 1;                      // hosts that share targets and checkpoint
	double targetConnects = 0;               // connections a second that a target accepts; 0: unknown
};

enum class Verdict { none, enough, insufficient };

struct Line {
	std::string group, name;
	double value = 0;
	std::string unit;    // "B/s", "B", "s", "", "%"
	std::string formula; // in words
	std::string source;  // of the constants used; empty: inputs only
	Verdict verdict = Verdict::none;
	bool emulated = false; // uses a constant that was measured in an emulator
};

struct Stage {
	std::string name;
	double read = 0, write = 0; // bytes/s
};

struct Sizing {
	std::vector<Stage> stages; // per host, from the drives to the GPUs
	std::size_t narrowest = 0; // index of the narrowest stage for writes
	std::vector<Line> lines;
};

Sizing size(const Demand &demand);

// Actual values of a machine; unknown ones are not set.
struct Live {
	std::optional<unsigned> gpus, cards, namespaces, targets;
	std::optional<double> cardGigabits; // slowest card
	std::optional<unsigned> minPaths;   // usable paths of a namespace
	std::optional<unsigned> minDepth, minQueues;
	std::optional<unsigned> stripeWidth; // widest stripe
};

struct Shortage {
	std::string what;
	double wanted = 0;
	std::optional<double> there;
	bool enough = false;
	std::string step; // advice; empty: none
};

std::vector<Shortage> compare(const Demand &demand, const Live &live);
bool anyShort(const std::vector<Shortage> &shortages);

// "400 GB/s (3.20 Tb/s)", "14 TB", "15.0 min", "94.6 %". Bits per second are shown from 1 Tb/s on.
std::string formatValue(double value, const std::string &unit);

// A constant of the model, with its source.
struct Constant {
	const char *name;
	double value;
	const char *unit;
	const char *source;
	bool emulated = false; // measured in a guest that QEMU emulates without KVM
};

std::span<const Constant> constants();
// Aborts if there is no constant of that name.
const Constant &constant(std::string_view name);

// PCI Express: GT/s per lane, and bytes per second after encoding; 0 for an unknown generation
double laneGigatransfers(unsigned generation);
double laneBytesPerSecond(unsigned generation);

/*
 * Fraction of PCI Express traffic that is data, for a command of @bytes bytes. The rest is the submission queue entry,
 * the completion queue entry, two doorbells, and the overhead of each TLP; data moves in TLPs of @payload bytes. With
 * all data in one TLP (@payload >= @bytes), this is the model behind the published 94.6 % at 4 KiB and 68.8 % at 512
 * bytes.
 */
double expressEfficiency(double bytes, double payload);

} // namespace nofctl::sizing
