// SPDX-License-Identifier: LGPL-2.1-or-later
// A line on the terminal about what takes long, for as long as it takes.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <nvmeof/client.h>

/*
 * Written to stderr a few times a second, over itself, and wiped at the end. Not for the first half second, and not at
 * all where stderr is no terminal: logs have the result alone.
 */
class Progress {
public:
	// What has come of it so far: "1 of 2 live". Called from another thread, with a Client of its own.
	using Look = std::function<std::string(nvmeof::Client &client)>;

	Progress(std::string what, Look look);
	~Progress();
	Progress(const Progress &) = delete;
	Progress &operator=(const Progress &) = delete;

private:
	void draw(const std::stop_token &end);

	const std::string what_;
	const Look look_;
	std::mutex mutex_; // of the drawer's pauses alone
	std::jthread drawer_;
};

// "connect: 1 of 2 live, 12 s"
std::string progressLine(const std::string &what, const std::string &soFar, std::chrono::seconds passed);
