// SPDX-License-Identifier: LGPL-2.1-or-later
// A progress line on the terminal for long operations.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <nvmeof/client.h>

/*
 * Redrawn in place on stderr every 250 ms, and erased at the end. It appears after 500 ms, and only if stderr is a
 * terminal, so that logs have the result alone.
 */
class Progress {
public:
	// Returns the progress so far: "1 of 2 live". Called from the drawing thread, with a Client of its own.
	using Look = std::function<std::string(nvmeof::Client &client)>;

	Progress(std::string what, Look look);
	~Progress();
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

private:
	void draw(const std::stop_token &end);

	const std::string what_;
	const Look look_;
	std::mutex mutex_; // for the pauses of draw() only
	std::jthread drawer_;
};

// "connect: 1 of 2 live, 12 s"
std::string progressLine(const std::string &what, const std::string &soFar, std::chrono::seconds passed);
