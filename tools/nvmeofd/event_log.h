// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The last events of the modules and of the daemon, with the time of day, in a file that outlives the daemon: for who
 * looks after an outage. A line of JSON each, as `nvmeofctl events` reads them; Documentation/json.md.
 */
#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <string>
#include <string_view>

#include <nvmeof/event.h>
#include <nvmeof/result.h>

namespace nvmeofd {

class EventLog {
public:
	// Limits of the events kept; the file has twice as much at most.
	static constexpr std::size_t most = 1000;         // lines
	static constexpr std::size_t mostBytes = 1 << 20; // with their ends
	static constexpr std::size_t longestLine = 2048;  // bytes; a longer one loses its texts

	// Goes on with what is in @file, as far as it can be read.
	explicit EventLog(std::filesystem::path file);

	// Of the modules. Not what was there at the beginning. Of attempts to connect that fail one after the other for
	// the same reason the first, second, fourth, ... is kept, with their number.
	void add(const nvmeof::Event &event, std::chrono::system_clock::time_point now,
		 std::chrono::nanoseconds bootNow);
	// Of the daemon: "daemon_started", "daemon_ended", "daemon_reloaded"
	void add(std::string_view what, std::chrono::system_clock::time_point now);

	// Something is new, or is being written.
	bool pending() const { return fresh_ > 0 || writing_.valid(); }
	// Begins to write what is new, on a thread of its own, for the file may be on a disk that waits for a path.
	// Written events outlive a power failure. An error is that of the write before: the next call tries again,
	// with what was new then.
	nvmeof::Result<void> write();
	// How many writes have failed in a row
	unsigned failedWrites() const { return failedWrites_; }
	// When to call write() again while something is pending: longer after each failure.
	std::chrono::milliseconds delay() const;
	// The same, with @patience for what was begun.
	nvmeof::Result<void> writeAndWait(std::chrono::milliseconds patience);

	const std::deque<std::string> &lines() const { return lines_; }

private:
	struct Failures {
		std::string reason;
		std::uint64_t count = 0;
	};

	struct Batch {
		std::filesystem::path file;
		bool whole = false; // takes the place of what is there
		std::string text;
		std::size_t lines = 0;
	};

	void keep(std::string line); // not more than is allowed
	void push(std::string line);
	Batch batch() const;
	static nvmeof::Result<void> store(const Batch &batch);
	void begin();
	nvmeof::Result<void> finish(); // a write that is over
	// How often in a row; 0: this one is not kept
	std::uint64_t failures(const nvmeof::Event &event);

	std::filesystem::path file_;
	std::deque<std::string> lines_;
	std::size_t bytes_ = 0;        // of these, with their ends
	std::size_t fresh_ = 0;        // of these that are neither in the file nor being written
	std::size_t written_ = 0;      // that are being written
	std::size_t bytesWritten_ = 0; // of them
	unsigned failedWrites_ = 0;
	std::future<nvmeof::Result<void>> writing_;
	bool replacing_ = false;
	std::size_t inFile_ = 0; // lines in the file
	std::size_t bytesInFile_ = 0;
	bool whole_ = false;                       // the file has lines of ours and nothing else
	std::map<std::string, Failures> failures_; // by controller
};

} // namespace nvmeofd
