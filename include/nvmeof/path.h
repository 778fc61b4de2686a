// SPDX-License-Identifier: LGPL-2.1-or-later
// A path: one namespace through one controller.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <nvmeof/controller.h>
#include <nvmeof/histogram.h>

namespace nvmeof {

// Values of enum nvmeof_ana_state; NVMe Base 2.0, 8.20.3.
enum class AnaState : std::uint32_t {
	none = 0x0, // the controller does not report ANA
	optimized = 0x1,
	nonOptimized = 0x2,
	inaccessible = 0x3,
	persistentLoss = 0x4,
	change = 0xf,
};

const char *toString(AnaState state); // "none", "optimized", "non-optimized", ...; "unknown"

// Unsigned as in the kernel: the sum for 1000 concurrent requests over 100 days exceeds nanoseconds{}.
using LatencyTotal = std::chrono::duration<std::uint64_t, std::nano>;

struct Path {
	std::string name; // nvmeof0c1n1
	std::string nameSpace;
	std::string controller;
	std::uint32_t nsid = 0;
	ControllerState controllerState = ControllerState::created;
	AnaState anaState = AnaState::none;
	std::optional<std::uint32_t> anaGroup;
	std::optional<std::chrono::nanoseconds> anaSince; // CLOCK_BOOTTIME of the change to anaState
	bool usable = false;
	bool degraded = false;  // avoided: an outlier (see Subsystem::degrade), suspect, or on probation
	bool suspect = false;   // its controller does not answer, but is not lost yet
	bool probation = false; // its controller was lost repeatedly; gets only single requests
	bool p2p = false;       // supports PCI peer-to-peer memory
	bool nvfs = false;      // supports GPU memory mapped by nvidia-fs, if that is loaded
	std::uint32_t inflight = 0;
	std::uint64_t ios = 0; // completed
	std::uint64_t bytesRead = 0;
	std::uint64_t bytesWritten = 0;
	std::uint64_t errors = 0;        // completions with an error status
	std::uint64_t retries = 0;       // requests retried after they left this path
	std::uint64_t aborts = 0;        // Abort commands sent because of a timeout
	std::uint64_t failoversFrom = 0; // requests that failed over from this path
	std::uint64_t failoversTo = 0;   // requests that failed over to this path
	Histogram readLatency{};
	Histogram writeLatency{};
	LatencyTotal readLatencyTotal{0}; // sum of all latencies in the histogram
	LatencyTotal writeLatencyTotal{0};
	// Of its controller:
	std::uint32_t reconnects = 0;
	std::string lastError; // empty: none
	int lastErrno = 0;     // positive
	std::optional<std::uint16_t> lastStatus;
};

} // namespace nvmeof
