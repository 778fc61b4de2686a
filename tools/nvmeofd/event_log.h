// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The latest events of the modules and the daemon, with wall-clock times, in a file that outlives the daemon, for
 * analysis after an outage. Each line is a JSON object as 'nvmeofctl events' prints it; see Documentation/json.md.
 */
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <nvmeof/event.h>
#include <nvmeof/result.h>

#include "file_writer.h"

namespace nvmeofd {

class EventLog {
public:
	// Limits of the kept events; the file has at most twice as much.
	static constexpr std::size_t max = 1000;           // lines
	static constexpr std::size_t maxBytes = 1 << 20;   // including line ends
	static constexpr std::size_t maxLineLength = 2048; // bytes; a longer line is stored without its texts

	// Continues with the readable lines of @file.
	explicit EventLog(std::filesystem::path file);

	// Adds an event of the modules, except those that report the initial state. Of consecutive connect failures
	// with the same reason, only the first, second, fourth, ... are kept, with their count.
	void add(const nvmeof::Event &event, std::chrono::system_clock::time_point now,
		 std::chrono::nanoseconds bootNow);
	// Adds an event of the daemon: "daemon_started", "daemon_ended", "daemon_reloaded"
	void add(std::string_view what, std::chrono::system_clock::time_point now);

	// Whether events are unwritten or being written.
	bool pending() const { return fresh_ > 0 || writer_.running(); }
	// Starts to write new events in a separate thread. Written events survive a power failure. Returns the error of
	// the previous write; the next call tries again with the newest events.
	nvmeof::Result<void> write();
	// Number of consecutive failures
	unsigned failedWrites() const { return writer_.failures(); }
	// Time until the next write() while events are pending; grows with each failure.
	std::chrono::milliseconds delay() const { return writer_.delay(); }
	// Writes, and waits at most @patience for the result.
	nvmeof::Result<void> writeAndWait(std::chrono::milliseconds patience);

	const std::deque<std::string> &lines() const { return lines_; }

private:
	struct Failures {
		std::string reason;
		std::uint64_t count = 0;
	};

	struct Batch {
		std::filesystem::path file;
		bool whole = false; // replaces the file
		std::string text;
		std::size_t lines = 0;
	};

	void keep(std::string line); // applies the limits
	void push(std::string line);
	Batch batch() const;
	static nvmeof::Result<void> store(const Batch &batch);
	void begin();
	nvmeof::Result<void> finish(); // collects the result of a completed write
	// Number of consecutive failures, including this one; 0: do not keep it
	std::uint64_t failures(const nvmeof::Event &event);

	std::filesystem::path file_;
	std::deque<std::string> lines_;
	std::size_t bytes_ = 0;        // of lines_, including line ends
	std::size_t fresh_ = 0;        // last lines that are neither in the file nor being written
	std::size_t written_ = 0;      // lines being written
	std::size_t bytesWritten_ = 0; // bytes being written
	FileWriter writer_;
	bool replacing_ = false;
	std::size_t inFile_ = 0; // lines in the file
	std::size_t bytesInFile_ = 0;
	bool whole_ = false;                       // the file has only complete lines of ours
	std::map<std::string, Failures> failures_; // by controller
};

} // namespace nvmeofd
