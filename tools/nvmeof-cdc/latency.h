// SPDX-License-Identifier: LGPL-2.1-or-later
// Latencies, counted in the buckets of nvmeof::Histogram. Any thread may add.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include <nvmeof/histogram.h>

namespace cdc {

class Latency {
public:
	using Clock = std::chrono::steady_clock;

	struct Reading {
		nvmeof::Histogram histogram{};
		std::chrono::nanoseconds sum{0};
	};

	void add(Clock::duration took);
	Reading read() const;

private:
	std::array<std::atomic<std::uint64_t>, nvmeof::histogramBuckets> counts_{};
	std::atomic<std::uint64_t> sum_{0}; // ns
};

// Classes of commands. Asynchronous Event Requests are not counted: they complete with the event.
enum class Served : std::uint8_t { connect, getLogPage, registration, other };
constexpr std::size_t servedCount = 4;
const char *toString(Served command);

struct Latencies {
	// From the last byte of a command and its data until the socket has accepted the last byte of the response
	std::array<Latency, servedCount> commands;
	// From the first change of a publication, as reported by the store, until all workers have notified their hosts
	Latency publications;

	Latency &of(Served command) { return commands[static_cast<std::size_t>(command)]; }
};

} // namespace cdc
