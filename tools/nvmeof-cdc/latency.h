// SPDX-License-Identifier: LGPL-2.1-or-later
// Times that something takes, counted by any thread in the classes of nvmeof::Histogram.
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

// Commands that are told apart. Asynchronous Event Requests are not counted: they complete with the event.
enum class Served : std::uint8_t { connect, getLogPage, registration, other };
constexpr std::size_t served_count = 4;
const char *toString(Served command);

struct Latencies {
	// Time from the last byte of a command and its data until the socket has taken the last byte of the answer
	std::array<Latency, served_count> commands;
	// Time from the first change in a publication, as the store tells it, until all workers have told their hosts
	Latency publications;

	Latency &of(Served command) { return commands[static_cast<std::size_t>(command)]; }
};

} // namespace cdc
