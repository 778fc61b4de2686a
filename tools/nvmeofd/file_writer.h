// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes a file in a separate thread, one write at a time: the file may be on a disk that waits for a path, and only
 * the event loop that must not wait for the disk can bring that path back.
 */
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <utility>

#include <nvmeof/result.h>

namespace nvmeofd {

class FileWriter {
public:
	using Clock = std::chrono::steady_clock;
	// Owns its data: it may outlive this object.
	using Work = std::function<nvmeof::Result<void>()>;

	// @file: for messages
	explicit FileWriter(std::filesystem::path file) : file_(std::move(file)) {}

	// False: no thread is available. Only called while no write is running.
	bool begin(Work work);
	bool running() const { return writing_.valid(); }
	// Whether the running write has ended; waits until @deadline.
	bool ended(Clock::time_point deadline = {}) const;
	// The result of the write that has ended
	nvmeof::Result<void> take();
	// Number of consecutive failures
	unsigned failures() const { return failures_; }
	// Time until the next look at a running write, or until the next attempt; grows with each failure.
	std::chrono::milliseconds delay() const;

private:
	std::filesystem::path file_;
	std::future<nvmeof::Result<void>> writing_;
	unsigned failures_ = 0;
};

} // namespace nvmeofd
