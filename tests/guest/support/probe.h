// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the latency that an application sees: one verified I/O after another
#pragma once

#include "shell.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace guest {

// Writes a block, reads it back and compares, repeatedly, in a thread of its own.
class Probe {
public:
	struct Options {
		std::uint64_t offset = 0;
		std::size_t blockSize = 4096;
		unsigned blocks = 64;
		bool writes = true; // otherwise only reads, without verification
		Millis pause{0};    // after each round
	};

	explicit Probe(const std::string &disk);
	Probe(const std::string &disk, const Options &options);
	~Probe();
	Probe(const Probe &) = delete;
	Probe &operator=(const Probe &) = delete;

	std::uint64_t ios() const { return ios_; }
	int error() const { return error_; } // negative errno of the first failed I/O; -EILSEQ: wrong data
	// Longest latency since mark(), including the I/O in flight
	Millis longest() const;
	void mark();
	bool moves(Millis timeout = 5s) const; // waits for another I/O to complete
	void stop();

private:
	using Nanos = std::chrono::nanoseconds::rep;

	void work(const std::string &disk, const Options &options);
	template <class Io> bool timed(const Io &io);
	static Nanos now() { return Clock::now().time_since_epoch().count(); }

	std::atomic<std::uint64_t> ios_{0};
	std::atomic<int> error_{0};
	std::atomic<Nanos> begun_{0}; // start of the I/O in flight; 0: none
	std::atomic<Nanos> maxSize_{0};
	std::atomic<bool> stopping_{false};
	std::thread thread_;
};

} // namespace guest
